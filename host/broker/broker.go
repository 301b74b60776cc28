package broker

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Options is what a broker is started with.
type Options struct {
	Listen     string // host:port; port 0 takes a free one; empty: 127.0.0.1:0
	Flag       string // what says Listen on the command line, for messages; empty: --listen
	Advertise  string // host or host:port that clients are told; needed when Listen names no host
	DataDir    string // empty: in memory
	Sync       bool   // every write is on the disk before it is acknowledged; slow
	Topics     []Topic
	Partitions int         // of topics that are made without a number; 4
	TLS        *tls.Config // nil: plaintext
	Users      []User      // any: clients have to log in
	Log        *slog.Logger
}

// Topic is a topic that is there from the start, or from the first start of a data folder on.
type Topic struct {
	Name       string
	Partitions int32
	Configs    map[string]string
}

// User may log in. Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
type User struct{ Mechanism, Name, Password string }

// Broker is a running broker. Its methods are safe for concurrent use.
type Broker struct {
	cluster *kfake.Cluster
	addr    string
	lock    *os.File
}

// Start starts a broker. The port is open when it returns.
func Start(o Options) (*Broker, error) {
	b := &Broker{}
	if o.DataDir != "" {
		if err := b.lockDir(o.DataDir); err != nil {
			return nil, err
		}
	}
	opts, err := b.options(&o)
	if err != nil {
		b.unlock()
		return nil, err
	}
	if b.cluster, err = kfake.NewCluster(opts...); err != nil {
		b.unlock()
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("embedded broker: address %s is in use: stop what listens there, or choose another with %s", o.Listen, cmp.Or(o.Flag, "--listen"))
		}
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	for _, t := range o.Topics {
		if err := b.CreateTopic(t); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// options translates o.
func (b *Broker) options(o *Options) ([]kfake.Opt, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Partitions <= 0 {
		o.Partitions = 4
	}
	listen, err := b.listener(o)
	if err != nil {
		return nil, err
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ListenFn(listen),
		// A new cluster is another one: state that was made with the one before must not be taken for this one's. A data
		// folder keeps its id.
		kfake.ClusterID(base64.RawURLEncoding.EncodeToString(id)),
		kfake.DefaultNumPartitions(o.Partitions),
		kfake.AllowAutoTopicCreation(),
		kfake.MaxVersions(versions()),
	}
	if o.DataDir != "" {
		opts = append(opts, kfake.DataDir(o.DataDir))
	}
	if o.Sync {
		opts = append(opts, kfake.SyncWrites())
	}
	if o.TLS != nil {
		opts = append(opts, kfake.TLS(o.TLS))
	}
	if len(o.Users) > 0 {
		opts = append(opts, kfake.EnableSASL())
	}
	for _, u := range o.Users {
		opts = append(opts, kfake.Superuser(u.Mechanism, u.Name, u.Password))
	}
	if o.Log != nil {
		opts = append(opts, kfake.WithLogger(logger{o.Log}))
	}
	return opts, nil
}

// versions is what the broker says that it can do. It leaves DescribeTopicPartitions out: its answers have null where the
// Java tools of Kafka 4 take a list for granted, and without it they ask in the older way. The rest is the newest release:
// what is newer has features for which kfake refuses transactions.
func versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.DescribeTopicPartitions.Int16(), -1)
	return v
}

// listener returns the function that opens the port and knows what to tell the clients.
func (b *Broker) listener(o *Options) (func(network, address string) (net.Listener, error), error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: listen %q: write it as HOST:PORT", o.Listen)
	}
	if ip := net.ParseIP(host); o.Advertise == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		return nil, fmt.Errorf("embedded broker: listen %q is every address of this machine: say with advertise which one clients are to use", o.Listen)
	}
	return func(network, _ string) (net.Listener, error) {
		ln, err := net.Listen(network, o.Listen)
		if err != nil {
			return nil, err
		}
		port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // a TCP listener has a TCP address
		b.addr = net.JoinHostPort(host, port)
		if o.Advertise != "" {
			b.addr = o.Advertise
			if _, _, err := net.SplitHostPort(o.Advertise); err != nil {
				b.addr = net.JoinHostPort(o.Advertise, port)
			}
		}
		return &advertised{ln, address(b.addr)}, nil
	}, nil
}

// Addr returns the address that clients use.
func (b *Broker) Addr() string { return b.addr }

// CreateTopic makes a topic; one that is there already is left as it is.
func (b *Broker) CreateTopic(t Topic) error {
	if b.cluster.TopicInfo(t.Name) != nil {
		return nil
	}
	if err := b.cluster.CreateTopic(t.Name, t.Partitions, t.Configs); err != nil {
		return fmt.Errorf("embedded broker: create topic %q: %w", t.Name, err)
	}
	return nil
}

// Close ends the broker; what it has is on the disk then, if it has a data folder. It may be called once.
func (b *Broker) Close() {
	b.cluster.Close()
	b.unlock()
}

// lockDir keeps a second broker off the folder.
func (b *Broker) lockDir(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("embedded broker: data folder: %w", err)
	}
	path := dir + string(os.PathSeparator) + "broker.lock"
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o640) //nolint:gosec // the user's folder
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("embedded broker: data folder %s: not writable: %w", dir, err)
		}
		return fmt.Errorf("embedded broker: data folder: %w", err)
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("embedded broker: data folder %s is in use by another broker: stop that one, or choose another folder with --data", dir)
	}
	b.lock = f
	return nil
}

func (b *Broker) unlock() {
	if b.lock != nil {
		_ = b.lock.Close()
		b.lock = nil
	}
}
