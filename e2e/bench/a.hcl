# Workload A of the peer baseline: for every user and minute the number of events and the sum of their amounts, given once,
# ten seconds of event time after the minute.

pipeline "bench-a" {}

variable "bootstrap" { default = "127.0.0.1:9092" }
variable "in" { default = "events" }
variable "out" { default = "results" }

broker "main" { addresses = [var.bootstrap] }

source "events" {
  kafka {
    broker = broker.main
    topic  = var.in
    start  = "earliest"
  }
  event_time = value.ts
  watermark { out_of_order = "10s" }
}

aggregate "sums" {
  input = source.events
  key   = value.user
  window "fixed" { size = "1m" }
  late = "drop"
  compute = {
    n   = count()
    sum = sum(value.amount)
  }
}

sink "out" {
  input = aggregate.sums
  kafka {
    broker = broker.main
    topic  = var.out
  }
  value = { user = key, start = window.start, end = window.end, count = value.n, sum = value.sum }
}
