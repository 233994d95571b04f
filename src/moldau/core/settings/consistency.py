"""Rejects settings that are valid one by one but contradict each other. Messages name the keys and what to do."""

from collections.abc import Sequence

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import listener_setting
from moldau.core.settings.listeners import Listener, advertised_endpoints, broker_listeners
from moldau.core.settings.resource_keys import GroupSettings
from moldau.core.settings.topic_keys import TopicSettings

CLEANER_BYTES_PER_THREAD_MIN = 1 << 20


def check_broker(settings: BrokerSettings) -> None:
    _check_identity(settings)
    _check_listeners(settings)
    if not settings.data_directories or not all(settings.data_directories):
        raise ConfigError(
            "log.dirs names no directory; name at least one, for example log.dirs=/var/lib/moldau"
        )
    if len(set(settings.data_directories)) < len(settings.data_directories):
        raise ConfigError(f"log.dirs names a directory twice: {','.join(settings.data_directories)}")
    if settings.replica_fetch_wait_max_ms > settings.replica_lag_time_max_ms:
        raise ConfigError(
            f"replica.fetch.wait.max.ms ({settings.replica_fetch_wait_max_ms}) is longer than "
            f"replica.lag.time.max.ms ({settings.replica_lag_time_max_ms}): idle followers would drop out of "
            "the in-sync replicas again and again; lower the first or raise the second"
        )
    per_thread = settings.log_cleaner_dedupe_buffer_size // max(settings.log_cleaner_threads, 1)
    if per_thread < CLEANER_BYTES_PER_THREAD_MIN:
        raise ConfigError(
            f"log.cleaner.dedupe.buffer.size ({settings.log_cleaner_dedupe_buffer_size}) leaves less than "
            f"1 MiB for each of log.cleaner.threads ({settings.log_cleaner_threads}); raise it or lower "
            "the threads"
        )
    if settings.group_min_session_timeout_ms > settings.group_max_session_timeout_ms:
        raise ConfigError(
            "group.min.session.timeout.ms is above group.max.session.timeout.ms; lower the first"
        )


def _check_identity(settings: BrokerSettings) -> None:
    if "broker" not in settings.process_roles:
        raise ConfigError(
            f"process.roles={','.join(settings.process_roles)} leaves out broker, the only role there is "
            "here: no controller is needed, brokers of a cluster have the same zookeeper.connect; add broker or remove "
            "the line"
        )
    if settings.broker_id not in (-1, settings.node_id):
        raise ConfigError(
            f"node.id ({settings.node_id}) and broker.id ({settings.broker_id}) differ, but name the same thing; "
            "keep one of the lines"
        )


def _check_listeners(settings: BrokerSettings) -> None:
    listeners = broker_listeners(settings)
    names = {listener.name for listener in listeners}
    for listener in listeners:
        _check_key_store(settings, listener)
    for name in advertised_endpoints(settings):
        if name not in names:
            raise ConfigError(
                f"advertised.listeners names {name}, which is not among the listeners "
                f"{', '.join(sorted(names))}"
            )
    _check_inter_broker(settings, listeners)


def _check_key_store(settings: BrokerSettings, listener: Listener) -> None:
    if not listener.protocol.has_tls:
        return
    keys = ("ssl.keystore.location", "ssl.keystore.certificate.chain")
    if not any(listener_setting(settings, listener.name, key) for key in keys):
        raise ConfigError(
            f"listener {listener.name} uses {listener.protocol.value} but has no certificate; set "
            "ssl.keystore.location (or ssl.keystore.certificate.chain and ssl.keystore.key), also as "
            f"listener.name.{listener.name.lower()}.ssl.keystore.location"
        )


def _check_inter_broker(settings: BrokerSettings, listeners: Sequence[Listener]) -> None:
    names = ", ".join(sorted(listener.name for listener in listeners))
    wanted = settings.inter_broker_listener_name
    protocol = settings.security_inter_broker_protocol
    is_default = protocol == BrokerSettings.security_inter_broker_protocol.default
    if wanted and not is_default:
        raise ConfigError(
            f"inter.broker.listener.name={wanted} and security.inter.broker.protocol={protocol} are both set; keep "
            "one of the lines"
        )
    found = next(
        (
            listener
            for listener in listeners
            if (listener.name == wanted.upper() if wanted else listener.protocol.value == protocol)
        ),
        None,
    )
    if found is None:
        if wanted:
            raise ConfigError(f"inter.broker.listener.name={wanted} is not among the listeners {names}")
        if not is_default:
            raise ConfigError(
                f"security.inter.broker.protocol={protocol}, but none of the listeners {names} has that protocol"
            )
        return
    mechanism = settings.sasl_mechanism_inter_broker_protocol
    enabled = listener_setting(settings, found.name, "sasl.enabled.mechanisms")
    if found.protocol.has_sasl and mechanism not in enabled:
        raise ConfigError(
            f"sasl.mechanism.inter.broker.protocol={mechanism} is not among the mechanisms of the listener between "
            f"brokers, {found.name}: {','.join(enabled)}; add it to sasl.enabled.mechanisms or choose one of these"
        )


def check_group(settings: GroupSettings, broker: BrokerSettings) -> None:
    """A group's own timeouts must stay within the broker's bounds."""
    for protocol in ("consumer", "share", "streams"):
        for name in ("session.timeout.ms", "heartbeat.interval.ms"):
            key = f"{protocol}.{name}"
            value = settings.value_of(key)
            for bound, is_outside in (("min", value.__lt__), ("max", value.__gt__)):
                bound_key = f"group.{protocol}.{bound}.{name}"
                if is_outside(broker.value_of(bound_key)):
                    side = "greater" if bound == "min" else "less"
                    raise ConfigError(f"{key} must be {side} than or equal to {bound_key}")
        if settings.value_of(f"{protocol}.heartbeat.interval.ms") >= settings.value_of(
            f"{protocol}.session.timeout.ms"
        ):
            raise ConfigError(
                f"{protocol}.session.timeout.ms must be greater than {protocol}.heartbeat.interval.ms"
            )


def check_topic(settings: TopicSettings) -> None:
    if settings.min_compaction_lag_ms > settings.max_compaction_lag_ms:
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({settings.min_compaction_lag_ms}) > "
            f"max.compaction.lag.ms ({settings.max_compaction_lag_ms})"
        )
    if settings.remote_storage_enable:
        raise ConfigError(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote "
            "log storage."
        )
