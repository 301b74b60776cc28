package observe

import "github.com/prometheus/client_golang/prometheus"

// metric is one of the names that dashboards and alerts rely on: none is renamed or given other labels without an entry in
// CHANGELOG.md. docs/metrics.md lists the same, which a test checks.
type metric struct {
	name   string
	kind   prometheus.ValueType
	help   string
	labels []string
	desc   *prometheus.Desc
}

func newMetric(name string, kind prometheus.ValueType, help string, labels ...string) *metric {
	return &metric{name, kind, help, labels, prometheus.NewDesc(name, help, labels, nil)}
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

var (
	pipelineState = newMetric("wgate_pipeline_state", gauge,
		"1 for the state that the pipeline is in.", "pipeline", "state")
	recordsIn = newMetric("wgate_records_in_total", counter,
		"Rows that came to the block.", "pipeline", "block")
	recordsOut = newMetric("wgate_records_out_total", counter,
		"Rows that the block gave.", "pipeline", "block")
	lateRecords = newMetric("wgate_late_records_total", counter,
		"Rows that came for a window that was closed.", "pipeline", "block")
	noWindow = newMetric("wgate_no_window_records_total", counter,
		"Rows that lie in no window.", "pipeline", "block")
	behind = newMetric("wgate_behind_watermark_records_total", counter,
		"Rows whose event time the block set to behind the watermark.", "pipeline", "block")
	future = newMetric("wgate_future_records_total", counter,
		"Records too far ahead of their arrival to move the watermark.", "pipeline", "block")
	deadLetters = newMetric("wgate_dead_letters_total", counter,
		"Failed rows that went to the dead letters.", "pipeline", "block")
	skipped = newMetric("wgate_skipped_records_total", counter,
		"Failed rows that on_error = \"skip\" passed over.", "pipeline", "block")
	watermark = newMetric("wgate_watermark_timestamp_ms", gauge,
		"Watermark of the block's input (of a source: its own), in milliseconds since the epoch. Absent until there is one.", "pipeline", "block")
	sourceLag = newMetric("wgate_source_lag", gauge,
		"Records of the partition that are there and not yet read. Absent until known.", "pipeline", "source", "topic", "partition")
	sourcePosition = newMetric("wgate_source_position", gauge,
		"Offset of the next record to read.", "pipeline", "source", "topic", "partition")
	sourceWatermark = newMetric("wgate_source_watermark_timestamp_ms", gauge,
		"Watermark of the partition, in milliseconds since the epoch. Absent until there is one.", "pipeline", "source", "topic", "partition")
	sourceIdle = newMetric("wgate_source_idle", gauge,
		"1 while the partition is idle and holds no watermark back.", "pipeline", "source", "topic", "partition")
	sourceHeld = newMetric("wgate_source_held", gauge,
		"1 while the partition waits for slower ones (max_ahead).", "pipeline", "source", "topic", "partition")
	epochs = newMetric("wgate_epochs_total", counter,
		"Epochs committed.", "pipeline")
	lastCommit = newMetric("wgate_last_commit_timestamp_ms", gauge,
		"When the last epoch was committed, in milliseconds since the epoch. Absent until there is one.", "pipeline")
	epochBytes = newMetric("wgate_state_epoch_bytes", gauge,
		"Bytes of state that the running epoch has written so far.", "pipeline")
	stateBytes = newMetric("wgate_state_bytes", gauge,
		"Bytes of keys and values that the block keeps, counted every few seconds. Absent where it is not known.", "pipeline", "block")
	pluginCalls = newMetric("wgate_plugin_calls_total", counter,
		"Calls of the plugin; one call takes many rows.", "pipeline", "block", "plugin")
	pluginSeconds = newMetric("wgate_plugin_seconds_total", counter,
		"Seconds spent in calls of the plugin.", "pipeline", "block", "plugin")
)

// metrics are all of them, in the order of docs/metrics.md.
var metrics = []*metric{
	pipelineState, recordsIn, recordsOut, lateRecords, noWindow, behind, future, deadLetters, skipped, watermark,
	sourceLag, sourcePosition, sourceWatermark, sourceIdle, sourceHeld,
	epochs, lastCommit, epochBytes, stateBytes, pluginCalls, pluginSeconds,
}
