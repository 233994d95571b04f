"""The small resources that have keys of their own: groups and client metrics subscriptions (KIP-714)."""

from moldau.core.settings.checks import OFFSET_RESET, one_of
from moldau.core.settings.inert import NO_SHARE_GROUPS, NO_STREAMS_GROUPS
from moldau.core.settings.key import Fallback, Scope, integer, string, strings
from moldau.core.settings.view import SettingsView

GROUP = Scope.GROUP
CLIENT_METRICS = Scope.CLIENT_METRICS


class GroupSettings(SettingsView):
    KIND = "group"

    consumer_heartbeat_interval_ms = integer(
        "consumer.heartbeat.interval.ms",
        5000,
        "Heartbeat interval of the group's members.",
        at_least=1,
        scope=GROUP,
        fallbacks=(Fallback("group.consumer.heartbeat.interval.ms"),),
    )
    consumer_session_timeout_ms = integer(
        "consumer.session.timeout.ms",
        45_000,
        "A member without a heartbeat for this long is removed.",
        at_least=1,
        scope=GROUP,
        fallbacks=(Fallback("group.consumer.session.timeout.ms"),),
    )
    share_auto_offset_reset = string(
        "share.auto.offset.reset",
        "latest",
        "Where a share group without a position starts.",
        check=OFFSET_RESET,
        scope=GROUP,
        inert=NO_SHARE_GROUPS,
    )
    share_heartbeat_interval_ms = integer(
        "share.heartbeat.interval.ms",
        5000,
        "Heartbeat interval of the share group's members.",
        at_least=1,
        scope=GROUP,
        fallbacks=(Fallback("group.share.heartbeat.interval.ms"),),
        inert=NO_SHARE_GROUPS,
    )
    share_isolation_level = string(
        "share.isolation.level",
        "read_uncommitted",
        "Whether a share group sees records of unfinished transactions.",
        check=one_of("read_committed", "read_uncommitted"),
        scope=GROUP,
        inert=NO_SHARE_GROUPS,
    )
    share_record_lock_duration_ms = integer(
        "share.record.lock.duration.ms",
        30_000,
        "How long a delivered record stays locked.",
        at_least=1000,
        scope=GROUP,
        fallbacks=(Fallback("group.share.record.lock.duration.ms"),),
        inert=NO_SHARE_GROUPS,
    )
    share_session_timeout_ms = integer(
        "share.session.timeout.ms",
        45_000,
        "A member without a heartbeat for this long is removed.",
        at_least=1,
        scope=GROUP,
        fallbacks=(Fallback("group.share.session.timeout.ms"),),
        inert=NO_SHARE_GROUPS,
    )
    streams_heartbeat_interval_ms = integer(
        "streams.heartbeat.interval.ms",
        5000,
        "Heartbeat interval of the streams group's members.",
        at_least=1,
        scope=GROUP,
        fallbacks=(Fallback("group.streams.heartbeat.interval.ms"),),
        inert=NO_STREAMS_GROUPS,
    )
    streams_initial_rebalance_delay_ms = integer(
        "streams.initial.rebalance.delay.ms",
        3000,
        "How long the first rebalance of an empty streams group waits for more members.",
        at_least=0,
        scope=GROUP,
        fallbacks=(Fallback("group.streams.initial.rebalance.delay.ms"),),
        inert=NO_STREAMS_GROUPS,
    )
    streams_num_standby_replicas = integer(
        "streams.num.standby.replicas",
        0,
        "Standby tasks per stateful task.",
        at_least=0,
        scope=GROUP,
        fallbacks=(Fallback("group.streams.num.standby.replicas"),),
        inert=NO_STREAMS_GROUPS,
    )
    streams_session_timeout_ms = integer(
        "streams.session.timeout.ms",
        45_000,
        "A member without a heartbeat for this long is removed.",
        at_least=1,
        scope=GROUP,
        fallbacks=(Fallback("group.streams.session.timeout.ms"),),
        inert=NO_STREAMS_GROUPS,
    )


class ClientMetricsSettings(SettingsView):
    KIND = "client metrics"

    interval_ms = integer(
        "interval.ms",
        300_000,
        "How often matching clients push their metrics.",
        at_least=100,
        at_most=3_600_000,
        scope=CLIENT_METRICS,
    )
    match = strings(
        "match",
        (),
        "Which clients: `client_id=`, `client_instance_id=`, `client_software_name=`, "
        "`client_software_version=`, `client_source_address=` or `client_source_port=` and a pattern each. "
        "Empty matches all.",
        scope=CLIENT_METRICS,
    )
    metrics = strings(
        "metrics",
        (),
        "Prefixes of the metrics to push. Empty asks for none, `*` for all.",
        scope=CLIENT_METRICS,
    )
