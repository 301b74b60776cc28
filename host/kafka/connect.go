package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/commit"
)

// clientOpts returns the options that every client of this package has.
func clientOpts(o *Options) ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(o.Broker.Addresses...),
		kgo.ClientID(GroupName(o.Pipeline)),
		kgo.SoftwareNameAndVersion("wgate", "1"),
		kgo.WithLogger(&clientLog{o.Log}),
		kgo.DisableClientMetrics(),
		kgo.RetryTimeout(30 * time.Second),
		// A connection that a broker closed while it stopped is tried again; whether the first one works at all has been
		// found out by reach.
		kgo.AlwaysRetryEOF(),
	}
	dial, err := dialer(o)
	if err != nil {
		return nil, err
	}
	opts = append(opts, kgo.Dialer(dial))
	mech, err := mechanism(o.Broker.SASL)
	if err != nil {
		return nil, err
	}
	if mech != nil {
		opts = append(opts, kgo.SASL(mech))
	}
	return opts, nil
}

// dialer returns the function that opens connections, with TLS if the broker has a tls block.
func dialer(o *Options) (DialFunc, error) {
	if o.Broker.TLS == nil {
		return o.Dial, nil
	}
	base, err := tlsConfig(o.Broker.TLS)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := o.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		cfg := base.Clone()
		if cfg.ServerName == "" {
			cfg.ServerName, _, _ = net.SplitHostPort(address)
		}
		secure := tls.Client(conn, cfg)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("tls handshake with %s: %w", address, err)
		}
		return secure, nil
	}, nil
}

// tlsConfig reads the files of a tls block.
func tlsConfig(t *config.TLS) (*tls.Config, error) {
	bad := func(attr, path string, err error) error {
		return fault(CodeTLS, fmt.Sprintf("tls block: %s %q", attr, path), err,
			"name a PEM file that can be read")
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify} //nolint:gosec // the user's explicit choice
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, bad("ca", t.CA, err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, bad("ca", t.CA, errors.New("no certificate in it"))
		}
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, bad("cert and key", t.Cert, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// mechanism returns the SASL mechanism of a sasl block, nil without one.
func mechanism(s *config.SASL) (sasl.Mechanism, error) {
	if s == nil {
		return nil, nil
	}
	user, pass := s.User.Reveal(), s.Password.Reveal()
	switch strings.ToLower(s.Mechanism) {
	case "plain":
		return plain.Auth{User: user, Pass: pass}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: user, Pass: pass}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: user, Pass: pass}.AsSha512Mechanism(), nil
	}
	return nil, fault(CodeSettings, fmt.Sprintf("sasl block: mechanism %q is not known", s.Mechanism), nil,
		"use plain, scram-sha-256 or scram-sha-512")
}

// reach finds out within Options.ConnectTimeout whether the broker answers, and says why if it does not. It uses a client
// of its own that does not try again, so that the first reason comes out and not the last.
func reach(ctx context.Context, o *Options, opts []kgo.Opt) error {
	ctx, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
	defer cancel()
	answering, err := dialAny(ctx, o)
	if err != nil {
		return err
	}
	probe := append(opts[:len(opts):len(opts)], kgo.RequestRetries(0), kgo.RetryTimeout(time.Second))
	probe = append(probe, kgo.SeedBrokers(answering))
	cl, err := kgo.NewClient(probe...)
	if err != nil {
		return fmt.Errorf("kafka client: %w", err)
	}
	defer cl.Close()
	if err := cl.Ping(ctx); err != nil {
		return explain(ctx, o, answering, err)
	}
	return nil
}

// dialAny returns the first address that takes a connection.
func dialAny(ctx context.Context, o *Options) (string, error) {
	var errs []error
	for _, addr := range o.Broker.Addresses {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return "", fault(commit.CodeBroker, fmt.Sprintf("broker address %q", addr), err,
				`write it as "host:port"`)
		}
		try, cancel := context.WithTimeout(ctx, o.ConnectTimeout/2)
		conn, err := o.Dial(try, "tcp", addr)
		cancel()
		if err == nil {
			_ = conn.Close()
			return addr, nil
		}
		errs = append(errs, err)
	}
	return "", fault(commit.CodeBroker, "no broker answers at "+strings.Join(o.Broker.Addresses, ", "), errors.Join(errs...),
		"check the addresses and that the broker runs")
}

// explain says why a broker that takes connections does not answer.
func explain(ctx context.Context, o *Options, addr string, err error) error {
	var eof *kgo.ErrFirstReadEOF
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed), errors.Is(err, kerr.UnsupportedSaslMechanism), errors.Is(err, kerr.IllegalSaslState):
		return fault(CodeCredentials, "broker "+addr+" refuses the sasl block", err,
			"check mechanism, user and password")
	case errors.As(err, &unknown), errors.As(err, &host):
		return fault(CodeTLS, "broker "+addr+" has a certificate that is not trusted", err,
			"set ca (and server_name, if it runs under another name) in the tls block")
	case o.Broker.TLS != nil && answersPlain(ctx, o, addr):
		return fault(CodeTLS, "broker "+addr+" speaks plaintext, and the broker block has tls", err,
			"take the tls block out or use the broker's TLS port")
	case o.Broker.TLS == nil && answersTLS(ctx, o, addr):
		return fault(CodeTLS, "broker "+addr+" speaks TLS, and the broker block has no tls", err,
			"add a tls block or use the broker's plaintext port")
	case o.Broker.SASL != nil && errors.Is(err, io.EOF):
		return fault(CodeCredentials, "broker "+addr+" closes the connection during the login", err,
			"check mechanism, user and password of the sasl block")
	case o.Broker.SASL == nil && errors.As(err, &eof):
		return fault(CodeCredentials, "broker "+addr+" closes the connection after the first request: it asks for a user, or this is no port for clients", err,
			"add a sasl block, or correct the address")
	}
	return fault(commit.CodeBroker, "broker "+addr+" takes connections but does not answer as a Kafka broker", err,
		"check that this is the port of a Kafka broker, and tls and sasl")
}

// answersTLS reports whether addr does a TLS handshake. The certificate does not matter: nothing is sent.
func answersTLS(ctx context.Context, o *Options, addr string) bool {
	conn, err := o.Dial(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cfg := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // a question only
	err = tls.Client(conn, cfg).HandshakeContext(ctx)
	var alert tls.AlertError
	return err == nil || errors.As(err, &alert) || strings.Contains(err.Error(), "remote error: tls")
}

// answersPlain reports whether addr answers a Kafka request without TLS.
func answersPlain(ctx context.Context, o *Options, addr string) bool {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.Dialer(o.Dial), kgo.RequestRetries(0))
	if err != nil {
		return false
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = cl.Ping(ctx)
	// A plaintext port with SASL answers the question for versions and then hangs up: that is plaintext, too.
	return err == nil || strings.Contains(err.Error(), "SASL")
}
