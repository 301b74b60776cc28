package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/host/wasm"
)

func (s streams) deployCommand() *cli.Command {
	return &cli.Command{
		Name:      "deploy",
		Usage:     "bring a pipeline to a node and wait until it runs",
		ArgsUsage: "[FILE|FOLDER]...",
		Description: "Checks the pipeline here, shows what would change, asks, uploads the plugins that the node lacks, and replaces\n" +
			"the version that runs. That one goes on if the new one cannot start. Secrets are looked up on the node.",
		Category: "Nodes",
		Flags:    append([]cli.Flag{jsonFlag, nodeFlag, yesFlag, resetFlag}, pipelineFlags...),
		Action: func(c *cli.Context) error {
			p, err := s.load(c, false)
			if err != nil {
				return err
			}
			if _, err := plan.Build(p); err != nil {
				return invalidError{err}
			}
			up, err := newUpload(c, p)
			if err != nil {
				return err
			}
			return s.withNode(c, func(cl *admin.Client) error { return s.deploy(c, cl, up) })
		},
	}
}

var resetFlag = &cli.BoolFlag{Name: "reset", Usage: "throw the pipeline's state and committed offsets away: it begins anew"}

// deploy shows what would change and, if that is wanted, makes it so.
func (s streams) deploy(c *cli.Context, cl *admin.Client, up *upload) error {
	ch, err := cl.Compare(c.Context, up.name, &up.bundle)
	if err != nil {
		return err
	}
	quiet := c.Bool(jsonFlag.Name)
	if !quiet {
		p := newPrinter(s.out)
		change{ch}.text(p)
		if p.err != nil {
			return p.err
		}
	}
	reset := c.Bool(resetFlag.Name)
	if ch.Action != "none" || reset {
		question := "Deploy?"
		if reset {
			question = "Deploy and throw away the state?"
		}
		if err := s.confirm(c, question); err != nil {
			return err
		}
	}
	if err := up.send(c.Context, cl, ch.Missing); err != nil {
		return err
	}
	st, err := cl.Deploy(c.Context, up.name, &up.bundle, reset)
	if st, err = settled(c.Context, cl, st, err); err != nil {
		return err
	}
	m := moved{Pipeline: st.Name, State: st.State, Revision: st.Revision}
	if quiet {
		return s.showJSON(struct {
			moved
			Change *admin.Change `json:"change"`
		}{m, ch})
	}
	return s.show(c, m)
}

type change struct{ *admin.Change }

func (ch change) text(p *printer) {
	switch ch.Action {
	case "none":
		p.printf("pipeline %q runs as it is here: nothing to do\n", ch.Pipeline)
		return
	case "create":
		explanation{ch.Plan}.text(p)
		p.printf("\npipeline %q is new on this node\n", ch.Pipeline)
	default:
		p.printf("pipeline %q changes:\n", ch.Pipeline)
		list := func(sign, colour string, names []string) {
			for _, n := range names {
				p.printf("  %s\n", p.paint(colour, sign+" "+n))
			}
		}
		list("+", green, ch.Added)
		list("~", yellow, ch.Changed)
		list("-", red, ch.Removed)
		if len(ch.Added)+len(ch.Changed)+len(ch.Removed) == 0 {
			p.printf("  nothing in the plan: only text, variables or what the plan does not show\n")
		}
	}
	for _, n := range ch.Notes {
		p.printf("  %s\n", n)
	}
	if n := len(ch.Missing); n > 0 {
		p.printf("%s to upload\n", noun(n, "plugin"))
	}
}

// upload is a pipeline ready to be sent.
type upload struct {
	name    string
	bundle  admin.Bundle
	modules map[string]string // digest -> path of the file
}

