//go:build !wasip1

package wgate

import "embed"

// Source is the source of this package with its go.mod, so that a tool can write it beside a new plugin, which then builds
// without a network: require the module at any version and replace it by the folder.
//
//go:embed *.go go.mod
var Source embed.FS
