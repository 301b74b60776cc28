# Workload C of the peer baseline: events above 50, with two more fields.

pipeline "bench-c" {}

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
}

transform "big" {
  input = source.events
  where = value.amount > 50
  set = {
    band  = value.amount > 90 ? "high" : value.amount > 70 ? "mid" : "low"
    cents = to_int(round(value.amount * 100))
  }
}

sink "out" {
  input = transform.big
  kafka {
    broker = broker.main
    topic  = var.out
  }
}
