# What a record can be made of, and what is compared of it.

pipeline "records" { on_error = "skip" }

variable "unit" { default = "EUR" }

source "in" {
  kafka { topic = "in" }
}

source "lines" {
  kafka { topic = "lines" }
  decode = "text"
}

source "blobs" {
  kafka { topic = "blobs" }
  decode = "bytes"
}

transform "seen" {
  input = source.in
  value = {
    key   = key
    trace = header("trace")
    topic = record.topic
    part  = record.partition
    off   = record.offset
    stamp = record.timestamp
    text  = value.text
    unit  = var.unit
  }
}

transform "long" {
  input = source.lines
  where = length(value) > 3
}

sink "keyed" {
  input  = source.in
  kafka { topic = "keyed" }
  key    = value.id
  value  = value.text
  encode = "text"
}

scenario "key, headers, partition and timestamp" {
  event "in" {
    time      = "07:00:00"
    key       = "k"
    partition = 2
    headers   = [["trace", "abc"], ["flag", null]]
    value     = { text = "hello" }
  }
  expect "transform.seen" {
    key   = "k"
    time  = "07:00:00"
    value = {
      key = "k", trace = "abc", topic = "in", part = 2, off = 0, stamp = 1767250800000, text = "hello", unit = var.unit
    }
  }
}

scenario "numbers are compared by value, objects whatever their order" {
  event "in" {
    key   = 7
    raw   = "{\"b\": [1.50, 1e2], \"a\": {\"y\": null, \"x\": 10.0}}"
  }
  expect "source.in" {
    key   = "7"
    value = { a = { x = 10, y = null }, b = [1.5, 100] }
  }
}

scenario "a null value, an empty text, bytes" {
  event "in" { value = null }
  expect "source.in" {
    key   = null
    value = null
  }
  event "lines" { value = "" }
  event "lines" { value = "zwölf" }
  expect "source.lines" { value = "" }
  expect "source.lines" { value = "zwölf" }
  expect "transform.long" { value = "zwölf" }
  event "blobs" { raw_base64 = "AAH/" }
  expect "source.blobs" { value = "AAH/" }
}

scenario "what a sink writes" {
  event "in" { value = { id = 12, text = "a b" } }
  event "in" { value = { id = "x", text = null } }
  expect "sink.keyed" {
    key   = 12
    value = "a b"
  }
  expect "sink.keyed" {
    key   = "x"
    value = null
  }
}

# The order counts within a key only.
scenario "rows of several keys in any order" {
  event "in" {
    key   = "a"
    value = 1
  }
  event "in" {
    key   = "b"
    value = 2
  }
  event "in" {
    key   = "a"
    value = 3
  }
  expect "source.in" {
    key   = "b"
    value = 2
  }
  expect "source.in" { value = 1 }
  expect "source.in" { value = 3 }
}

scenario "many records and rows by files" {
  events "in" { file = "in.jsonl" }
  expect_file "transform.seen" { path = "seen.jsonl" }
}

scenario "what is left over may be ignored" {
  leftover = "ignore"
  event "in" { value = 1 }
  event "lines" { value = "abcd" }
  expect "source.in" { value = 1 }
  event "in" { value = 2 }
}

scenario "a wrong pipeline" {
  error = "Did you mean"
  config "transform.long" { where = lenght(value) > 3 }
}
