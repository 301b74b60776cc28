package config

import (
	"fmt"
	"strings"

	"github.com/wgate/wgate/expr"
)

// didYouMean returns a sentence, with a leading blank, that suggests the name that given is close to; nothing if none is.
func didYouMean(given string, names []string) string {
	if len(given) < 2 {
		return "" // everything is close to one letter
	}
	names = names[:min(len(names), maxNames)]
	if n := expr.Suggest(given, names); n != "" && n != given {
		return fmt.Sprintf(" Did you mean %q?", n)
	}
	return ""
}

// enumerate writes names one after the other; of many only the first.
func enumerate(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
