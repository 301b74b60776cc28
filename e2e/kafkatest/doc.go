// Package kafkatest starts a real Apache Kafka for tests, from Maven jars, by the scripts in e2e/kafka.
package kafkatest
