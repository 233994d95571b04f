"""Options and argument types that several commands share."""

import os
import re
import shlex
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure
from moldau.cli.profiles import BOOTSTRAP_SERVERS, Profiles
from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties

DEFAULT_BOOTSTRAP_SERVER = "localhost:9092"
BOOTSTRAP_VARIABLE = "MOLDAU_BOOTSTRAP_SERVER"
PROFILE_VARIABLE = "MOLDAU_PROFILE"
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


_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SHORT_SPAN = re.compile(r"(\d+)(ms|s|m|h|d)")
_ISO_SPAN = re.compile(
    r"P(?=.)(?:(?P<days>\d+)D)?(?:T(?=.)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


def parse_span(text: str) -> timedelta | None:
    """`90s`, `15m`, `2h`, `7d`, or ISO 8601's `P1DT6H`; None if it is neither. May raise OverflowError."""
    if short := _SHORT_SPAN.fullmatch(text):
        return timedelta(**{_UNITS[short[2]]: int(short[1])})
    if iso := _ISO_SPAN.fullmatch(text):
        return timedelta(**{unit: float(count) for unit, count in iso.groupdict().items() if count})
    return None


class Duration(click.ParamType[int]):
    """A span of time, as milliseconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip()
        if isinstance(value, int):
            return value
        try:
            span = parse_span(text)
        except OverflowError:
            span = None
        if span is None:
            self.fail(f"'{text}' is not a duration: use 90s, 15m, 2h, 7d or ISO 8601 (P1DT6H).", param, ctx)
        return int(span.total_seconds() * 1000)


class Timestamp(click.ParamType[int]):
    """A point in time, as milliseconds since the epoch: a number, ISO 8601, or how long ago.

    Never negative, because brokers give negative timestamps a special meaning.
    """

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip()
        if text.isdecimal():
            return int(text)
        try:
            if (ago := parse_span(text)) is not None:
                return max(0, int((datetime.now(UTC) - ago).timestamp() * 1000))
            return max(0, int(datetime.fromisoformat(text).timestamp() * 1000))
        except (ValueError, OverflowError):
            self.fail(
                f"'{text}' is not a time: use milliseconds since 1970, ISO 8601 (2026-01-31T12:00:00Z; "
                "local time without a zone) or how long ago (90s, 15m, 2h, 7d).",
                param,
                ctx,
            )


def complete_profile(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    try:
        return [name for name in Profiles.load().named if name.startswith(incomplete)]
    except Failure:
        return []


profile_option = click.option(
    "--profile",
    metavar="NAME",
    envvar=PROFILE_VARIABLE,
    show_envvar=True,
    shell_complete=complete_profile,
    help="A cluster stored with `moldau profile add`.",
)


def timeout_option(default_s: float) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--timeout",
        "timeout_s",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=default_s,
        show_default=True,
        help="How long to wait for an answer.",
    )


def on_cluster(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the cluster options. The command receives a `Cluster` as its first argument."""

    @click.option(
        "--bootstrap-server",
        "-b",
        metavar="HOST:PORT",
        envvar=BOOTSTRAP_VARIABLE,
        show_envvar=True,
        help="The address of the cluster; several are separated by commas. Default: bootstrap.servers of "
        "the --command-config, that of the profile, or "
        f"{DEFAULT_BOOTSTRAP_SERVER}.",
    )
    @profile_option
    @click.option(
        "--command-config",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="A properties file for the Kafka client: security.protocol, sasl.*, ssl.* and others.",
    )
    @click.option(
        "--command-property",
        "-X",
        metavar="KEY=VALUE",
        type=KeyValue(),
        multiple=True,
        help="One client property. Overrides the file. Repeatable.",
    )
    @timeout_option(10)
    @wraps(function)
    def run(
        bootstrap_server: str | None,
        profile: str | None,
        command_config: str | None,
        command_property: Iterable[tuple[str, str]],
        timeout_s: float,
        **arguments: Any,
    ) -> Any:
        given = read_properties(command_config) if command_config else {}
        given.update(command_property)
        servers_given = given.pop(BOOTSTRAP_SERVERS, None)
        servers, properties = locate(bootstrap_server or servers_given, profile)
        properties.update(given)
        with closing(Cluster(servers, properties, timeout_s)) as cluster:
            return function(cluster, **arguments)

    return run


def given_cluster_options() -> str:
    """The cluster options on the command line, to follow a command that is to be pasted. Values given with -X may be
    passwords: only their names are repeated."""
    context = click.get_current_context()
    given = [
        f" --{name.replace('_', '-')} {shlex.quote(context.params[name])}"
        for name in ("bootstrap_server", "profile", "command_config")
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    return "".join([*given, *(f" -X {key}=..." for key, _ in context.params["command_property"])])


def locate(bootstrap_server: str | None, profile: str | None) -> tuple[str, dict[str, str]]:
    """Addresses and client properties from the options, the profile given, or the current profile.

    An address given without a profile gets no properties of the current profile, which would send its passwords to
    another cluster.
    """
    if profile is None and bootstrap_server:
        return bootstrap_server, {}
    profiles = Profiles.load()
    chosen = profile or profiles.current
    kept = profiles.get(chosen) if chosen else {}
    # The registry's address in a profile is not a property of the Kafka client.
    properties = {key: value for key, value in kept.items() if not key.startswith("schema.registry.")}
    servers = properties.pop(BOOTSTRAP_SERVERS, DEFAULT_BOOTSTRAP_SERVER)
    return bootstrap_server or servers, properties


def read_properties(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8") as file:
            found = parse_properties(file.read(), file=path)
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        raise click.UsageError(f"Cannot use {path}: {error}.") from error
    return {item.name: item.value for item in found}


def complete_topic(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(ctx, incomplete, lambda cluster: cluster.topic_names())


def complete_group(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    # Imported here because only shell completion needs it.
    from moldau.cli.client.group_queries import list_groups

    return complete_names(ctx, incomplete, lambda cluster: [listed.group for listed in list_groups(cluster)])


def complete_names(
    ctx: click.Context, incomplete: str, names: Callable[[Cluster], Iterable[str]]
) -> list[str]:
    """Names for shell completion. Empty without a broker: completion must not print errors."""
    told = ctx.params.get("bootstrap_server") or os.environ.get(BOOTSTRAP_VARIABLE)
    profile = ctx.params.get("profile") or os.environ.get(PROFILE_VARIABLE)
    try:
        cluster = Cluster(*locate(told, profile), COMPLETION_TIMEOUT_S)
        return [name for name in names(cluster) if name.startswith(incomplete)]
    except (Failure, click.UsageError):
        return []
