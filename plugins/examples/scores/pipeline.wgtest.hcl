# What the pipeline does in time, without a broker: `wgate test plugins/examples/scores` after `make guests`.

pipeline = "pipeline.hcl"

scenario "a late event refines the window of its team" {
  event "events" {
    time  = "12:00:30"
    value = { team = "red", user = "ann", points = 5, kind = "score" }
  }
  event "events" {
    time  = "12:01:00"
    value = { team = "red", user = "ann", kind = "ping" }
  }
  event "events" {
    time  = "12:01:30"
    value = { team = "blue", user = "bob", points = 4, kind = "bonus" }
  }
  watermark "events" { at = "12:02:00" }
  expect "aggregate.sums" {
    key    = "red"
    value  = { total = 5, n = 1 }
    window = ["12:00", "12:02"]
    pane   = { timing = "on_time", index = 0, last = false }
  }
  # A bonus counts twice: the plugin's config says so.
  expect "aggregate.sums" {
    key    = "blue"
    value  = { total = 8, n = 1 }
    window = ["12:00", "12:02"]
  }
  event "events" {
    time  = "12:00:40"
    value = { team = "red", user = "cat", points = 2, kind = "score" }
  }
  expect "sink.out" {
    key   = "red"
    value = { total = 5, n = 1 }
  }
  expect "sink.out" {
    key   = "blue"
    value = { total = 8, n = 1 }
  }
  expect "sink.out" {
    key   = "red"
    value = { total = 7, n = 2 }
    pane  = { timing = "late", index = 1 }
  }
  expect "aggregate.sums" { value = { total = 7, n = 2 } }
}

# event_time and the watermark of the pipeline itself: 10 s of disorder.
scenario "the window closes ten seconds and two minutes after its end" {
  watermarks = "pipeline"
  date       = "2025-06-01"
  clock { at = "12:05:00" }
  event "events" { value = { team = "red", user = "ann", points = 1, kind = "score", ts = 1748779200000 } }
  event "events" { value = { team = "red", user = "ann", points = 1, kind = "score", ts = 1748779329999 } }
  expect_none "aggregate.sums" {}
  event "events" { value = { team = "red", user = "ann", points = 1, kind = "score", ts = 1748779330000 } }
  expect "aggregate.sums" {
    value  = { total = 1, n = 1 }
    window = ["12:00", "12:02"]
  }
  event "events" { value = { team = "red", user = "ann", points = 1, kind = "score", ts = 1748779450000 } }
  event "events" { value = { team = "red", user = "ann", points = 1, kind = "score", ts = 1748779210000 } }
  expect "aggregate.sums" {
    value  = { total = 2, n = 2 }
    window = ["12:02", "12:04"]
  }
  expect "aggregate.sums.late" {
    key    = "red"
    window = ["12:00", "12:02"]
  }
}

scenario "what the plugin did survives a crash once" {
  event "events" {
    time  = "12:00:30"
    value = { team = "red", user = "ann", points = 5, kind = "score" }
  }
  commit {}
  event "events" {
    time  = "12:00:40"
    value = { team = "red", user = "ann", points = 1, kind = "score" }
  }
  crash {}
  finish {}
  expect "aggregate.sums" {
    key   = "red"
    value = { total = 6, n = 2 }
  }
}
