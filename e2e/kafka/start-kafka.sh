#!/bin/bash
# start-kafka.sh DIR PORT
# Starts one Apache Kafka 4 node (KRaft: broker and controller in one JVM) on 127.0.0.1 and returns when it serves; prints
# its process id. DIR holds its data, log (broker.log; earlier.log of earlier starts) and pid; started again on the same DIR, it goes on with its data.
# End it with stop-kafka.sh DIR, or with kill -9 to see what happens.
#
#   PORT      plaintext          PORT+1    controller
# and with KAFKA_SECURE=1, for user and password from KAFKA_USER and KAFKA_PASSWORD (PLAIN, SCRAM-SHA-256 and -512):
#   PORT+2    TLS and SASL       PORT+3    TLS       PORT+4    SASL without TLS; DIR/ca.pem is the certificate to trust
#
# Other settings: KAFKA_HEAP (512m), KAFKA_TIER (1: quicker start, slower later), KAFKA_CONF (more lines for
# server.properties), WGATE_CACHE (where the jars are kept; ~/.cache/wgate).
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: start-kafka.sh DIR PORT" >&2; exit 2; }
. "$(dirname "$0")/lib.sh"
command -v java > /dev/null || die "needs Java"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
port=$2
secure=${KAFKA_SECURE:-}
last=$((port + 1))
[ -z "$secure" ] || last=$((port + 4))

if is_kafka "$(cat "$dir/pid" 2> /dev/null || true)"; then die "a broker runs on $dir already"; fi
for p in $(seq "$port" "$last"); do
  if (exec 3<> "/dev/tcp/127.0.0.1/$p") 2> /dev/null; then die "port $p is taken"; fi
done
fetch_jars

listeners=PLAINTEXT://127.0.0.1:$port
protocols=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
format_args=()
extra=
if [ -n "$secure" ]; then
  user=${KAFKA_USER:-wgate} password=${KAFKA_PASSWORD:-secret}
  if [ ! -e "$dir/server.p12" ]; then
    keytool -genkeypair -alias kafka -keyalg EC -groupname secp256r1 -validity 30 -dname CN=localhost \
      -ext san=dns:localhost,ip:127.0.0.1 -ext bc=ca:true -storetype PKCS12 -storepass changeit -keystore "$dir/server.p12" 2> "$dir/keytool.log" ||
      { cat "$dir/keytool.log" >&2; exit 1; }
    keytool -exportcert -rfc -alias kafka -storepass changeit -keystore "$dir/server.p12" > "$dir/ca.pem" 2>> "$dir/keytool.log"
  fi
  listeners=$listeners,SASL_SSL://127.0.0.1:$((port + 2)),SSL://127.0.0.1:$((port + 3)),SASL_PLAINTEXT://127.0.0.1:$((port + 4))
  protocols=$protocols,SASL_SSL:SASL_SSL,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
  plain="org.apache.kafka.common.security.plain.PlainLoginModule required user_$user=\"$password\";"
  scram="org.apache.kafka.common.security.scram.ScramLoginModule required;"
  extra="ssl.keystore.type=PKCS12
ssl.keystore.location=$dir/server.p12
ssl.keystore.password=changeit
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config=$plain
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=$scram
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=$scram
listener.name.sasl_plaintext.plain.sasl.jaas.config=$plain
listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=$scram
listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config=$scram"
  format_args=(--add-scram "SCRAM-SHA-256=[name=$user,password=$password]" --add-scram "SCRAM-SHA-512=[name=$user,password=$password]")
fi

cat > "$dir/server.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=$listeners,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=$listeners
listener.security.protocol.map=$protocols
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=$dir/data
auto.create.topics.enable=false
log.retention.ms=-1
num.partitions=4
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=4
$extra
${KAFKA_CONF:-}
P

if [ ! -e "$dir/data/meta.properties" ]; then
  (java_run 128m kafka.tools.StorageTool format -t wgateE2EwgateE2Ewgat0A -c "$dir/server.properties" "${format_args[@]}") > "$dir/format.log" 2>&1 ||
    { cat "$dir/format.log" >&2; exit 1; }
fi
[ ! -e "$dir/broker.log" ] || cat "$dir/broker.log" >> "$dir/earlier.log"
: > "$dir/broker.log"
(java_run "${KAFKA_HEAP:-512m}" kafka.Kafka "$dir/server.properties") >> "$dir/broker.log" 2>&1 < /dev/null &
pid=$!
echo "$pid" > "$dir/pid"
for _ in $(seq 1 900); do
  if ! kill -0 "$pid" 2> /dev/null; then
    tail -30 "$dir/broker.log" >&2
    die "the broker ended"
  fi
  if grep -q 'Kafka Server started' "$dir/broker.log" && (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
    echo "$pid"
    exit 0
  fi
  sleep 0.1
done
tail -30 "$dir/broker.log" >&2
kill -9 "$pid"
die "the broker is not ready after 90 s"
