# Shared by the scripts of this folder; to be sourced. Sets here, libs and the function java_run.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${WGATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wgate}
libs=$cache/kafka

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# fetch_jars puts the jars that pom.xml names into $libs, once for each state of pom.xml. Scripts that start at the same
# time wait for one another.
fetch_jars() {
  mkdir -p "$cache"
  exec 8> "$cache/kafka.lock"
  flock 8
  if ! cmp -s "$here/pom.xml" "$libs/.pom.xml"; then
    command -v mvn > /dev/null || die "needs Maven to fetch Kafka's jars"
    echo "$(basename "$0"): fetching Kafka's jars into $libs" >&2
    rm -rf "$libs"
    mkdir -p "$libs"
    mvn -B -q -f "$here/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DoutputDirectory="$libs" -DincludeScope=runtime >&2
    cp "$here/pom.xml" "$libs/.pom.xml"
  fi
  exec 8>&-
}

# java_run HEAP CLASS ARGS... replaces the shell by a JVM.
java_run() {
  local heap=$1
  shift
  exec java -Xms"$heap" -Xmx"$heap" -XX:+UseSerialGC -XX:TieredStopAtLevel=${KAFKA_TIER:-4} -Djava.net.preferIPv4Stack=true \
    -Djava.awt.headless=true -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -Dorg.slf4j.simpleLogger.showDateTime=true \
    -Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info \
    -Dorg.slf4j.simpleLogger.log.kafka.coordinator.transaction.TransactionMarkerChannelManager=info -cp "$libs/*" "$@"
}

# is_kafka PID reports whether the process is a broker of ours: a pid may have been given to another process meanwhile.
is_kafka() {
  [ -n "${1:-}" ] && tr '\0' ' ' < "/proc/$1/cmdline" 2> /dev/null | grep -q ' kafka\.Kafka '
}
