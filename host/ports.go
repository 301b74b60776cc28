package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/file"
	"github.com/wgate/wgate/host/kafka"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/host/wasm"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
	"github.com/wgate/wgate/statestore/pebblestore"
)

// ports are what a job has opened: everything that the engine works with.
type ports struct {
	job       *Job
	store     statestore.Store
	meta      statestore.Meta
	session   *kafka.Session // nil: no source reads a topic
	writer    *kafka.Output  // nil: topics are written in the session's transactions, or not at all
	inputs    []engine.Input
	files     map[int]string // path by index of a file source
	outputs   map[string]engine.Output
	dead      engine.Output
	instances []*instance
	closers   []func() error
}

// open opens the state, the broker, and the files, in this order. What was opened is closed again when something fails.
func (j *Job) open(ctx context.Context) (_ *ports, err error) {
	r := &ports{job: j, files: map[int]string{}, outputs: map[string]engine.Output{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if err := r.openStore(); err != nil {
		return nil, err
	}
	if err := r.openKafka(ctx); err != nil {
		return nil, err
	}
	return r, r.openFiles()
}

func (r *ports) closeLater(f func() error) { r.closers = append(r.closers, f) }

// close closes everything, last opened first.
func (r *ports) close() error {
	r.fresh()
	var errs []error
	for i := len(r.closers) - 1; i >= 0; i-- {
		errs = append(errs, r.closers[i]())
	}
	r.closers = nil
	return errors.Join(errs...)
}

// openStore opens the state folder and reads, or draws, the identity of this instance.
func (r *ports) openStore() error {
	j := r.job
	if j.opt.StateDir == "" {
		r.store = memstore.New()
	} else {
		s, err := pebblestore.Open(j.opt.StateDir, pebblestore.Options{
			Cache: j.opt.Cache, Log: j.opt.Log, BallastBytes: 16 << 20,
			Fatal: func(cause string) { j.opt.Log.Error("the state cannot be written; the process ends", "cause", cause) },
		})
		if err != nil {
			return commit.StoreStop(j.pipeline.Name, err)
		}
		r.store = s
	}
	r.closeLater(r.store.Close)
	id, err := engine.InstanceID(r.store, rand.Reader)
	if err != nil {
		return commit.StoreStop(j.pipeline.Name, err)
	}
	raw, ok, err := r.store.System(statestore.MetaRow)
	if err == nil && ok {
		r.meta, err = statestore.DecodeMeta(raw)
	}
	if err != nil {
		return commit.StoreStop(j.pipeline.Name, err)
	}
	r.meta.Instance = id
	var names []string
	for _, n := range j.plan.Nodes {
		if n.Kind == plan.Aggregate {
			names = append(names, n.Block)
		}
	}
	if r.meta, _, err = r.meta.AssignOperators(names); err != nil {
		return err
	}
	r.meta.Pipeline, r.meta.PlanHash = j.pipeline.Name, j.plan.Hash
	return nil
}

func (r *ports) openKafka(ctx context.Context) error {
	j := r.job
	b, err := brokerOf(j.pipeline, j.opt.Embedded)
	if err != nil || b == nil {
		return err
	}
	o := j.kafkaOptions(b, r.meta.Instance)
	if len(o.Sources) > 0 {
		if r.session, err = kafka.Open(ctx, o); err != nil {
			return err
		}
		r.closeLater(func() error { r.session.Close(); return nil })
		r.inputs = append(r.inputs, r.session)
		r.meta.Cluster, r.meta.Group, r.meta.Topics = r.session.Cluster(), kafka.GroupName(j.pipeline.Name), nil
		for _, t := range r.session.Topics() {
			r.meta.Topics = append(r.meta.Topics, statestore.Topic{Name: t.Name, ID: fmt.Sprintf("%x", t.ID), Partitions: int32(t.Partitions)})
		}
	}
	if r.session != nil && j.pipeline.Delivery == "exactly_once" {
		return nil
	}
	// A file has no place in a transaction: what comes from files alone is written at least once.
	if r.writer, err = kafka.OpenOutput(ctx, o); err != nil {
		return err
	}
	r.closeLater(func() error { r.writer.Close(); return nil })
	for _, s := range j.pipeline.Sinks {
		if s.Kafka != nil {
			r.outputs[s.Name] = r.writer
		}
	}
	r.dead = r.writer
	return nil
}

// kafkaOptions are the job's sources and sinks of topics.
func (j *Job) kafkaOptions(b *config.Broker, instance string) kafka.Options {
	o := kafka.Options{
		Pipeline: j.pipeline.Name, Instance: instance, Broker: b, CreateTopics: j.opt.CreateTopics,
		DeadLetters: true, Log: j.opt.Log,
	}
	for i, s := range j.pipeline.Sources {
		if s.Kafka != nil {
			o.Sources = append(o.Sources, kafka.Source{Index: i, Name: s.Name, Kafka: s.Kafka, Raw: rawKind(s)})
		}
	}
	for _, s := range j.pipeline.Sinks {
		if s.Kafka != nil {
			o.Sinks = append(o.Sinks, kafka.Sink{Name: s.Name, Kafka: s.Kafka})
		}
	}
	return o
}

// rawKind is the kind of a source's values before anybody has looked into them.
func rawKind(s *config.Source) event.Kind {
	switch s.Decode {
	case "json":
		return event.JSON
	case "text":
		return event.String
	}
	return event.Bytes
}

func (r *ports) openFiles() error {
	j := r.job
	for i, s := range j.pipeline.Sources {
		if s.File == nil {
			continue
		}
		src, err := file.Open(file.Options{Index: i, Name: s.Name, Path: s.File.Path, Raw: rawKind(s)})
		if err != nil {
			return err
		}
		r.closeLater(func() error { src.Close(); return nil })
		r.inputs = append(r.inputs, src)
		r.files[i] = src.Topic()
	}
	for _, s := range j.pipeline.Sinks {
		switch {
		case s.Stdout:
			r.outputs[s.Name] = file.NewSink(j.opt.Stdout, fileForm(s))
		case s.File != nil:
			out, err := file.Create(s.Name, s.File.Path, fileForm(s))
			if err != nil {
				return err
			}
			r.closeLater(out.Close)
			r.outputs[s.Name] = out
		}
	}
	if r.session == nil && r.dead == nil {
		r.dead = &deadFile{path: filepath.Join(j.pipeline.Dir, j.pipeline.Name+".dead_letters.jsonl"), log: j.opt.Log}
		r.closeLater(r.dead.(*deadFile).Close)
	}
	return nil
}

// fileForm is how a sink's values stand in the lines of a file.
func fileForm(s *config.Sink) file.Form {
	if s.Encode == "text" {
		return file.Texts
	}
	return file.Values
}

// config gives the engine its ports.
func (r *ports) config() engine.Config {
	j := r.job
	var broker engine.Broker
	if r.session != nil {
		broker = r.session
	}
	c := engine.Config{
		Plan: j.plan, Inputs: r.inputs, Topic: r.topic, Broker: broker, Outputs: r.outputs, DeadLetters: r.dead,
		Store: r.store, Operators: map[string]uint16{}, Invoker: r.instance, Fresh: r.fresh,
		Clock: j.opt.Clock, Log: j.opt.Log, OnReady: j.opt.OnReady,
	}
	for _, op := range r.meta.Ops {
		if !op.Dropped {
			c.Operators[op.Name] = op.ID
		}
	}
	delivery := commit.AtLeastOnce
	if j.pipeline.Delivery == "exactly_once" {
		delivery = commit.ExactlyOnce
	}
	c.Committer = engine.NewCommitter(broker, r.store, engine.CommitterOptions{
		Config: commit.Config{
			Delivery: delivery, Mode: commit.Local, Meta: r.meta,
			InGroup: func(source int) bool { return j.pipeline.Sources[source].Kafka != nil },
		},
		Outputs: r.all(),
	})
	return c
}

// all returns every output once, in the order of the sinks: they are flushed before an epoch commits.
func (r *ports) all() []engine.Output {
	var outs []engine.Output
	add := func(o engine.Output) {
		if o != nil && !slices.Contains(outs, o) {
			outs = append(outs, o)
		}
	}
	for _, s := range r.job.pipeline.Sinks {
		add(r.outputs[s.Name])
	}
	add(r.dead)
	return outs
}

func (r *ports) topic(source, topic uint16) string {
	if path, ok := r.files[int(source)]; ok {
		return path
	}
	return r.session.Topic(source, topic)
}

// instance makes an instance of a plugin for the engine, of the version that counts now. It is closed by fresh, if not before.
func (r *ports) instance(p *config.Plugin) (engine.Invoker, error) {
	in, err := r.job.module(p).NewInstance(context.Background())
	if err != nil {
		return nil, err
	}
	i := &instance{in, r}
	r.instances = append(r.instances, i)
	return i, nil
}

// instance is one of those that fresh closes.
type instance struct {
	*wasm.Instance
	of *ports
}

// Close ends the instance.
func (i *instance) Close(ctx context.Context) error {
	i.of.instances = slices.DeleteFunc(i.of.instances, func(j *instance) bool { return j == i })
	return i.Instance.Close(ctx)
}

// fresh closes all instances: their memory is state that no transaction covers.
func (r *ports) fresh() {
	for _, in := range r.instances {
		_ = in.Instance.Close(context.Background())
	}
	r.instances = r.instances[:0]
}
