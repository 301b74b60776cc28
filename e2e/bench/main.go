//go:build linux

// The command prints what it took as one line of JSON: from the start
// of the process until the group has committed the end of the input, and the same for the second half. It is made for
// Linux, whose /proc it reads; docs/benchmarks.md says how it is used.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// interval is how often the group's positions are asked for.
const interval = 50 * time.Millisecond

func main() {
	r := run{}
	flag.StringVar(&r.wgate, "wgate", "bin/wgate", "the program")
	flag.StringVar(&r.file, "pipeline", "", "the pipeline file, of a pipeline with variables bootstrap, in and out")
	flag.StringVar(&r.bootstrap, "bootstrap", "127.0.0.1:9092", "address of the broker")
	flag.StringVar(&r.in, "in", "", "input topic")
	flag.StringVar(&r.out, "out", "", "output topic")
	flag.StringVar(&r.data, "data", "", "an empty folder for the state; by default one that is removed afterwards")
	limit := flag.Duration("limit", 10*time.Minute, "give up after")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	err := r.measure(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is one run.
type run struct {
	wgate, file, bootstrap, in, out, data string

	adm *kadm.Client
	pid int
}

// sample is how things stood at one moment.
type sample struct {
	at   time.Time
	cpu  float64 // seconds of the process
	done int64   // records that the group has committed
}

func (r *run) measure(ctx context.Context) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.bootstrap))
	if err != nil {
		return err
	}
	defer cl.Close()
	r.adm = kadm.NewClient(cl)
	ends, err := r.adm.ListEndOffsets(ctx, r.in)
	if err != nil {
		return err
	}
	total := int64(0)
	ends.Each(func(o kadm.ListedOffset) { total += o.Offset })
	if r.data == "" {
		if r.data, err = os.MkdirTemp("", "wgate-bench-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(r.data) }() // nothing depends on it
	}
	group, err := r.rename()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, r.wgate, "run", "--data", filepath.Join(r.data, "state"), "--log-level", "warn",
		"--var", "bootstrap="+r.bootstrap, "--var", "in="+r.in, "--var", "out="+r.out, r.file)
	cmd.Stderr = os.Stderr
	first := sample{at: time.Now()}
	if err := cmd.Start(); err != nil {
		return err
	}
	r.pid = cmd.Process.Pid
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	half, last, err := r.watch(ctx, group, total, exited)
	rss := r.peakRSS()
	if err != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
		return err
	}
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), <-exited); err != nil {
		return fmt.Errorf("wgate did not end in order: %w", err)
	}
	return report(first, half, last, rss)
}

// rename copies the pipeline under a name of its own, so that no earlier run has a group of that name, and returns the
// name of the group.
func (r *run) rename() (group string, err error) {
	text, err := os.ReadFile(r.file)
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^pipeline "([^"]+)"`).FindSubmatchIndex(text)
	if m == nil {
		return "", fmt.Errorf("%s has no pipeline block", r.file)
	}
	name := string(text[m[2]:m[3]]) + "-" + strconv.FormatInt(time.Now().UnixMilli(), 36)
	r.file = filepath.Join(r.data, "pipeline.hcl")
	return "wgate." + name, os.WriteFile(r.file, append(append(append([]byte{}, text[:m[2]]...), name...), text[m[3]:]...), 0o600)
}

// watch waits until the group is through and returns how things stood then and when half of it was done.
func (r *run) watch(ctx context.Context, group string, total int64, exited <-chan error) (half, last sample, err error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for last.done < total {
		select {
		case <-ctx.Done():
			return half, last, fmt.Errorf("%d of %d records after the time limit", last.done, total)
		case err := <-exited:
			return half, last, fmt.Errorf("wgate ended early: %w", err)
		case <-tick.C:
		}
		offs, err := r.adm.FetchOffsets(ctx, group)
		if err != nil {
			continue // the group comes with wgate
		}
		last = sample{at: time.Now(), cpu: r.cpu()}
		offs.Each(func(o kadm.OffsetResponse) {
			if o.Topic == r.in {
				last.done += max(o.At, 0)
			}
		})
		if half.done == 0 && last.done >= total/2 {
			half = last
		}
	}
	return half, last, nil
}

func report(first, half, last sample, rss float64) error {
	part := func(a, b sample) (rps, perCPU float64) {
		n := float64(b.done - a.done)
		return n / b.at.Sub(a.at).Seconds(), n / max(b.cpu-a.cpu, 0.01)
	}
	res := map[string]any{
		"system": "wgate", "mode": "eos", "records": last.done, "seconds": last.at.Sub(first.at).Seconds(),
		"cpu_s": last.cpu, "rss_mb": int(rss),
	}
	rps, perCPU := part(first, last)
	res["rps"], res["rec_per_cpu_s"] = int(rps), int(perCPU)
	if half.done < last.done {
		rps, perCPU = part(half, last)
		res["rps_half2"], res["rec_per_cpu_s_half2"] = int(rps), int(perCPU)
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// cpu returns the seconds of processor time that wgate has taken.
func (r *run) cpu() float64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(r.pid) + "/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	const ticks = 100 // of all Linux systems that Go runs on
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / ticks
}

// peakRSS returns the largest resident size of wgate in MiB.
func (r *run) peakRSS() float64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(r.pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1024
		}
	}
	return 0
}
