"""Applies all declarations to a configuration, and the checks that need more than one setting."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.settings.text_form import parse_list
from moldau.pipeline.connect.api import ConnectError, Connector, SourceConnector
from moldau.pipeline.connect.converters.catalog import converter_class, make_converter
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, validate
from moldau.pipeline.connect.plugins import ConnectorPlugin
from moldau.pipeline.connect.runtime.secrets import Resolved
from moldau.pipeline.connect.runtime.task_settings import (
    ADMIN_OVERRIDE,
    CONSUMER_OVERRIDE,
    PRODUCER_OVERRIDE,
    SinkSettings,
    SourceSettings,
    TaskSettings,
)
from moldau.pipeline.connect.runtime.topic_creation import TopicRules
from moldau.pipeline.connect.server.checks.common_settings import CommonSettings, common_declarations
from moldau.pipeline.connect.server.checks.connector_limits import ConnectorLimits
from moldau.pipeline.connect.server.checks.topic_names import topic_name_errors
from moldau.pipeline.connect.transforms.chain import chain_declarations, chain_errors

OVERRIDES: Final = (PRODUCER_OVERRIDE, CONSUMER_OVERRIDE, ADMIN_OVERRIDE)
CREDENTIALS: Final = ("sasl.", "security.protocol")
POLICIES: Final = {"All": ("",), "None": (), "Principal": CREDENTIALS}
"""What follows the prefix of an override that is allowed."""
TASKS_MAX: Final = "tasks.max"


class WorkerRules(NamedTuple):
    """What the worker's settings allow connectors."""

    policy: str
    """One of POLICIES."""
    tasks_limit: int
    limits: ConnectorLimits


@dataclass(frozen=True, slots=True)
class Validated:
    """`declarations` and `values` have the same order."""

    plugin: ConnectorPlugin
    declarations: Sequence[Declaration]
    values: Sequence[ConfigValue]

    @property
    def errors(self) -> list[str]:
        return [error for value in self.values for error in value.errors]


def validated(
    plugin: ConnectorPlugin, config: Texts, resolved: Resolved, effective: Texts, rules: WorkerRules
) -> Validated:
    """`config` as it was given; `resolved` has its secrets; `effective` has the worker's converters too. Messages show
    no secret. May ask the connector's other system, and so take its time."""
    connector = plugin.connector
    found = [
        *common_declarations(plugin.kind, chain_declarations(resolved.config)),
        *connector.open_declarations(resolved.config),
        *connector.declarations,
    ]
    # A connector may declare a setting that all have, to give it another default.
    declarations = list({one.name: one for one in found}.values())
    values = {value.name: value for value in validate(declarations, resolved.config)}
    later = [
        *chain_errors(resolved.config),
        *_converter_errors(effective),
        *_kind_errors(plugin, resolved.config),
        *topic_name_errors(plugin, resolved.config),
        *_override_errors(resolved.config, rules.policy),
        *_count_errors(resolved.config, rules.tasks_limit),
    ]
    forbidden = list(rules.limits.path_errors(plugin, resolved.config))
    later += forbidden
    if not forbidden and not any(value.errors for value in values.values()):
        # What a connector checks relies on the values being of their types.
        later += _own_errors(connector, resolved.config)
    _merge(values, later)
    shown = [_shown(value, config, resolved) for value in values.values()]
    known = {one.name: one for one in declarations}
    return Validated(plugin, [known[value.name] for value in shown if value.name in known], shown)


def _merge(values: dict[str, ConfigValue], later: Iterable[ConfigValue]) -> None:
    for more in later:
        value = values.setdefault(more.name, replace(more, errors=[]))
        value.errors += [error for error in more.errors if error not in value.errors]
        value.recommended = more.recommended or value.recommended


def _shown(value: ConfigValue, config: Texts, resolved: Resolved) -> ConfigValue:
    return replace(
        value, value=config.get(value.name), errors=[resolved.mask(error) for error in value.errors]
    )


def _converter_errors(effective: Texts) -> Iterator[ConfigValue]:
    for use in ("key", "value", "header"):
        setting = f"{use}.converter"
        name = effective[setting]
        try:
            converter_class(name, setting)
            make_converter(name, use, effective)
        except ConfigError as wrong:
            yield ConfigValue(setting, name, errors=[str(wrong)])


