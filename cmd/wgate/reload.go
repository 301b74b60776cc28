package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
)

func (s streams) reloadCommand() *cli.Command {
	return &cli.Command{
		Name:      "reload",
		Usage:     "replace a plugin of a pipeline that runs",
		ArgsUsage: "NAME PLUGIN",
		Description: "The new version is uploaded, loaded and opened beside the one that works, and takes over between two epochs. Should\n" +
			"it be refused, or trap in its first epoch, the one before goes on and nothing of the new one is seen.",
		Category: "Nodes",
		Flags: []cli.Flag{jsonFlag, nodeFlag, &cli.StringFlag{
			Name: "path", Usage: "`FILE` of the new version", Required: true,
		}},
		Action: func(c *cli.Context) error {
			args, err := arguments(c, 2, 2)
			if err != nil {
				return err
			}
			if err := admin.CheckName(args[0]); err != nil {
				return invalidError{err}
			}
			path := c.String("path")
			digest, err := checkPlugin(&config.Plugin{Name: args[1], Path: path})
			if err != nil {
				return failedError{err}
			}
			return s.withNode(c, func(cl *admin.Client) error {
				return s.reload(c, cl, args[0], reloaded{Plugin: args[1], Digest: digest, path: path})
			})
		},
	}
}

// reload uploads what the node lacks and has it swapped in.
func (s streams) reload(c *cli.Context, cl *admin.Client, name string, r reloaded) error {
	has, err := cl.HasModule(c.Context, r.Digest)
	if err == nil && !has {
		if err = sendFile(c.Context, cl, r.Digest, r.path); err != nil {
			return fmt.Errorf("upload of %s: %w", r.path, err)
		}
	}
	if err != nil {
		return err
	}
	before, err := cl.Pipeline(c.Context, name)
	if err != nil {
		return err
	}
	st, err := cl.Reload(c.Context, name, r.Plugin, r.Digest)
	if err != nil {
		return err
	}
	r.Pipeline, r.Revision, r.Changed = name, st.Revision, st.Revision != before.Revision
	for _, p := range st.Plugins {
		if p.Name == r.Plugin {
			r.Trial = p.Trial
		}
	}
	return s.show(c, r)
}

// reloaded says what became of a reload.
type reloaded struct {
	Pipeline string `json:"pipeline"`
	Plugin   string `json:"plugin"`
	Digest   string `json:"digest"`
	Revision int    `json:"revision"`
	Changed  bool   `json:"changed"`
	Trial    bool   `json:"trial"` // no record has come to it yet
	path     string
}

func (r reloaded) text(p *printer) {
	switch {
	case !r.Changed:
		p.printf("plugin %q of pipeline %q runs as it is in %s: nothing to do\n", r.Plugin, r.Pipeline, r.path)
	case r.Trial:
		p.printf("plugin %q of pipeline %q is replaced by %s; no record has come to it yet: if it fails at the first ones, the version before comes back\n",
			r.Plugin, r.Pipeline, r.Digest)
	default:
		p.printf("plugin %q of pipeline %q is replaced by %s\n", r.Plugin, r.Pipeline, r.Digest)
	}
}
