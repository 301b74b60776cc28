# Points of the teams of a game, for every two minutes of event time. `wgate quickstart` runs this pipeline.

pipeline "team-scores" {}

# No broker block: the embedded broker. For a real one, add
#   broker "main" { addresses = ["127.0.0.1:9092"] }
# and broker = broker.main in the kafka blocks below.

source "events" {
  kafka { topic = "events" }
  event_time = value.ts
  watermark { out_of_order = "10s" }
}

plugin "scores" {
  path   = "../scores.wasm"
  config = { bonus = 2 }
}

# The plugin drops pings and counts the points of a bonus twice.
transform "scored" {
  input = source.events
  do    = plugin.scores.score
}

aggregate "sums" {
  input = transform.scored
  key   = value.team
  window "fixed" { size = "2m" }
  trigger = after_watermark({
    early = after_count(20)
    late  = after_count(1)
  })
  allowed_lateness = "2m"
  compute = {
    total = sum(value.points)
    n     = count()
  }
}

sink "out" {
  input = aggregate.sums
  kafka {
    topic = "team-scores"
    create { partitions = 1 }
  }
}