def _kind_errors(plugin: ConnectorPlugin, config: Texts) -> Iterator[ConfigValue]:
    if plugin.kind == "sink":
        yield from _sink_errors(config)
    else:
        yield from _source_errors(plugin.connector, config)


def _sink_errors(config: Texts) -> Iterator[ConfigValue]:
    topics, regex = parse_list(config.get("topics", "")), config.get("topics.regex", "").strip()
    both = ("topics", "topics.regex")
    if not topics and not regex:
        for name in both:
            yield ConfigValue(name, None, errors=["Must configure one of topics or topics.regex"])
        return
    if topics and regex:
        text = "topics and topics.regex are mutually exclusive options, but both are set."
        for name in both:
            yield ConfigValue(name, config[name], errors=[text])
        return
    dead = config.get("errors.deadletterqueue.topic.name", "").strip()
    if dead and dead in topics:
        text = (
            f"The DLQ topic '{dead}' may not be included in the list of topics ('topics=[{', '.join(topics)}]') "
            "consumed by the connector"
        )
        yield ConfigValue("topics", config["topics"], errors=[text])
        return
    yield from _together(lambda: SinkSettings.of(config), config, "topics.regex" if regex else "topics")


def _source_errors(connector: type[Connector], config: Texts) -> Iterator[ConfigValue]:
    yield from _together(lambda: SourceSettings.of(config), config, "transaction.boundary")
    yield from _together(lambda: TopicRules.of(config), config, "topic.creation.groups")
    offsets = config.get("offsets.storage.topic")
    if offsets is not None and not offsets.strip():
        text = "Invalid value  for configuration offsets.storage.topic: String must be non-empty"
        yield ConfigValue("offsets.storage.topic", offsets, errors=[text])
    required = config.get("exactly.once.support", "").strip().lower() == "required"
    if required and issubclass(connector, SourceConnector) and not connector.is_exactly_once(config):
        text = "The connector does not support exactly-once semantics with the provided configuration."
        yield ConfigValue("exactly.once.support", config["exactly.once.support"], errors=[text])


def _together(parse: Callable[[], object], config: Texts, name: str) -> Iterator[ConfigValue]:
    """What the tasks would say. A wrong single value is reported under its own name already."""
    names = {*SinkSettings.KEYS, *SourceSettings.KEYS, *TaskSettings.KEYS}
    try:
        parse()
    except ConfigError as wrong:
        text = str(wrong)
        if not any(
            text.startswith(f"Invalid value {config.get(one)} for configuration {one}:") for one in names
        ):
            yield ConfigValue(name, config.get(name), errors=[text])


def _count_errors(config: Texts, limit: int) -> Iterator[ConfigValue]:
    """More tasks than the workers may be able to carry. What is no number is reported already."""
    text = config.get(TASKS_MAX)
    try:
        count = 1 if text is None else CommonSettings.KEYS[TASKS_MAX].parse(text)
    except ConfigError:
        return
    if count > limit:
        yield ConfigValue(
            TASKS_MAX,
            text,
            errors=[
                f"Invalid value {text} for configuration {TASKS_MAX}: a connector may have {limit} tasks at most, "
                "because each costs the workers threads, clients of Kafka and memory. Ask for fewer, or raise "
                "tasks.max.limit in the settings of the workers"
            ],
        )


def _override_errors(config: Texts, policy: str) -> Iterator[ConfigValue]:
    allowed = POLICIES[policy]
    for name, value in config.items():
        prefix = next((one for one in OVERRIDES if name.startswith(one)), None)
        if prefix is not None and not name.removeprefix(prefix).startswith(allowed):
            text = (
                f"The '{policy}' policy does not allow '{name.removeprefix(prefix)}' to be overridden in the connector "
                "configuration."
            )
            yield ConfigValue(name, value, errors=[text])


def _own_errors(connector: type[Connector], config: Mapping[str, str]) -> list[ConfigValue]:
    try:
        return list(connector.check(config))
    except (ConfigError, ConnectError) as wrong:
        return [ConfigValue("connector.class", config.get("connector.class"), errors=[str(wrong)])]
