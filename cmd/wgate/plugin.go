package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host/wasm"
)

func (s streams) pluginCommand() *cli.Command {
	return &cli.Command{
		Name:     "plugin",
		Usage:    "pack, check and look at plugins",
		Category: "Plugins",
		Subcommands: []*cli.Command{
			{
				Name:      "pack",
				Usage:     "write into a plugin file what it is",
				ArgsUsage: "FILE...",
				Description: "Calls the plugin's export wgate_describe once and writes the answer into the file, as its manifest. To be done\n" +
					"after each build: wgate never runs a plugin to learn what it is.",
				Flags:  []cli.Flag{jsonFlag},
				Action: s.pluginPack,
			},
			{
				Name:      "check",
				Usage:     "say everything that is wrong with a plugin file, without running it",
				ArgsUsage: "FILE...",
				Description: "Its size and structure, its exports and imports, its manifest and its code: what a node looks at before it takes a\n" +
					"plugin, all at once, and how to mend it. Exit code 1 if something is wrong.",
				Flags:  []cli.Flag{jsonFlag},
				Action: s.pluginCheck,
			},
			{
				Name:        "inspect",
				Usage:       "show what a plugin file is, without running it",
				ArgsUsage:   "FILE",
				Description: "Fails if the plugin could not be loaded, and says why.",
				Flags:       []cli.Flag{jsonFlag},
				Action:      s.pluginInspect,
			},
		},
	}
}

func (s streams) pluginPack(c *cli.Context) error {
	files, err := arguments(c, 1, -1)
	if err != nil {
		return err
	}
	var out packed
	for _, f := range files {
		if err := wasm.Pack(f); err != nil {
			return err
		}
		info, err := wasm.Inspect(f)
		if err != nil {
			return err
		}
		out.Packed = append(out.Packed, info)
	}
	return s.show(c, out)
}

type packed struct {
	Packed []wasm.Info `json:"packed"`
}

func (v packed) text(p *printer) {
	for _, i := range v.Packed {
		p.printf("%s: %s, %s, %s\n", i.Path, p.paint(bold, nameOf(i)), noun(len(i.Manifest.Functions), "function"), sizeOf(i.Bytes))
	}
}

func (s streams) pluginInspect(c *cli.Context) error {
	files, err := arguments(c, 1, 1)
	if err != nil {
		return err
	}
	info, err := wasm.Inspect(files[0])
	if err != nil {
		return err
	}
	return s.show(c, inspected{info})
}

func (s streams) pluginCheck(c *cli.Context) error {
	files, err := arguments(c, 1, -1)
	if err != nil {
		return err
	}
	var out pluginReports
	bad := false
	for _, f := range files {
		r, err := wasm.Check(c.Context, f)
		if err != nil {
			return err
		}
		out.Checked = append(out.Checked, r)
		bad = bad || len(r.Problems) > 0
	}
	if err := s.show(c, out); err != nil || !bad {
		return err
	}
	return shownError{exitFailed}
}

type pluginReports struct {
	Checked []*wasm.Report `json:"checked"`
}

func (v pluginReports) text(p *printer) {
	for _, r := range v.Checked {
		if len(r.Problems) == 0 {
			p.printf("%s: %s, sha256 %s\n", r.Path, p.paint(green, "no problems"), r.Digest)
			continue
		}
		p.printf("%s: %s\n", r.Path, p.paint(red, noun(len(r.Problems), "problem")))
		for _, x := range r.Problems {
			p.printf("  %s\n    next: %s\n", strings.ReplaceAll(x.What, "\n", "\n  "), x.Next)
		}
	}
}

type inspected struct{ wasm.Info }

func (v inspected) text(p *printer) {
	m := v.Manifest
	rows := [][]string{
		{"plugin", p.paint(bold, nameOf(v.Info))},
		{"file", v.Path + ", " + sizeOf(v.Bytes)},
		{"sha256", v.Digest},
		{"abi", fmt.Sprint(m.ABI)},
	}
	if m.SDK != "" {
		rows = append(rows, []string{"sdk", m.SDK})
	}
	for _, f := range m.Functions {
		text := f.Name + " (" + f.Kind
		if f.Pure {
			text += ", pure"
		}
		text += ")"
		if len(f.Tags) > 0 {
			text += ", side outputs " + strings.Join(f.Tags, ", ")
		}
		rows = append(rows, []string{"function", text})
	}
	capabilities := "none"
	if len(m.Capabilities) > 0 {
		capabilities = strings.Join(m.Capabilities, ", ")
	}
	rows = append(rows,
		[]string{"asks for", capabilities},
		[]string{"imports", strings.Join(v.Imports, ", ")},
		[]string{"exports", strings.Join(v.Exports, ", ")},
		[]string{"memory", sizeOf(int(v.Pages)<<16) + " at the start"},
	)
	p.table(rows)
}

func nameOf(i wasm.Info) string { return strings.TrimSpace(i.Manifest.Name + " " + i.Manifest.Version) }

// sizeOf writes a number of bytes.
func sizeOf(n int) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
