"""Options and arguments several commands share, and the types of their values."""

import os
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

import click

from moldau.cli.cluster import Cluster
from moldau.cli.failures import Failure
from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties

DEFAULT_BOOTSTRAP_SERVER = "localhost:9092"
BOOTSTRAP_VARIABLE = "MOLDAU_BOOTSTRAP_SERVER"
COMPLETION_TIMEOUT_S = 1.0


class KeyValue(click.ParamType[tuple[str, str]]):
    """`key=value`."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, separator, text = str(value).partition("=")
        if not separator or not key.strip():
            self.fail(f"'{value}' is not of the form KEY=VALUE.", param, ctx)
        return key.strip(), text


class Timestamp(click.ParamType[int]):
    """A point in time, as milliseconds since the epoch: a number, ISO 8601, or how long ago."""

    name = "time"
    _units = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip()
        if text.isdecimal():
            return int(text)
        ago = re.fullmatch(r"(\d+)(ms|s|m|h|d)", text)
        try:
            if ago:
                span = timedelta(**{self._units[ago[2]]: int(ago[1])})
                return int((datetime.now(UTC) - span).timestamp() * 1000)
            return int(datetime.fromisoformat(text).timestamp() * 1000)
        except (ValueError, OverflowError):
            self.fail(
                f"'{text}' is no time: give milliseconds since 1970, ISO 8601 (2026-01-31T12:00:00Z; "
                "local time without a zone) or how long ago (90s, 15m, 2h, 7d).",
                param,
                ctx,
            )


def on_cluster(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name a cluster; the command gets it as its first argument."""

    @click.option(
        "--bootstrap-server",
        "-b",
        metavar="HOST:PORT",
        envvar=BOOTSTRAP_VARIABLE,
        default=DEFAULT_BOOTSTRAP_SERVER,
        show_default=True,
        show_envvar=True,
        help="Where to find the cluster; several separated by commas.",
    )
    @click.option(
        "--command-config",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="A properties file for the Kafka client: security.protocol, sasl.*, ssl.* and the like.",
    )
    @click.option(
        "--command-property",
        "-X",
        metavar="KEY=VALUE",
        type=KeyValue(),
        multiple=True,
        help="One such property; may be repeated, and wins over the file.",
    )
    @click.option(
        "--timeout",
        "timeout_s",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=10,
        show_default=True,
        help="How long to wait for an answer.",
    )
    @wraps(function)
    def run(
        bootstrap_server: str,
        command_config: str | None,
        command_property: Iterable[tuple[str, str]],
        timeout_s: float,
        **arguments: Any,
    ) -> Any:
        properties = read_properties(command_config) if command_config else {}
        properties.update(command_property)
        return function(Cluster(bootstrap_server, properties, timeout_s), **arguments)

    return run


def read_properties(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8") as file:
            found = parse_properties(file.read(), file=path)
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        raise click.UsageError(f"Cannot use {path}: {error}.") from error
    return {item.name: item.value for item in found}


def complete_topic(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Topic names for the shell. No broker, no names; a completion must not complain."""
    server = (
        ctx.params.get("bootstrap_server") or os.environ.get(BOOTSTRAP_VARIABLE) or DEFAULT_BOOTSTRAP_SERVER
    )
    try:
        names = Cluster(server, {}, COMPLETION_TIMEOUT_S).topic_names()
    except Failure:
        return []
    return [name for name in names if name.startswith(incomplete)]
