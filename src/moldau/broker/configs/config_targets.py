"""The resources whose settings can be changed: where they are stored, how they are checked, how a change
takes effect.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from moldau.broker.configs.config_rules import check_dynamic, client_patterns
from moldau.broker.configs.config_store import ConfigStore, ResourceType, Texts
from moldau.coordination import tree_layout as layout
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resolve import BrokerLayers, resolve_group, resolve_topic
from moldau.core.settings.resource_keys import ClientMetricsSettings, GroupSettings
from moldau.core.settings.text_form import format_value
from moldau.core.settings.topic_keys import TopicSettings
from moldau.core.settings.view import SettingsView

ALL_BROKERS: Final = ""
"""The name on the wire for all brokers."""


class Target(NamedTuple):
    path: str
    view: type[SettingsView]
    in_force: SettingsView
    """The values that apply where nothing is set."""
    refusal: ErrorCode
    """The error code for an invalid value."""
    check: Callable[[Texts], object]
    """Raises ConfigError or ApiError when the settings are invalid."""
    take_effect: Callable[[Texts], None]
    needs: str | None = None
    """A node that must exist, because the resource does not exist without it."""

    def text_in_force(self, key: str) -> str | None:
        return format_value(self.in_force.value_of(key))


def find_target(configs: ConfigStore, kind: int, name: str) -> Target:
    """ApiError when the resource does not exist."""
    match kind:
        case ResourceType.TOPIC:
            return _topic(configs, name)
        case ResourceType.BROKER:
            return _broker(configs, name)
        case ResourceType.GROUP:
            return _group(configs, name)
        case ResourceType.CLIENT_METRICS:
            return _client_metrics(configs, name)
    raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")


def _topic(configs: ConfigStore, name: str) -> Target:
    check_filled(name, "Default topic resources are not allowed.")
    if configs.catalog.find(name) is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    return Target(
        path=layout.topic_config_path(name),
        view=TopicSettings,
        in_force=configs.topic_settings({}),
        refusal=ErrorCode.INVALID_CONFIG,
        check=lambda texts: resolve_topic(configs.broker, texts),
        take_effect=lambda texts: configs.put_topic(name, texts),
        needs=layout.topic_path(name),
    )


def _broker(configs: ConfigStore, name: str) -> Target:
    for_all = name == ALL_BROKERS
    if not for_all:
        check_broker_name(configs, name, "Unexpected broker id, expected {0}, but received {1}")

    def changed(texts: Texts) -> BrokerLayers:
        layers = configs.layers
        return layers._replace(dynamic_default=texts) if for_all else layers._replace(dynamic=texts)

    def check(texts: Texts) -> None:
        check_dynamic(texts, for_all_brokers=for_all)
        configs.check_broker(changed(texts).settings())

    return Target(
        path=f"{layout.BROKER_CONFIGS}/{layout.ALL_BROKERS if for_all else name}",
        view=BrokerSettings,
        in_force=configs.broker,
        refusal=ErrorCode.INVALID_REQUEST,
        check=check,
        take_effect=lambda texts: configs.put_broker(changed(texts)),
    )


def _group(configs: ConfigStore, name: str) -> Target:
    check_filled(name, "Default group resources are not allowed.")
    return Target(
        path=f"{layout.GROUP_CONFIGS}/{layout.node_name(name)}",
        view=GroupSettings,
        in_force=resolve_group(configs.broker, {}),
        refusal=ErrorCode.INVALID_CONFIG,
        check=lambda texts: resolve_group(configs.broker, texts),
        take_effect=lambda texts: configs.put_group(name, texts),
    )


def _client_metrics(configs: ConfigStore, name: str) -> Target:
    check_filled(name, "Subscription name can't be empty")

    def check(texts: Texts) -> None:
        ClientMetricsSettings.parse(texts)
        client_patterns(texts.get("match", ""))

    return Target(
        path=f"{layout.CLIENT_METRICS_CONFIGS}/{layout.node_name(name)}",
        view=ClientMetricsSettings,
        in_force=ClientMetricsSettings({}),
        refusal=ErrorCode.INVALID_REQUEST,
        check=check,
        take_effect=lambda texts: configs.put_client_metrics(name, texts),
    )


def check_filled(name: str, complaint: str) -> None:
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, complaint)


def check_broker_name(configs: ConfigStore, name: str, complaint: str) -> None:
    """A broker changes and describes only its own settings and those of all brokers."""
    if not name.removeprefix("-").isdecimal():
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if int(name) != configs.broker_id:
        raise ApiError(ErrorCode.INVALID_REQUEST, complaint.format(configs.broker_id, name))
