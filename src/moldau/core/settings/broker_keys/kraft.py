"""The controller quorum of Apache Kafka. Declared so that a stock server.properties starts unchanged."""

from moldau.core.settings.checks import each_of
from moldau.core.settings.inert import KRAFT
from moldau.core.settings.key import Importance, boolean, integer, long, string, strings
from moldau.core.settings.view import SettingsView

HIGH = Importance.HIGH
LOW = Importance.LOW


class KraftKeys(SettingsView):
    process_roles = strings(
        "process.roles",
        ("broker",),
        "In Apache Kafka: whether a process is a broker, a controller or both.",
        check=each_of("broker", "controller"),
        importance=HIGH,
        inert=KRAFT,
    )
    controller_listener_names = strings(
        "controller.listener.names",
        (),
        "Listeners reserved for controllers. They are not opened here, so that a stock server.properties "
        "starts.",
        importance=HIGH,
        inert=KRAFT,
    )
    controller_quorum_append_linger_ms = integer(
        "controller.quorum.append.linger.ms",
        25,
        "How long the metadata leader collects writes before it flushes them.",
        at_least=0,
        inert=KRAFT,
    )
    controller_quorum_auto_join_enable = boolean(
        "controller.quorum.auto.join.enable",
        False,
        "Whether a controller adds itself to the voters.",
        importance=LOW,
        inert=KRAFT,
    )
    controller_quorum_bootstrap_servers = strings(
        "controller.quorum.bootstrap.servers",
        (),
        "Addresses of the controller quorum.",
        importance=HIGH,
        inert=KRAFT,
    )
    controller_quorum_voters = strings(
        "controller.quorum.voters", (), "The controllers as `id@host:port`.", importance=HIGH, inert=KRAFT
    )
    controller_quorum_election_backoff_max_ms = integer(
        "controller.quorum.election.backoff.max.ms",
        1000,
        "Longest wait before a new metadata election after a failed one.",
        at_least=0,
        importance=HIGH,
        inert=KRAFT,
    )
    controller_quorum_election_timeout_ms = integer(
        "controller.quorum.election.timeout.ms",
        1000,
        "Longest wait without a vote before a new metadata election.",
        at_least=0,
        importance=HIGH,
        inert=KRAFT,
    )
    controller_quorum_fetch_timeout_ms = integer(
        "controller.quorum.fetch.timeout.ms",
        2000,
        "Longest time without a fetch from the metadata leader before a new election.",
        at_least=0,
        importance=HIGH,
        inert=KRAFT,
    )
    controller_quorum_request_timeout_ms = integer(
        "controller.quorum.request.timeout.ms",
        2000,
        "Timeout of requests inside the metadata quorum.",
        at_least=0,
        inert=KRAFT,
    )
    controller_quorum_retry_backoff_ms = integer(
        "controller.quorum.retry.backoff.ms",
        20,
        "Wait before a failed request inside the metadata quorum is repeated.",
        at_least=0,
        importance=LOW,
        inert=KRAFT,
    )
    controller_socket_timeout_ms = integer(
        "controller.socket.timeout.ms", 30_000, "Socket timeout of requests to the controller.", inert=KRAFT
    )
    metadata_log_dir = string(
        "metadata.log.dir", None, "Directory of the KRaft metadata log.", importance=HIGH, inert=KRAFT
    )
    metadata_log_max_record_bytes_between_snapshots = long(
        "metadata.log.max.record.bytes.between.snapshots",
        20 << 20,
        "Bytes of metadata records between two snapshots.",
        at_least=1,
        importance=HIGH,
        inert=KRAFT,
    )
    metadata_log_max_snapshot_interval_ms = long(
        "metadata.log.max.snapshot.interval.ms",
        3_600_000,
        "Longest time between two metadata snapshots.",
        at_least=0,
        importance=HIGH,
        inert=KRAFT,
    )
    metadata_log_segment_bytes = integer(
        "metadata.log.segment.bytes",
        1 << 30,
        "Segment size of the metadata log.",
        at_least=8 << 20,
        importance=HIGH,
        inert=KRAFT,
    )
    metadata_log_segment_ms = long(
        "metadata.log.segment.ms",
        590625 << 10,
        "Longest time before the metadata log rolls.",
        importance=HIGH,
        inert=KRAFT,
    )
    metadata_max_idle_interval_ms = integer(
        "metadata.max.idle.interval.ms",
        500,
        "How often the idle metadata leader appends a no-op record.",
        at_least=0,
        importance=LOW,
        inert=KRAFT,
    )
    metadata_max_retention_bytes = long(
        "metadata.max.retention.bytes",
        100 << 20,
        "Bytes of metadata log and snapshots kept.",
        importance=HIGH,
        inert=KRAFT,
    )
    metadata_max_retention_ms = long(
        "metadata.max.retention.ms",
        590625 << 10,
        "How long metadata log and snapshots are kept.",
        importance=HIGH,
        inert=KRAFT,
    )
    broker_heartbeat_interval_ms = integer(
        "broker.heartbeat.interval.ms",
        2000,
        "How often a broker sends a heartbeat to the controller.",
        inert=KRAFT,
    )
    broker_session_timeout_ms = integer(
        "broker.session.timeout.ms",
        9000,
        "How long a broker may be silent before the controller fences it.",
        inert=KRAFT,
    )
    initial_broker_registration_timeout_ms = integer(
        "initial.broker.registration.timeout.ms",
        60_000,
        "How long a starting broker tries to register with the controller.",
        inert=KRAFT,
    )
    early_start_listeners = strings(
        "early.start.listeners",
        None,
        "Listeners that open before authorization is ready.",
        importance=HIGH,
        inert=KRAFT,
    )
    unstable_api_versions_enable = boolean(
        "unstable.api.versions.enable",
        False,
        "Whether API versions still in development are offered.",
        importance=HIGH,
        inert=KRAFT,
        internal=True,
    )
    unstable_feature_versions_enable = boolean(
        "unstable.feature.versions.enable",
        False,
        "Whether feature versions still in development are offered.",
        importance=HIGH,
        inert=KRAFT,
        internal=True,
    )
