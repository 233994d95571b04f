"""The settings that every connector has, in the groups and the order of Kafka Connect.

Most keys are those that tasks parse (`runtime/`). Here they get a group and a name for people.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from moldau.core.settings.checks import Check, one_of
from moldau.core.settings.key import ConfigKey, Importance, boolean, class_name, integer, string
from moldau.core.settings.view import SettingsView
from moldau.pipeline.connect.converters.catalog import CONVERTERS
from moldau.pipeline.connect.declarations import Declaration
from moldau.pipeline.connect.runtime.chain_settings import ChainSettings
from moldau.pipeline.connect.runtime.task_settings import SinkSettings, SourceSettings, TaskSettings

COMMON: Final = "Common"
ERRORS: Final = "Error Handling"
EXACTLY_ONCE: Final = "Exactly Once Support"
CREATION: Final = "Topic Creation"
OFFSETS_TOPIC: Final = "offsets.topic"
LOW: Final = Importance.LOW

_NO_CONTROL: Final = Check(
    lambda value: bool(value) and all(ord(one) >= 32 and one != "\x7f" for one in value),
    " that is not empty and has no control characters",
    "orders-from-files",
)


class _Row(NamedTuple):
    """A key that tasks parse, with what a form needs to know of it."""

    view: type[SettingsView]
    name: str
    group: str
    width: str
    display_name: str


class CommonSettings(SettingsView):
    """What the worker itself reads of a connector's configuration."""

    KIND = "connector"

    connector_name = string(
        "name",
        "",
        "Globally unique name to use for this connector.",
        check=_NO_CONTROL,
        importance=Importance.HIGH,
    )
    connector_class = string(
        "connector.class",
        "",
        "Name or alias of the class for this connector: the name of a Java connector, with or without its package, or "
        "the Python path module:Class.",
        importance=Importance.HIGH,
    )
    tasks_max = integer(
        "tasks.max",
        1,
        "Maximum number of tasks to use for this connector.",
        at_least=1,
        importance=Importance.HIGH,
    )
    enforces_tasks_max = boolean(
        "tasks.max.enforce",
        True,
        "Whether a connector that generates more tasks fails. False: there is only a warning.",
        importance=LOW,
    )
    reload_action = string(
        "config.action.reload",
        "restart",
        "What to do when a config provider reports another value. Secrets are read when a task starts.",
        check=one_of("none", "restart", ignore_case=True),
        importance=LOW,
    )


def _own(key: ConfigKey[Any], width: str, display_name: str, *, is_required: bool = False) -> Declaration:
    return Declaration(key, is_required=is_required, group=COMMON, width=width, display_name=display_name)


def _converter(use: str) -> Declaration:
    """Without a default: that of the worker is put into the answer."""
    key = class_name(
        f"{use}.converter",
        None,
        f"Converter class between values of connectors and the {use}s of records. Default: the worker's.",
        importance=LOW,
    )
    names = [one.java_name for one in CONVERTERS if use in one.uses]
    return Declaration(
        key,
        group=COMMON,
        width="SHORT",
        display_name=f"{use.capitalize()} converter class",
        recommends=lambda texts: names,
    )


def _declared(rows: Sequence[_Row]) -> tuple[Declaration, ...]:
    return tuple(
        Declaration(row.view.KEYS[row.name], group=row.group, width=row.width, display_name=row.display_name)
        for row in rows
    )


_FIRST: Final = (
    _own(CommonSettings.connector_name, "MEDIUM", "Connector name", is_required=True),
    _own(CommonSettings.connector_class, "LONG", "Connector class", is_required=True),
    _own(CommonSettings.tasks_max, "SHORT", "Tasks max"),
    _own(CommonSettings.enforces_tasks_max, "SHORT", "Enforce tasks max"),
    *(_converter(use) for use in ("key", "value", "header")),
)
_LAST: Final = (
    _own(CommonSettings.reload_action, "MEDIUM", "Reload Action"),
    *_declared(
        (
            _Row(ChainSettings, "errors.retry.timeout", ERRORS, "MEDIUM", "Retry Timeout for Errors"),
            _Row(
                ChainSettings,
                "errors.retry.delay.max.ms",
                ERRORS,
                "MEDIUM",
                "Maximum Delay Between Retries for Errors",
            ),
            _Row(ChainSettings, "errors.tolerance", ERRORS, "SHORT", "Error Tolerance"),
            _Row(TaskSettings, "errors.log.enable", ERRORS, "SHORT", "Log Errors"),
            _Row(ChainSettings, "errors.log.include.messages", ERRORS, "SHORT", "Log Error Details"),
            _Row(
                TaskSettings,
                "errors.deadletterqueue.topic.name",
                ERRORS,
                "MEDIUM",
                "Dead Letter Queue Topic Name",
            ),
            _Row(
                TaskSettings,
                "errors.deadletterqueue.topic.replication.factor",
                ERRORS,
                "MEDIUM",
                "Dead Letter Queue Topic Replication Factor",
            ),
            _Row(
                TaskSettings,
                "errors.deadletterqueue.context.headers.enable",
                ERRORS,
                "MEDIUM",
                "Enable Error Context Headers",
            ),
            _Row(TaskSettings, "errors.restart.max", ERRORS, "SHORT", "Restarts of a Failed Task"),
            _Row(TaskSettings, "task.call.timeout.ms", COMMON, "MEDIUM", "Time Limit of a Call"),
        )
    ),
)
_OF_SINKS: Final = _declared(
    (
        _Row(SinkSettings, "topics", COMMON, "LONG", "Topics"),
        _Row(SinkSettings, "topics.regex", COMMON, "LONG", "Topics regex"),
    )
)
_OF_SOURCES: Final = _declared(
    (
        _Row(SourceSettings, "topic.creation.groups", CREATION, "LONG", "Topic Creation Groups"),
        _Row(SourceSettings, "exactly.once.support", EXACTLY_ONCE, "SHORT", "Exactly once support"),
        _Row(SourceSettings, "transaction.boundary", EXACTLY_ONCE, "SHORT", "Transaction Boundary"),
        _Row(
            SourceSettings,
            "transaction.boundary.interval.ms",
            EXACTLY_ONCE,
            "SHORT",
            "Transaction boundary interval",
        ),
        _Row(SourceSettings, "offsets.storage.topic", OFFSETS_TOPIC, "LONG", "Offsets topic"),
    )
)


def common_declarations(kind: str, chain: Sequence[Declaration]) -> list[Declaration]:
    """`kind` is `source` or `sink`; `chain` are the declarations of transformations and predicates."""
    return [*_FIRST, *chain, *_LAST, *(_OF_SOURCES if kind == "source" else _OF_SINKS)]
