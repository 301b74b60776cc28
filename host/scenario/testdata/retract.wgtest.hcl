# Results that are taken back: by sinks, by transforms, by a second aggregate.

pipeline "game" {}

source "plays" {
  kafka { topic = "plays" }
}

aggregate "score" {
  input = source.plays
  key   = value.user
  trigger = repeat(after_count(1))
  panes   = "retracting"
  compute = { points = sum(value.points) }
}

transform "good" {
  input = aggregate.score
  where = value.points >= 10
  set   = { class = value.points >= 100 ? "gold" : "silver" }
}

aggregate "classes" {
  input = transform.good
  key   = value.class
  trigger = repeat(after_count(1))
  panes   = "retracting"
  compute = { users = count(), points = sum(value.points), mean = mean(value.points) }
}

aggregate "total" {
  input   = aggregate.score
  compute = { users = count(), points = sum(value.points), all = all(value.points > 0) }
}

aggregate "sessions" {
  input = source.plays
  key   = value.user
  window "session" { gap = "1m" }
  trigger = repeat(after_count(1))
  panes   = "retracting"
  compute = { n = count() }
}

aggregate "visits" {
  input = source.plays
  key   = value.user
  window "session" { gap = "1m" }
  trigger          = after_watermark({ early = every("1m"), late = after_count(1) })
  panes            = "retracting"
  allowed_lateness = "1h"
  compute          = { n = count() }
}

aggregate "minutes" {
  input = aggregate.visits
  window "fixed" { size = "1m" }
  compute = { visits = count(), plays = sum(value.n) }
}

sink "board" {
  input = transform.good
  kafka {
    topic = "board"
    create { cleanup = "compact" }
  }
  changes = "upsert"
}

sink "classes" {
  input = aggregate.classes
  kafka {
    topic = "classes"
    create { cleanup = "compact" }
  }
  changes = "upsert"
}

sink "changes" {
  input = aggregate.classes
  kafka { topic = "changes" }
  changes = "retract"
}

sink "sessions" {
  input = aggregate.sessions
  kafka { topic = "sessions" }
  changes = "upsert"
}

scenario "a second aggregate follows every change" {
  event "plays" { value = { user = "ann", points = 20 } }
  expect "aggregate.classes" {
    key   = "silver"
    value = { users = 1, points = 20, mean = 20 }
  }
  event "plays" { value = { user = "bob", points = 10.50 } }
  restart {} # what is in a group is part of the state
  expect "aggregate.classes" {
    key     = "silver"
    value   = { users = 1, points = 20, mean = 20 }
    retract = true
  }
  expect "aggregate.classes" {
    key     = "silver"
    value   = { users = 2, points = 30.5, mean = 15.25 }
    retract = false
  }
  # Ann goes from silver to gold.
  event "plays" { value = { user = "ann", points = 80 } }
  expect "aggregate.classes" {
    key     = "silver"
    value   = { users = 2, points = 30.5, mean = 15.25 }
    retract = true
  }
  expect "aggregate.classes" {
    key     = "silver"
    value   = { users = 1, points = 10.5, mean = 10.5 }
    retract = false
  }
  expect "aggregate.classes" {
    key   = "gold"
    value = { users = 1, points = 100, mean = 100 }
  }
  # Bob falls out of silver: nobody is left in it, so that its row is taken back and none follows.
  event "plays" { value = { user = "bob", points = -10 } }
  expect "aggregate.classes" {
    key     = "silver"
    value   = { users = 1, points = 10.5, mean = 10.5 }
    retract = true
  }
}

