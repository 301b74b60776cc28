# The mean price of each shop's trades, weighted by how much was sold, for every minute.

pipeline "prices" {}

source "trades" {
  kafka { topic = "trades" }
  event_time = value.ts
}

plugin "stats" { path = "../stats.wasm" }

aggregate "prices" {
  input = source.trades
  key   = value.shop
  window "fixed" { size = "1m" }
  compute = {
    price = plugin.stats.wmean(value.price, value.qty)
    large = plugin.stats.wmean(value.price, value.qty, { where = value.qty >= 100 })
    range = plugin.stats.spread(value.price)
    n     = count()
  }
}

sink "out" {
  input = aggregate.prices
  kafka {
    topic = "prices"
    create { partitions = 1 }
  }
}
