package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
)

// A save is often several events. They are gathered until nothing has come for a moment, but not for long.
const (
	saveQuiet = 30 * time.Millisecond
	saveLong  = 500 * time.Millisecond
)

// watcher tells of saved files. It watches folders, as editors replace files.
type watcher struct {
	fs      *fsnotify.Watcher
	changes chan []string // sorted paths
	done    chan struct{}
	watched map[string]bool
	more    []string // further endings of files that matter
}

func newWatcher(more ...string) (*watcher, error) {
	f, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching files: %w", err)
	}
	w := &watcher{fs: f, changes: make(chan []string), done: make(chan struct{}), watched: map[string]bool{}, more: more}
	go w.run()
	return w, nil
}

func (w *watcher) close() {
	_ = w.fs.Close()
	close(w.done)
}

// run gathers events until the watcher is closed.
func (w *watcher) run() {
	changed := map[string]bool{}
	var first time.Time
	var due <-chan time.Time
	for {
		select {
		case <-w.done:
			return
		case ev, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if ev.Op == fsnotify.Chmod || !w.relevant(ev.Name) {
				continue
			}
			if len(changed) == 0 {
				first = time.Now()
			}
			changed[ev.Name] = true
			due = time.After(min(saveQuiet, saveLong-time.Since(first)))
		case <-w.fs.Errors: //nolint:errcheck // an overflow: the next save is seen
		case <-due:
			due = nil
			select {
			case w.changes <- slices.Sorted(maps.Keys(changed)):
				clear(changed)
			case <-w.done:
				return
			}
		}
	}
}

// relevant reports whether a file may belong to a pipeline.
func (w *watcher) relevant(path string) bool {
	base := filepath.Base(path)
	ends := func(suffix string) bool { return strings.HasSuffix(base, suffix) }
	return !strings.HasPrefix(base, ".") && (ends(".hcl") || ends(".wasm") || isSource(path) || slices.ContainsFunc(w.more, ends))
}

// add watches one more folder.
func (w *watcher) add(dir string) error {
	if w.watched[dir] {
		return nil
	}
	if err := w.fs.Add(dir); err != nil {
		return fmt.Errorf("watching %s: %w", dir, err)
	}
	w.watched[dir] = true
	return nil
}

// set watches these folders and no others.
func (w *watcher) set(dirs []string) error {
	for dir := range w.watched { // order does not matter
		if !slices.Contains(dirs, dir) {
			delete(w.watched, dir)
			if err := w.fs.Remove(dir); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
				return fmt.Errorf("watching %s: %w", dir, err)
			}
		}
	}
	for _, dir := range dirs {
		if err := w.add(dir); err != nil {
			return err
		}
	}
	return nil
}

// watched returns the folders of the files that a pipeline is made of.
func watched(c *cli.Context, p *config.Pipeline) []string {
	dirs := map[string]bool{devFolder(c): true}
	for _, v := range c.StringSlice("var-file") {
		dirs[filepath.Dir(v)] = true
	}
	for _, pl := range p.Plugins {
		if dir := filepath.Dir(pl.Path); isFolder(dir) {
			dirs[dir] = true
		}
		src := pluginSource(pl.Path)
		if src == "" {
			continue
		}
		_ = filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return nil //nolint:nilerr // what cannot be read cannot be watched
			}
			if path != src && isBuilt(e) {
				return fs.SkipDir
			}
			dirs[path] = true
			return nil
		})
	}
	return slices.Sorted(maps.Keys(dirs))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
