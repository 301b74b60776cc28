// Package codec turns records into columns and values into records.
//
// A Decoder reads of each record only the paths that the plan uses (decoder.go, json.go); an Encoder writes a result
// (encoder.go). key.go has the canonical bytes of keys: equal keys have equal bytes and the bytes sort as the keys do.
// time.go turns what a field says into event time.
package codec
