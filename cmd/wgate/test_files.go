package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wgate/wgate/config"
)

// folderOf returns the folder that a path is in, or the path if it is a folder.
func folderOf(path string) string {
	if isFolder(path) {
		return path
	}
	return filepath.Dir(path)
}

// existing returns those folders that are there.
func existing(dirs map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(dirs)), func(d string) bool { return !isFolder(d) })
}

// diagnosticLines writes diagnostics one a line, for reports that have no room for more.
func diagnosticLines(diags []config.Diagnostic) string {
	var b strings.Builder
	for _, d := range diags {
		if d.Range != nil {
			fmt.Fprintf(&b, "%s:%d: ", d.File, d.Range.Start.Line)
		}
		fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
	}
	return b.String()
}
