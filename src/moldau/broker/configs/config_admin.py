"""Describes and changes the configuration of any resource, for the handlers of the config APIs."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from moldau.broker.configs.broker_loggers import alter_loggers, logger_entries
from moldau.broker.configs.config_changes import Change, apply_changes, replace_all
from moldau.broker.configs.config_entries import (
    ConfigEntry,
    all_brokers_entries,
    broker_entries,
    resource_entries,
    topic_entries,
)
from moldau.broker.configs.config_store import ConfigStore, ResourceType, Texts
from moldau.broker.configs.config_targets import (
    ALL_BROKERS,
    Target,
    check_broker_name,
    check_filled,
    find_target,
)
from moldau.broker.topics.topic_rules import topic_name_problem
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, ConfigError
from moldau.core.settings.resolve import ConfigSource, resolve_group
from moldau.core.settings.resource_keys import ClientMetricsSettings


class Named(Protocol):
    """A resource as a config API names it."""

    @property
    def resource_type(self) -> int: ...

    @property
    def resource_name(self) -> str: ...


Resource = TypeVar("Resource", bound=Named)


def describe(configs: ConfigStore, kind: int, name: str) -> Iterable[ConfigEntry]:
    """All keys of a resource. ApiError when the resource does not exist."""
    match kind:
        case ResourceType.TOPIC:
            return describe_topic(configs, _topic_configs(configs, name))
        case ResourceType.BROKER if name == ALL_BROKERS:
            return all_brokers_entries(configs.layers.dynamic_default)
        case ResourceType.BROKER:
            check_broker_name(
                configs, name, "Unexpected broker id, expected {0} or empty string, but received {1}"
            )
            return broker_entries(configs.layers, configs.broker)
        case ResourceType.BROKER_LOGGER:
            check_filled(name, "Broker id must not be empty")
            check_broker_name(configs, name, "Unexpected broker id, expected {0} but received {1}")
            return logger_entries()
        case ResourceType.GROUP:
            check_filled(name, "Group name must not be empty")
            texts = configs.groups.get(name, {})
            return resource_entries(resolve_group(configs.broker, texts), texts, ConfigSource.GROUP_CONFIG)
        case ResourceType.CLIENT_METRICS:
            check_filled(name, "Client metrics subscription name must not be empty")
            texts = configs.client_metrics.get(name, {})
            settings = ClientMetricsSettings.parse(texts)
            return resource_entries(settings, texts, ConfigSource.CLIENT_METRICS_CONFIG)
    raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")


def describe_topic(configs: ConfigStore, overrides: Texts) -> Iterable[ConfigEntry]:
    return topic_entries(configs.layers, configs.topic_settings(overrides), overrides)


def resource_names(configs: ConfigStore, kind: int) -> list[str]:
    """The resources of one type that have settings, or can have them."""
    match kind:
        case ResourceType.TOPIC:
            return [entry.name for entry in configs.catalog.topics()]
        case ResourceType.BROKER | ResourceType.BROKER_LOGGER:
            return [str(configs.broker_id)]
        case ResourceType.GROUP:
            return list(configs.groups)
        case ResourceType.CLIENT_METRICS:
            return list(configs.client_metrics)
    raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"Unknown resource type {kind}")


async def change_each(
    resources: Sequence[Resource], change: Callable[[Resource], Awaitable[None]]
) -> AsyncIterator[tuple[Resource, ErrorCode, str | None]]:
    """Changes resources independently and yields each with its error code and message. A resource named twice
    fails twice."""
    times = Counter((each.resource_type, each.resource_name) for each in resources)
    for each in resources:
        try:
            if times[each.resource_type, each.resource_name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            await change(each)
        except ApiError as refusal:
            yield each, refusal.code, refusal.message
        else:
            yield each, ErrorCode.NONE, None


async def alter(
    configs: ConfigStore, kind: int, name: str, changes: Sequence[Change], *, validate_only: bool
) -> None:
    """Changes single settings, all or none. ApiError when one is rejected."""
    if kind == ResourceType.BROKER_LOGGER:
        check_broker_name(configs, name, "Unexpected node id. Expected {0}, but received {1}")
        alter_loggers(changes, validate_only=validate_only)
        return
    target = find_target(configs, kind, name)
    await _write(
        configs,
        target,
        lambda present: apply_changes(target.view, present, changes, target.text_in_force),
        validate_only=validate_only,
    )


async def replace(
    configs: ConfigStore,
    kind: int,
    name: str,
    values: Sequence[tuple[str, str | None]],
    *,
    validate_only: bool,
) -> None:
    """Replaces all settings of a resource."""
    target = find_target(configs, kind, name)
    texts = replace_all(values)
    await _write(configs, target, lambda _: texts, validate_only=validate_only)


async def _write(
    configs: ConfigStore, target: Target, edit: Callable[[Texts], dict[str, str]], *, validate_only: bool
) -> None:
    def edit_and_check(present: Texts) -> dict[str, str]:
        texts = edit(present)
        try:
            target.check(texts)
        except ConfigError as error:
            raise ApiError(target.refusal, str(error)) from None
        return texts

    texts = await configs.write(target.path, edit_and_check, needs=target.needs, validate_only=validate_only)
    if not validate_only:
        target.take_effect(texts)


def _topic_configs(configs: ConfigStore, name: str) -> Texts:
    problem = topic_name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    entry = configs.catalog.find(name)
    if entry is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    return entry.configs
