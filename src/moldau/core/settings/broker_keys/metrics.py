"""Metrics."""

from moldau.core.settings.inert import JVM, KRAFT
from moldau.core.settings.key import LONG_MAX, Importance, Scope, integer, long, string, strings
from moldau.core.settings.view import SettingsView

CLUSTER = Scope.CLUSTER
LOW = Importance.LOW


class MetricsKeys(SettingsView):
    telemetry_max_bytes = integer(
        "telemetry.max.bytes",
        1 << 20,
        "The largest push of client metrics accepted (KIP-714).",
        at_least=1,
        importance=LOW,
    )
    metric_reporters = strings(
        "metric.reporters",
        ("org.apache.kafka.common.metrics.JmxReporter",),
        "Classes that receive metrics.",
        scope=CLUSTER,
        importance=LOW,
        inert=JVM,
    )
    metrics_num_samples = integer(
        "metrics.num.samples", 2, "Samples kept per metric.", at_least=1, importance=LOW, inert=JVM
    )
    metrics_recording_level = string(
        "metrics.recording.level", "INFO", "Highest recording level of metrics.", importance=LOW, inert=JVM
    )
    metrics_sample_window_ms = long(
        "metrics.sample.window.ms", 30_000, "Length of one sample.", at_least=1, importance=LOW, inert=JVM
    )
    kafka_metrics_polling_interval_secs = integer(
        "kafka.metrics.polling.interval.secs",
        10,
        "How often metrics reporters of the older kind run.",
        at_least=1,
        importance=LOW,
        inert=JVM,
    )
    kafka_metrics_reporters = strings(
        "kafka.metrics.reporters", (), "Metrics reporters of the older kind.", importance=LOW, inert=JVM
    )
    server_max_startup_time_ms = long(
        "server.max.startup.time.ms",
        LONG_MAX,
        "Longest time a start may take.",
        at_least=0,
        inert=KRAFT,
        internal=True,
    )