// newUpload reads what the arguments name once more, as text, and the plugins that the pipeline has.
func newUpload(c *cli.Context, p *config.Pipeline) (*upload, error) {
	up := &upload{name: p.Name, modules: map[string]string{}}
	up.bundle.Modules, up.bundle.Vars = map[string]string{}, map[string]string{}
	paths := c.Args().Slice()
	if len(paths) == 0 {
		paths = []string{"."}
	}
	files, err := pipelineFiles(paths)
	if err != nil {
		return nil, err
	}
	if up.bundle.Files, err = readFiles(files); err != nil {
		return nil, err
	}
	for i, v := range c.StringSlice("var-file") {
		text, err := os.ReadFile(v)
		if err != nil {
			return nil, err
		}
		// Only the order counts; the name is for messages.
		up.bundle.VarFiles = append(up.bundle.VarFiles, admin.File{Name: fmt.Sprintf("vars-%d/%s", i, filepath.Base(v)), Text: string(text)})
	}
	for _, v := range c.StringSlice("var") {
		name, value, _ := strings.Cut(v, "=") // has been checked
		up.bundle.Vars[name] = value
	}
	for _, pl := range p.Plugins {
		digest, err := checkPlugin(pl)
		if err != nil {
			return nil, invalidError{err}
		}
		up.bundle.Modules[pl.Name], up.modules[digest] = digest, pl.Path
	}
	if err := up.bundle.Check(); err != nil {
		return nil, invalidError{err}
	}
	return up, nil
}

// pipelineFiles returns the files that config.Load reads for these paths.
func pipelineFiles(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || !info.IsDir() {
			files = append(files, p)
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), ".hcl") && !strings.HasSuffix(e.Name(), ".wgtest.hcl") {
				files = append(files, filepath.Join(p, e.Name()))
			}
		}
	}
	return files, nil
}

// readFiles reads files and names them from the folder that all of them are in.
func readFiles(paths []string) ([]admin.File, error) {
	var out []admin.File
	var abs []string
	for _, p := range paths {
		a, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		abs = append(abs, a)
	}
	root := commonFolder(abs)
	seen := map[string]bool{}
	for _, a := range abs {
		if seen[a] {
			continue
		}
		seen[a] = true
		text, err := os.ReadFile(a)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(root, a)
		if err != nil {
			return nil, err
		}
		out = append(out, admin.File{Name: filepath.ToSlash(rel), Text: string(text)})
	}
	return out, nil
}

func commonFolder(paths []string) string {
	root := filepath.Dir(paths[0])
	for _, p := range paths[1:] {
		for {
			rel, err := filepath.Rel(root, p)
			if err == nil && filepath.IsLocal(rel) || root == filepath.Dir(root) {
				break
			}
			root = filepath.Dir(root)
		}
	}
	return root
}

// checkPlugin looks a plugin's file over as the node will, short of compiling it, and returns its digest.
func checkPlugin(pl *config.Plugin) (string, error) {
	f, err := os.Open(pl.Path)
	if err != nil {
		return "", fmt.Errorf("plugin.%s: %w: build it first", pl.Name, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, admin.MaxModuleBytes+1))
	if err != nil {
		return "", fmt.Errorf("plugin.%s: %w", pl.Name, err)
	}
	if n > admin.MaxModuleBytes {
		return "", fmt.Errorf("plugin.%s: %s is larger than %s, which is the most that a node takes", pl.Name, pl.Path, byteSize(admin.MaxModuleBytes))
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if pl.SHA256 != "" && pl.SHA256 != digest {
		return "", fmt.Errorf("plugin.%s: %s has digest %s, the pipeline wants %s", pl.Name, pl.Path, digest, pl.SHA256)
	}
	if _, err := wasm.Inspect(pl.Path); err != nil {
		return "", fmt.Errorf("plugin.%s: %w", pl.Name, err)
	}
	return digest, nil
}

// send uploads the modules that the node lacks.
func (up *upload) send(ctx context.Context, cl *admin.Client, missing []string) error {
	for _, digest := range missing {
		if err := sendFile(ctx, cl, digest, up.modules[digest]); err != nil {
			return fmt.Errorf("upload of %s: %w", up.modules[digest], err)
		}
	}
	return nil
}

func sendFile(ctx context.Context, cl *admin.Client, digest, path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return cl.PutModule(ctx, digest, f, info.Size())
}
