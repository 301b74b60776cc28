# What survives the end of a task: everything that was committed, once.

pipeline "orders" {}

source "orders" {
  kafka { topic = "orders" }
}

aggregate "spent" {
  input = source.orders
  key   = value.user
  window "fixed" { size = "1m" }
  trigger          = after_watermark({ early = after_count(3), late = after_count(1) })
  allowed_lateness = "1h"
  compute          = { total = sum(value.amount), n = count() }
}

sink "out" {
  input = aggregate.spent
  kafka { topic = "spent" }
}

scenario "a stop in good order loses nothing" {
  event "orders" {
    time  = "10:00:10"
    value = { user = "ann", amount = 2.50 }
  }
  restart {}
  event "orders" {
    time  = "10:00:20"
    value = { user = "ann", amount = 1.25 }
  }
  expect_none "aggregate.spent" {}
  restart {}
  # The trigger's count is part of the state, too.
  event "orders" {
    time  = "10:00:30"
    value = { user = "ann", amount = 0.25 }
  }
  expect "aggregate.spent" {
    key    = "ann"
    value  = { total = 4, n = 3 }
    window = ["10:00", "10:01"]
    pane   = { index = 0, timing = "early" }
  }
}

scenario "a restart does not send again" {
  event "orders" {
    time  = "10:00:10"
    value = { user = "ann", amount = 1 }
  }
  watermark "orders" { at = "10:01:00" }
  expect "sink.out" {
    key   = "ann"
    value = { total = 1, n = 1 }
  }
  restart {}
  expect_none "sink.out" {}
  # The watermark was committed: an event behind it makes a late pane, and is not on time once more.
  event "orders" {
    time  = "10:00:50"
    value = { user = "ann", amount = 1 }
  }
  expect "aggregate.spent" { pane = { index = 0, timing = "on_time" } }
  expect "aggregate.spent" { pane = { index = 1, timing = "late" } }
  expect "sink.out" { value = { total = 2, n = 2 } }
}

scenario "after a crash what was not committed is read again" {
  event "orders" {
    time  = "10:00:10"
    value = { user = "ann", amount = 1 }
  }
  commit {}
  event "orders" {
    time  = "10:00:20"
    value = { user = "ann", amount = 10 }
  }
  event "orders" {
    time  = "10:00:30"
    value = { user = "bob", amount = 100 }
  }
  crash {}
  crash {}
  watermark "orders" { at = "10:01:00" }
  expect "aggregate.spent" {
    key   = "ann"
    value = { total = 11, n = 2 }
  }
  expect "aggregate.spent" {
    key   = "bob"
    value = { total = 100, n = 1 }
  }
}

scenario "a crash before the first commit" {
  event "orders" {
    time  = "10:00:10"
    value = { user = "ann", amount = 1 }
  }
  watermark "orders" { at = "10:01:00" }
  crash {}
  # The pane was lost with the epoch, and came again.
  expect "aggregate.spent" {
    value = { total = 1, n = 1 }
    pane  = { index = 0, timing = "on_time" }
  }
  commit {}
  crash {}
  expect_none "aggregate.spent" {}
}

scenario "rows that were expected come again if they were not committed" {
  event "orders" {
    time  = "10:00:10"
    value = { user = "ann", amount = 1 }
  }
  commit {}
  watermark "orders" { at = "10:01:00" }
  expect "sink.out" { value = { total = 1, n = 1 } }
  crash {}
  expect "sink.out" { value = { total = 1, n = 1 } }
}

scenario "the order of records and watermarks stays through a crash" {
  event "orders" {
    time  = "10:00:10"
    value = { user = "ann", amount = 1 }
  }
  watermark "orders" { at = "11:01:00" }
  event "orders" {
    time  = "10:00:20"
    value = { user = "ann", amount = 1 }
  }
  crash {}
  expect "aggregate.spent" {
    value = { total = 1, n = 1 }
    pane  = { timing = "on_time", last = true }
  }
  expect "aggregate.spent.late" {
    key    = "ann"
    value  = { user = "ann", amount = 1 }
    time   = "10:00:20"
    window = ["10:00", "10:01"]
  }
}

scenario "the end of the input and a crash" {
  event "orders" {
    time  = "10:00:10"
    value = { user = "ann", amount = 1 }
  }
  commit {}
  finish {}
  crash {}
  expect "aggregate.spent" {
    value = { total = 1, n = 1 }
    pane  = { timing = "on_time", last = true }
  }
  restart {}
  expect_none "aggregate.spent" {}
}
