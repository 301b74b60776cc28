// Package broker is the embedded Kafka broker: franz-go's kfake behind a small door. It speaks the Kafka protocol to any
// client on its address, with consumer groups and transactions. It is one node without replication: for development, for
// demonstrations and for tests. In memory it forgets everything when it ends; with a data folder it keeps everything,
// but a broker that is killed may tear the transaction that is open then, which is why `wgate broker` is a process of its
// own that outlives the pipelines' processes.
package broker
