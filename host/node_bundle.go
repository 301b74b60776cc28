package host

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/wasm"
)

// load checks what was uploaded as pipeline name and puts this node's files in: modules by their digests, other files from
// the one folder that is open to pipelines.
func (n *Node) load(name string, b *admin.Bundle) (*config.Pipeline, error) {
	p, err := n.parse(name, b)
	if err != nil {
		return nil, err
	}
	for _, pl := range p.Plugins {
		digest := b.Modules[pl.Name]
		has, err := n.HasModule(digest)
		if err != nil {
			return nil, err
		}
		if !has {
			return nil, fmt.Errorf("plugin.%s: %w: this node has no module %s: upload it first", pl.Name, admin.ErrConflict, digest)
		}
		pl.Path, pl.SHA256 = n.store.modulePath(digest), digest
	}
	return p, nil
}

// parse is load without the modules: their digests are checked, that they are there is not.
func (n *Node) parse(name string, b *admin.Bundle) (*config.Pipeline, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	texts, paths, vars := map[string]string{}, []string(nil), []string(nil)
	for _, f := range b.Files {
		path := filepath.FromSlash(f.Name)
		texts[path], paths = f.Text, append(paths, path)
	}
	for _, f := range b.VarFiles {
		path := filepath.FromSlash(f.Name)
		texts[path], vars = f.Text, append(vars, path)
	}
	p, diags := config.Load(paths, config.Options{
		Vars: b.Vars, VarFiles: vars, Getenv: os.LookupEnv,
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := texts[path]; ok {
				return []byte(text), nil
			}
			path, err := n.local(path)
			if err != nil {
				return nil, err
			}
			return os.ReadFile(path)
		},
	})
	if diags.HasErrors() {
		f := &admin.Failure{Text: fmt.Sprintf("pipeline %q is not valid on this node", name), Diagnostics: config.DiagnosticsJSON(diags)}
		return nil, f.WithStatus(http.StatusUnprocessableEntity)
	}
	if p.Name != name {
		return nil, fmt.Errorf("%w: the files are of pipeline %q, not %q", admin.ErrInvalid, p.Name, name)
	}
	for _, pl := range p.Plugins {
		digest := b.Modules[pl.Name]
		if digest == "" {
			return nil, fmt.Errorf("%w: plugin.%s: the bundle names no module for it", admin.ErrInvalid, pl.Name)
		}
		if pl.SHA256 != "" && pl.SHA256 != digest {
			return nil, fmt.Errorf("%w: plugin.%s: the pipeline wants module %s, the bundle has %s", admin.ErrInvalid, pl.Name, pl.SHA256, digest)
		}
	}
	return p, n.localise(p)
}

// localise resolves the files of p within the folder that is open to pipelines.
func (n *Node) localise(p *config.Pipeline) error {
	set := func(what string, paths ...*string) error {
		for _, path := range paths {
			if *path == "" {
				continue
			}
			at, err := n.local(*path)
			if err != nil {
				return fmt.Errorf("%w: %s: %w", admin.ErrInvalid, what, err)
			}
			*path = at
		}
		return nil
	}
	var errs []error
	for _, s := range p.Sources {
		if s.File != nil {
			errs = append(errs, set("source."+s.Name, &s.File.Path))
		}
	}
	for _, s := range p.Sinks {
		if s.File != nil {
			errs = append(errs, set("sink."+s.Name, &s.File.Path))
		}
	}
	for _, b := range p.Brokers {
		if b.TLS != nil {
			errs = append(errs, set("broker."+b.Name, &b.TLS.CA, &b.TLS.Cert, &b.TLS.Key))
		}
	}
	// Dead letters of a pipeline without topics go into this folder.
	p.Dir = n.opts.Files
	return errors.Join(errs...)
}

// local returns where a file that a pipeline names lies on this node. A pipeline comes over the network: it reaches no file
// but those that were put into one folder for it.
func (n *Node) local(path string) (string, error) {
	if n.opts.Files == "" {
		return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("pipelines may not use files of this node: start it with --files FOLDER to open one")}
	}
	rel := path
	if filepath.IsAbs(path) {
		r, err := filepath.Rel(n.opts.Files, path)
		if err != nil {
			r = ".."
		}
		rel = r
	}
	if !filepath.IsLocal(rel) {
		return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not within the folder that --files opens to pipelines")}
	}
	at := filepath.Join(n.opts.Files, rel)
	// A link in the folder may lead out of it only if the operator has put it there; what a pipeline writes is a plain file.
	return at, nil
}

// jobOptions are those of a job of e. Topics of the embedded broker are made as they are needed, as nobody else may be there
// to make them; those of another broker are not.
func (n *Node) jobOptions(e *entry, p *config.Pipeline) Options {
	o := n.opts.Job
	o.CreateTopics = o.CreateTopics || len(p.Brokers) == 0
	o.StateDir, o.Embedded, o.Log, o.Cache = n.stateDir(e.name), n.opts.Embedded, e.log, n.cache
	if o.PluginCache == "" {
		o.PluginCache = filepath.Join(n.opts.DataDir, "cache")
	}
	return o
}

// failureOf returns what the API shows of an error: its code and its next command, where it has them.
func failureOf(err error) *admin.Failure {
	f := admin.FailureOf(err)
	var stop *commit.Stop
	var refused *wasm.Refused
	switch {
	case f.Code != "" || f.Next != "":
	case errors.As(err, &stop):
		f.Code, f.Next = stop.Code, stop.Next
	case errors.As(err, &refused):
		f.Next = refused.Next
	}
	// The text often ends in what Next says.
	f.Text = strings.TrimSuffix(f.Text, "; "+f.Next)
	return f
}
