package main

import (
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host"
	"github.com/wgate/wgate/host/broker"
)

// defaultNode is where a node listens and where its clients look for it.
const defaultNode = "127.0.0.1:7420"

// defaultBroker is where the embedded broker of a node listens.
const defaultBroker = "127.0.0.1:9092"

// embeddedFlag is what chooses that address, for messages.
const embeddedFlag = "--embedded-broker=HOST:PORT"

func (s streams) serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run a node: it keeps pipelines, runs them and answers the other commands",
		Description: "The admin API has no password: whoever can reach it can run pipelines with the rights of this process. It\n" +
			"listens on the loopback interface and refuses requests of web pages. SIGTERM and Ctrl-C stop it after a last\n" +
			"commit of each pipeline; what ran then runs again at the next start. Every flag can be set as a variable.",
		Category: "Nodes",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: defaultNode, Usage: "`HOST:PORT` of the admin API", EnvVars: []string{"WGATE_LISTEN"}},
			&cli.StringFlag{Name: "data", Value: dataDir, Usage: "`FOLDER` of pipelines, plugins and state", EnvVars: []string{"WGATE_DATA"}},
			newOptionalFlag("embedded-broker", defaultBroker, "WGATE_EMBEDDED_BROKER",
				"for development: run a broker in this process, for pipelines without a broker block; =HOST:PORT says where"),
			&cli.StringFlag{Name: "files", Usage: "`FOLDER` in which pipelines may read and write files; without it they may not", EnvVars: []string{"WGATE_FILES"}},
			&cli.StringSliceFlag{Name: "allow-host", Usage: "further `NAME` under which the API may be asked; may be repeated", EnvVars: []string{"WGATE_ALLOW_HOST"}},
			&cli.StringFlag{Name: "plugin-cache", EnvVars: []string{"WGATE_PLUGIN_CACHE"}, Usage: "keep compiled plugins in `FOLDER` (default: in --data)"},
		}, logFlags...),
		Action: s.serve,
	}
}

func (s streams) serve(c *cli.Context) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	log, err := s.logger(c)
	if err != nil {
		return err
	}
	o := host.ServeOptions{
		NodeOptions: host.NodeOptions{
			DataDir: c.String("data"), Files: c.String("files"), Version: version, Log: log,
			Job: host.Options{Stdout: s.out, PluginCache: c.String("plugin-cache")},
		},
		Listen: c.String("listen"), AllowHosts: hosts(c.StringSlice("allow-host")),
	}
	if at := c.String("embedded-broker"); at != "" {
		o.Broker = func() (string, func() error, error) {
			b, err := startBroker(broker.Options{Listen: at, Flag: embeddedFlag, DataDir: filepath.Join(o.DataDir, "broker"), Log: log.With("part", "broker")})
			if err != nil {
				return "", nil, err
			}
			log.Warn("the embedded broker is for development: it ends with this process, and a kill may tear what it was writing", "address", b.Addr())
			return b.Addr(), closer(b), nil
		}
	}
	return host.Serve(c.Context, o)
}

// closer makes one function of what stops a broker.
func closer(b *broker.Broker) func() error {
	return func() error {
		b.Close()
		return nil
	}
}

// hosts splits values that came from a variable.
func hosts(values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	return out
}
