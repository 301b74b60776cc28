#!/bin/bash
# stop-kafka.sh DIR: ends the broker that start-kafka.sh started on DIR; its data stays.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: stop-kafka.sh DIR" >&2; exit 2; }
. "$(dirname "$0")/lib.sh"
pid=$(cat "$1/pid" 2> /dev/null || true)
is_kafka "$pid" || exit 0
kill "$pid"
for _ in $(seq 1 150); do
  is_kafka "$pid" || { rm -f "$1/pid"; exit 0; }
  sleep 0.1
done
kill -9 "$pid"
rm -f "$1/pid"