scenario "a group that is empty for a while" {
  event "plays" { value = { user = "ann", points = 20 } }
  event "plays" { value = { user = "ann", points = -20 } }
  event "plays" { value = { user = "ann", points = 30 } }
  finish {}
  expect "aggregate.classes" {
    value = { users = 1, points = 20, mean = 20 }
    pane  = { index = 0 }
  }
  expect "aggregate.classes" {
    value   = { users = 1, points = 20, mean = 20 }
    pane    = { index = 0 }
    retract = true
  }
  expect "aggregate.classes" {
    value   = { users = 1, points = 30, mean = 30 }
    pane    = { index = 1 }
    retract = false
  }
  expect "aggregate.total" { value = { users = 1, points = 30, all = true } }
  # The upsert has a tombstone in between, the other sink each change.
  expect "sink.classes" { value = { users = 1, points = 20, mean = 20 } }
  expect "sink.classes" { value = null }
  expect "sink.classes" { value = { users = 1, points = 30, mean = 30 } }
  expect "sink.changes" { retract = false }
  expect "sink.changes" {
    value   = { users = 1, points = 20, mean = 20 }
    retract = true
  }
  expect "sink.changes" { retract = false }
}

scenario "an upsert replaces a row in one step" {
  event "plays" { value = { user = "ann", points = 20 } }
  event "plays" { value = { user = "ann", points = 20 } }
  event "plays" { value = { user = "ann", points = -35 } }
  event "plays" { value = { user = "bob", points = 1 } }
  expect "sink.board" {
    key   = "ann"
    value = { points = 20, class = "silver" }
  }
  expect "sink.board" {
    key   = "ann"
    value = { points = 40, class = "silver" }
  }
  expect "sink.board" {
    key   = "ann"
    value = null
  }
}

# The rows of both sessions go, each under the key that it had.
scenario "sessions that merge" {
  event "plays" {
    time  = "12:00:00"
    value = { user = "ann", points = 1 }
  }
  event "plays" {
    time  = "12:01:30"
    value = { user = "ann", points = 1 }
  }
  expect "sink.sessions" {
    key   = ["ann", 1767268800000, 1767268860000]
    value = { n = 1 }
  }
  expect "sink.sessions" {
    key   = ["ann", 1767268890000, 1767268950000]
    value = { n = 1 }
  }
  event "plays" {
    time  = "12:00:45"
    value = { user = "ann", points = 1 }
  }
  expect "sink.sessions" {
    key   = ["ann", 1767268800000, 1767268860000]
    value = null
  }
  expect "sink.sessions" {
    key   = ["ann", 1767268890000, 1767268950000]
    value = null
  }
  expect "sink.sessions" {
    key   = ["ann", 1767268800000, 1767268950000]
    value = { n = 3 }
  }
}

# The first row of a visit lies in the minute from 12:00. The visit grows, its result will lie in the next minute, and the
# row is taken back when that is due: until then the minute must not close, though the source's watermark has passed it.
scenario "a visit that grows leaves its minute in time" {
  event "plays" {
    time  = "12:00:00"
    value = { user = "ann" }
  }
  clock { at = "00:01:00" }
  expect "aggregate.visits" { window = ["12:00:00", "12:01:00"] }
  event "plays" {
    time  = "12:00:50"
    value = { user = "ann" }
  }
  event "plays" {
    time  = "12:00:10"
    value = { user = "bob" }
  }
  restart {}
  watermark "plays" { at = "12:01:20" }
  expect "aggregate.visits" {
    key    = "bob"
    window = ["12:00:10", "12:01:10"]
    pane   = { timing = "on_time" }
  }
  expect_none "aggregate.minutes" {}
  restart {}
  watermark "plays" { at = "12:01:49.999" }
  expect_none "aggregate.minutes" {}
  watermark "plays" { at = "12:02:00" }
  expect "aggregate.visits" {
    key     = "ann"
    window  = ["12:00:00", "12:01:00"]
    retract = true
  }
  expect "aggregate.visits" {
    key    = "ann"
    value  = { n = 2 }
    window = ["12:00:00", "12:01:50"]
    pane   = { timing = "on_time" }
  }
  expect "aggregate.minutes" {
    value  = { visits = 2, plays = 3 }
    window = ["12:01", "12:02"]
  }
}
