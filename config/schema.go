package config

// schema says which attributes and blocks a body may have.
type schema struct {
	attrs  []string
	blocks []blockForm
	later  []string // attributes and blocks that the language has and this version has not
}

// blockForm is a block inside of a body. It may stand there once.
type blockForm struct {
	name   string
	labels int
}

// kind is a block at the top of a file.
type kind struct {
	name   string
	labels int
	once   bool // at most one in all files
}

// The blocks at the top of a file.
var kinds = []kind{
	{name: "pipeline", labels: 1, once: true},
	{name: "broker", labels: 1},
	{name: "source", labels: 1},
	{name: "plugin", labels: 1},
	{name: "transform", labels: 1},
	{name: "aggregate", labels: 1},
	{name: "sink", labels: 1},
	{name: "variable", labels: 1},
	{name: "local"},
}

// laterKinds are blocks of the language that this version cannot run.
var laterKinds = []string{"join", "set", "top", "table", "lookup", "merge", "view", "indicators", "moved"}

// errorAttrs stand in every block that can fail on a record.
var errorAttrs = []string{"on_error", "max_errors"}

var (
	pipelineSchema = schema{attrs: []string{"epoch", "delivery", "durability", "on_error", "max_errors"}}
	brokerSchema   = schema{attrs: []string{"addresses"}, blocks: []blockForm{{name: "tls"}, {name: "sasl"}}}
	tlsSchema      = schema{attrs: []string{"ca", "cert", "key", "server_name", "insecure_skip_verify"}}
	saslSchema     = schema{attrs: []string{"mechanism", "user", "password"}}
	variableSchema = schema{attrs: []string{"default"}}

	sourceSchema = schema{
		attrs:  append([]string{"decode", "event_time", "time_unit"}, errorAttrs...),
		blocks: []blockForm{{name: "kafka"}, {name: "file"}, {name: "watermark"}, {name: "schema"}},
	}
	sourceKafkaSchema = schema{attrs: []string{"broker", "topic", "topics", "pattern", "start", "stop", "isolation"}}
	fileSchema        = schema{attrs: []string{"path"}}
	watermarkSchema   = schema{attrs: []string{"out_of_order", "idle", "max_future", "max_ahead"}}

	pluginSchema = schema{
		attrs:  []string{"path", "sha256", "guard", "config"},
		blocks: []blockForm{{name: "limits"}, {name: "allow"}},
	}
	limitsSchema = schema{attrs: []string{"memory", "time", "output"}}
	allowSchema  = schema{attrs: []string{"http"}}

	transformSchema = schema{
		attrs: append([]string{"input", "do", "explode", "where", "set", "drop", "keep", "value", "event_time"}, errorAttrs...),
		later: []string{"inputs", "key", "null_key"},
	}
	aggregateSchema = schema{
		attrs: append([]string{
			"input", "key", "null_key", "trigger", "panes", "allowed_lateness", "compute", "combiner", "timestamp", "unchanged", "late",
		}, errorAttrs...),
		blocks: []blockForm{{name: "window", labels: 1}},
	}

	sinkSchema = schema{
		attrs:  append([]string{"input", "key", "null_key", "value", "headers", "encode", "changes"}, errorAttrs...),
		blocks: []blockForm{{name: "kafka"}, {name: "file"}, {name: "stdout"}},
		later:  []string{"cache"},
	}
	sinkKafkaSchema = schema{attrs: []string{"broker", "topic"}, blocks: []blockForm{{name: "create"}}}
	createSchema    = schema{attrs: []string{"partitions", "replication", "cleanup"}}
	stdoutSchema    = schema{}
)
