package main

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/abi"
)

// version is that of the last entry in CHANGELOG.md.
const version = "0.1.0-dev"

func (s streams) versionCommand() *cli.Command {
	return &cli.Command{
		Name:     "version",
		Usage:    "print the version",
		Category: "Other",
		Flags:    []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			if _, err := arguments(c, 0, 0); err != nil {
				return err
			}
			return s.show(c, thisVersion())
		},
	}
}

// build says what this program was made of.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the repository, with + if there were changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
	ABI      int    `json:"abi"` // of plugins
}

func thisVersion() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, ABI: abi.Major}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, kv := range info.Settings {
		switch {
		case kv.Key == "vcs.revision":
			b.Revision = kv.Value + b.Revision
		case kv.Key == "vcs.modified" && kv.Value == "true":
			b.Revision += "+"
		}
	}
	return b
}

func (b build) text(p *printer) {
	p.printf("wgate %s (plugin ABI %d, %s, %s)\n", b.Version, b.ABI, b.Go, b.Platform)
	if b.Revision != "" {
		p.printf("revision %s\n", b.Revision)
	}
}
