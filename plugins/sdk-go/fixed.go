//go:build !wasip1

package wgate

import (
	"fmt"
	"reflect"
)

// checkFixed panics if values of v's type cannot be kept as they stand. It runs natively, in a plugin's tests: package
// reflect would make plugins larger.
func checkFixed(name string, v any) {
	if what := notFixed(reflect.TypeOf(v)); what != "" {
		panic(fmt.Sprintf("combiner %s: an accumulator of %T holds %s: the host keeps its memory as it stands", name, v, what))
	}
	if reflect.TypeOf(v).Size() == 0 {
		panic(fmt.Sprintf("combiner %s: an accumulator of %T is empty", name, v))
	}
}

func notFixed(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		end := uintptr(0)
		for i := range t.NumField() {
			f := t.Field(i)
			if what := notFixed(f.Type); what != "" {
				return what
			}
			if f.Offset != end {
				return "a gap before field " + f.Name
			}
			end = f.Offset + f.Type.Size()
		}
		if end != t.Size() {
			return "a gap at its end"
		}
		return ""
	case reflect.Array:
		return notFixed(t.Elem())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return ""
	}
	return t.Kind().String()
}
