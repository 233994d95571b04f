"""The settings of a consumer group: its own, then the broker's (KIP-848)."""

from collections.abc import Mapping
from typing import Final

from moldau.broker.group.consumer.assignors import ASSIGNORS
from moldau.broker.group.settings import ConsumerSettings, MigrationPolicy
from moldau.core.settings.broker_keys import BrokerSettings

_KAFKA_NAMES: Final = {
    f"org.apache.kafka.coordinator.group.assignor.{name.capitalize()}Assignor": name for name in ASSIGNORS
}


def consumer_settings(broker: BrokerSettings, overrides: Mapping[str, str]) -> ConsumerSettings:
    """Overrides were valid when they were set. The broker's bounds may have changed since, and take
    precedence."""
    named = (_KAFKA_NAMES.get(name, name) for name in broker.group_consumer_assignors)
    return ConsumerSettings(
        session_timeout_ms=_within(
            overrides.get("consumer.session.timeout.ms"),
            broker.group_consumer_session_timeout_ms,
            broker.group_consumer_min_session_timeout_ms,
            broker.group_consumer_max_session_timeout_ms,
        ),
        heartbeat_interval_ms=_within(
            overrides.get("consumer.heartbeat.interval.ms"),
            broker.group_consumer_heartbeat_interval_ms,
            broker.group_consumer_min_heartbeat_interval_ms,
            broker.group_consumer_max_heartbeat_interval_ms,
        ),
        group_size_max=broker.group_consumer_max_size,
        assignors=tuple(name for name in named if name in ASSIGNORS) or tuple(ASSIGNORS),
        migration=MigrationPolicy(broker.group_consumer_migration_policy.lower()),
        regex_refresh_interval_ms=broker.group_consumer_regex_refresh_interval_ms,
    )


def _within(override: str | None, default: int, low: int, high: int) -> int:
    return default if override is None else min(max(int(override), low), high)
