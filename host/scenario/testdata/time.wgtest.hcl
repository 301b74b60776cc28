# Partitions, idle ones, and watermarks that the source makes itself.

pipeline "clicks" {}

broker "main" {}

source "clicks" {
  kafka {
    broker = broker.main
    topic  = "clicks"
  }
  event_time = value.at
  watermark {
    out_of_order = "5s"
    idle         = "30s"
    max_future   = "1h"
  }
}

source "pings" {
  kafka {
    broker = broker.main
    topic  = "pings"
  }
  event_time = arrival()
}

aggregate "per_minute" {
  input = source.clicks
  window "fixed" { size = "1m" }
  compute = { n = count() }
}

aggregate "pulse" {
  input = source.pings
  window "fixed" { size = "10s" }
  trigger = after_watermark({ early = after_delay("3s") })
  compute = { n = count() }
}

scenario "a silent partition holds the window open until it is idle" {
  event "clicks" {
    time      = "09:00:10"
    partition = 0
    value     = {}
  }
  watermark "clicks" {
    at        = "09:05:00"
    partition = 0
  }
  expect_none "aggregate.per_minute" {}
  idle "clicks" { partition = 1 }
  expect "aggregate.per_minute" {
    value  = { n = 1 }
    window = ["09:00", "09:01"]
  }
  # It comes back: its record counts at once, and the watermark does not go back for it.
  event "clicks" {
    time      = "09:00:20"
    partition = 1
    value     = {}
  }
  expect "aggregate.per_minute.late" { window = ["09:00", "09:01"] }
  watermark "clicks" {
    at        = "09:30:00"
    partition = 0
  }
  event "clicks" {
    time      = "09:06:00"
    partition = 0
    value     = {}
  }
  expect_none "aggregate.per_minute" {}
  watermark "clicks" {
    at        = "09:07:00"
    partition = 1
  }
  expect "aggregate.per_minute" { window = ["09:06", "09:07"] }
}

scenario "the source makes the watermark from its events" {
  date       = "1970-01-01"
  watermarks = "pipeline"
  event "clicks" { value = { at = 10000 } }
  event "clicks" { value = { at = 64999 } }
  expect_none "aggregate.per_minute" {}
  event "clicks" { value = { at = 65000 } }
  expect "aggregate.per_minute" {
    value  = { n = 1 }
    window = ["00:00", "00:01"]
  }
}

scenario "a record from the far future moves no watermark" {
  date       = "1970-01-01"
  watermarks = "pipeline"
  event "clicks" { value = { at = 10000 } }
  event "clicks" { value = { at = 3600001 } }
  expect_none "aggregate.per_minute" {}
  event "clicks" { value = { at = 3600000 } }
  expect "aggregate.per_minute" { window = ["00:00", "00:01"] }
}

scenario "an idle partition by the clock" {
  date       = "1970-01-01"
  watermarks = "pipeline"
  event "clicks" {
    partition = 1
    value     = { at = 10000 }
  }
  event "clicks" {
    partition = 0
    value     = { at = 120000 }
  }
  clock { at = "00:00:20" }
  event "clicks" {
    partition = 0
    value     = { at = 121000 }
  }
  clock { at = "00:00:29.999" }
  expect_none "aggregate.per_minute" {}
  clock { at = "00:00:30" }
  expect "aggregate.per_minute" { window = ["00:00", "00:01"] }
}

# Between two clock steps things happen in the order of their times: the delay of 3 s, then the window's end at 10 s, and
# so once more.
scenario "a long clock step goes by what is due" {
  watermarks = "pipeline"
  clock { at = "08:00:01" }
  event "pings" { value = null }
  clock { at = "08:00:09" }
  event "pings" { value = null }
  expect "aggregate.pulse" {
    value = { n = 1 }
    pane  = { index = 0, timing = "early" }
  }
  clock { at = "12:00:00" }
  expect "aggregate.pulse" {
    value  = { n = 2 }
    window = ["08:00:00", "08:00:10"]
    pane   = { index = 1, timing = "on_time", last = true }
  }
}

scenario "a time before 1970 and a time of -1" {
  event "clicks" {
    time  = -1
    value = {}
  }
  event "clicks" {
    time  = "1969-12-31T23:58:59.999Z"
    value = {}
  }
  finish {}
  expect "aggregate.per_minute" { window = ["1969-12-31T23:58:00Z", "1969-12-31T23:59:00Z"] }
  expect "aggregate.per_minute" { window = [-60000, 0] }
}
