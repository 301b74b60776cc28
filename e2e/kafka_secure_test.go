package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wgate/wgate/e2e/kafkatest"
)

// securePipeline copies what topic secure-in held in the first hour of 2026. What stands in the broker block after the addresses is added.
const securePipeline = `
pipeline "%[1]s" {}

broker "main" {
  addresses = [%[2]q]
  %[3]s
}

source "in" {
  kafka {
    topic = "secure-in"
    stop  = "2026-01-01T01:00:00Z"
  }
  event_time = value.ts
}

sink "copy" {
  input = source.in
  kafka {
    topic = "%[1]s-out"
    create { partitions = 1 }
  }
}
`

const (
	secretUser     = "E2E_KAFKA_USER"
	secretPassword = "E2E_KAFKA_PASSWORD"
)

func tlsBlock(ca string) string { return fmt.Sprintf("tls {\n    ca = %q\n  }", ca) }

// saslBlock has its secrets from the environment.
func saslBlock(mechanism string) string {
	if mechanism != "" {
		mechanism = fmt.Sprintf("    mechanism = %q\n", mechanism)
	}
	return "sasl {\n" + mechanism + fmt.Sprintf("    user = env(%q)\n    password = env(%q)\n  }", secretUser, secretPassword)
}

func secrets(user, password string) []string {
	return []string{secretUser + "=" + user, secretPassword + "=" + password}
}

// kafkaSecure runs a pipeline from its start to its end on each of the listeners that want TLS, a user, or both.
func kafkaSecure(t *testing.T, k *apache) {
	k.topic(t, "secure-in", 2)
	for n := range 50 {
		r := scoreAt(n).record(t, "secure-in", int32(n%2))
		r.Timestamp = time.UnixMilli(t0)
		k.produce(t, r)
	}
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(kafkatest.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile := fmt.Sprintf("sasl {\n    mechanism = \"plain\"\n    user = %q\n    password = file(%q)\n  }", kafkatest.User, password)
	for _, tc := range []struct{ name, addr, block string }{
		{"tls", k.TLS, tlsBlock(k.CA)},
		{"tls-plain", k.SASLTLS, tlsBlock(k.CA) + "\n  " + saslBlock("plain")},
		{"tls-scram-256", k.SASLTLS, tlsBlock(k.CA) + "\n  " + saslBlock("scram-sha-256")},
		{"tls-scram-512", k.SASLTLS, tlsBlock(k.CA) + "\n  " + saslBlock("")},
		{"plain", k.SASLPlaintext, saslBlock("plain")},
		{"scram-512", k.SASLPlaintext, saslBlock("scram-sha-512")},
		{"password-in-a-file", k.SASLPlaintext, fromFile},
		{"not-verified", k.TLS, "tls { insecure_skip_verify = true }"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := "secure-" + tc.name
			file := writePipeline(t, fmt.Sprintf(securePipeline, name, tc.addr, tc.block))
			p := start(t, binary(t, ""), secrets(kafkatest.User, kafkatest.Password), "run", file, "--data", t.TempDir())
			if code := p.exitCode(t, time.Minute); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, p.output())
			}
			wantScores(t, k.committed(t, name+"-out"), 0, 50)
			if strings.Contains(p.output(), kafkatest.Password) {
				t.Errorf("the password is printed:\n%s", p.output())
			}
		})
	}
}

// kafkaRefused connects in ways that a broker refuses: each gives one clear error and exit code 1.
func kafkaRefused(t *testing.T, k *apache) {
	wrongCA := filepath.Join(t.TempDir(), "wrong.pem")
	if err := os.WriteFile(wrongCA, otherCA(t), 0o600); err != nil {
		t.Fatal(err)
	}
	right := secrets(kafkatest.User, kafkatest.Password)
	for _, tc := range []struct {
		name, addr, block string
		env               []string
		code              int
		want              string // in the error
	}{
		{"wrong password plain", k.SASLTLS, tlsBlock(k.CA) + "\n  " + saslBlock("plain"), secrets(kafkatest.User, "wr0ng"), 1, "WG-303: broker " + k.SASLTLS + " refuses the sasl block"},
		{"wrong password scram", k.SASLPlaintext, saslBlock("scram-sha-512"), secrets(kafkatest.User, "wr0ng"), 1, "WG-303: broker " + k.SASLPlaintext + " refuses the sasl block"},
		{"unknown user", k.SASLPlaintext, saslBlock("scram-sha-256"), secrets("nobody", "wr0ng"), 1, "WG-303"},
		{"no user", k.SASLPlaintext, "", nil, 1, "WG-303"},
		{"wrong ca", k.TLS, tlsBlock(wrongCA), nil, 1, "WG-308: broker " + k.TLS + " has a certificate that is not trusted"},
		{"wrong ca with user", k.SASLTLS, tlsBlock(wrongCA) + "\n  " + saslBlock("plain"), right, 1, "WG-308"},
		{"no ca", k.TLS, "tls {}", nil, 1, "WG-308"},
		{"other name", k.TLS, "tls {\n    ca = \"" + k.CA + "\"\n    server_name = \"broker.example\"\n  }", nil, 1, "WG-308"},
		{"ca is not there", k.TLS, tlsBlock(wrongCA + ".absent"), nil, 1, "wrong.pem.absent"},
		{"no tls", k.TLS, "", nil, 1, "WG-308: broker " + k.TLS + " speaks TLS"},
		{"tls to plaintext", k.Addr, tlsBlock(k.CA), nil, 1, "WG-308: broker " + k.Addr + " speaks plaintext"},
		{"secret is not set", k.SASLPlaintext, saslBlock("plain"), secrets(kafkatest.User, "")[:1], 2, secretPassword},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := "refused-" + strings.ReplaceAll(tc.name, " ", "-")
			file := writePipeline(t, fmt.Sprintf(securePipeline, name, tc.addr, tc.block))
			p := start(t, binary(t, ""), tc.env, "run", file, "--data", t.TempDir())
			code := p.exitCode(t, time.Minute)
			out := p.output()
			if code != tc.code || !strings.Contains(out, tc.want) {
				t.Errorf("exit code %d, want %d and %q in:\n%s", code, tc.code, tc.want, out)
			}
			if tc.code == 1 && (strings.Count(out, "wgate: ") != 1 || strings.Count(out, "\n  next: ") != 1 || strings.Count(out, "\n") != 2) {
				t.Errorf("want one error and what to do next:\n%s", out)
			}
			if strings.Contains(out, "wr0ng") || strings.Contains(out, kafkatest.Password+"\n") {
				t.Errorf("the password is printed:\n%s", out)
			}
		})
	}
}

// otherCA makes a certificate that has signed nothing of the broker.
func otherCA(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "another authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: raw}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
