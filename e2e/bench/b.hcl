# Workload B of the peer baseline: the sessions of every user, which end after 30 seconds without an event, and how many
# events they have.

pipeline "bench-b" {}

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
  window "session" { gap = "30s" }
  late = "drop"
  compute = {
    n = count()
  }
}

sink "out" {
  input = aggregate.sums
  kafka {
    broker = broker.main
    topic  = var.out
  }
  value = { user = key, start = window.start, end = window.end, count = value.n }
}
