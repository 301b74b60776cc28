package config

import (
	"fmt"

	"github.com/wgate/wgate/expr"
)

// didYouMean returns a sentence, with a leading blank, that suggests the name that given is close to; nothing if none is.
func didYouMean(given string, names []string) string {
	if len(given) < 2 {
		return "" // everything is close to one letter
	}
	if n := expr.Suggest(given, names); n != "" && n != given {
		return fmt.Sprintf(" Did you mean %q?", n)
	}
	return ""
}
