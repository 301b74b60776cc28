package main

import (
	"encoding/json"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host/admin"
)

func (s streams) logsCommand() *cli.Command {
	follow := &cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on with each new line until Ctrl-C"}
	lines := &cli.IntFlag{Name: "lines", Aliases: []string{"n"}, Value: 100, Usage: "begin with the last `N` lines"}
	return s.onNode("logs", "show the log of a pipeline", "The node keeps the last lines in memory. With --json each line is an object.",
		[]cli.Flag{follow, lines}, func(c *cli.Context, cl *admin.Client, name string) error {
			p := newPrinter(s.out)
			return cl.Logs(c.Context, name, c.Int(lines.Name), c.Bool(follow.Name), func(l admin.LogLine) error {
				if c.Bool(jsonFlag.Name) {
					enc := json.NewEncoder(s.out)
					enc.SetEscapeHTML(false)
					return enc.Encode(l)
				}
				p.logLine(l)
				return p.err
			})
		})
}

func (p *printer) logLine(l admin.LogLine) {
	colour := map[string]string{"WARN": yellow, "ERROR": red}[l.Level]
	level := l.Level
	if colour != "" {
		level = p.paint(colour, level)
	}
	var b strings.Builder
	keys := make([]string, 0, len(l.Attrs))
	for k := range l.Attrs { // sorted below
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		v := l.Attrs[k]
		if v == "" || strings.ContainsAny(v, " \"\n\t") || !printable(v) {
			v = strconv.Quote(v)
		}
		b.WriteString(" " + p.paint(dim, k+"=") + v)
	}
	text := l.Text
	if !printable(text) {
		text = strconv.Quote(text)
	}
	p.printf("%s %s %s%s\n", time.UnixMilli(l.Time).UTC().Format("15:04:05.000"), level, text, b.String())
}

// printable reports whether s has nothing in it that steers a terminal: a plugin may have written it.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}
