"""`moldau connect create`, `edit` and `validate`."""

import time
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any
from urllib.parse import quote

import click
import orjson

from moldau.cli.commands.connect.connect_http import ConnectHttp, Refused, connector_argument, on_connect
from moldau.cli.commands.connect.show_connectors import status_of
from moldau.cli.commands.connect.traces import reason_first
from moldau.cli.failures import Failure
from moldau.cli.options import KeyValue
from moldau.cli.render.output import columns, document_option, print_json
from moldau.core.errors import ConfigError
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.server.config_checks import UNKNOWN_SHOWN, unknown_names
from moldau.pipeline.connect.server.connector_files import GivenConnector, read_connector

RUNNING, PAUSED, STOPPED = STATES = ("running", "paused", "stopped")
ACTIONS = {RUNNING: "resume", PAUSED: "pause", STOPPED: "stop"}
"""By the state that they bring a connector to."""
CONFLICT = 409
LOOK_EVERY_S = 0.3

set_option = click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    type=KeyValue(),
    multiple=True,
    help="A setting. Overrides the file. Repeatable.",
)
file_argument = click.argument("file", type=click.File("r", encoding="utf-8"), required=False)


@click.command("create")
@file_argument
@click.option("--name", help="The name of the connector. Overrides the file.")
@set_option
@click.option("--state", type=click.Choice(STATES), help="The state it begins in, or with --replace goes to.")
@click.option(
    "--replace", is_flag=True, help="Give a connector that exists these settings instead of its own."
)
@click.option(
    "--wait",
    "wait_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    help="Wait until it runs with all its tasks. Fails when one of them does.",
)
@on_connect
def create(
    connect: ConnectHttp,
    file: Any,
    name: str | None,
    changes: Iterable[tuple[str, str]],
    state: str | None,
    replace: bool,
    wait_s: float | None,
) -> None:
    """Create a connector from FILE: YAML, JSON or .properties; - reads YAML or JSON from standard input.

    \b
    moldau connect create orders.yaml
    moldau connect create --name lines --set connector.class=FileStreamSource --set file=a.txt --set topic=lines
    """
    given = _given(file, name, changes)
    if not given.name:
        raise click.UsageError("Name the connector: with --name, or with `name` in the file.")
    _warn_of_unknown(connect, given.config)
    doing = f"create '{given.name}'"
    if replace:
        _replace(connect, given, state, doing)
    else:
        _create(connect, given, state, doing)
    if wait_s is not None:
        _wait(connect, given.name, wait_s)
    click.echo(f"Created '{given.name}'." if not replace else f"'{given.name}' has these settings now.")


@click.command("edit")
@connector_argument
@set_option
@click.option("--unset", "removed", metavar="KEY", multiple=True, help="Remove a setting. Repeatable.")
@on_connect
def edit(connect: ConnectHttp, name: str, changes: Iterable[tuple[str, str]], removed: Iterable[str]) -> None:
    """Change settings of the connector NAME. Without --set and --unset, opens them in $EDITOR.

    Its tasks start again with the new settings and go on where they were.
    """
    doing = f"change '{name}'"
    before: dict[str, str] = connect.of(name, "GET", "/config", doing=doing)
    changed, gone = dict(changes), set(removed)
    if unknown := sorted(gone - before.keys()):
        raise Failure(
            f"'{name}' has no setting {unknown[0]}{nearest_text(unknown[0], before)}. Nothing was changed."
        )
    if changed or gone:
        after = {key: text for key, text in {**before, **changed}.items() if key not in gone}
    else:
        after = _edited(name, before)
    if after == before:
        click.echo("Nothing was changed.")
        return
    _warn_of_unknown(connect, after)
    connect.of(name, "PUT", "/config", doing=doing, body=after)
    differing = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    click.echo(f"Changed {', '.join(differing)} of '{name}'.")


@click.command("validate")
@file_argument
@click.option("--name", help="The name of the connector. Overrides the file.")
@set_option
@document_option
@on_connect
def validate(
    connect: ConnectHttp, file: Any, name: str | None, changes: Iterable[tuple[str, str]], output: str
) -> None:
    """Check the settings in FILE without creating a connector. The exit code is 1 if something is wrong."""
    given = _given(file, name, changes)
    found = _validated(connect, given.config)
    wrong = [(one["value"]["name"], error) for one in found["configs"] for error in one["value"]["errors"]]
    unknown = _unknown(given.config, found)
    if output == "json":
        print_json({**found, "unknown": unknown})
    elif wrong:
        click.echo(columns(("SETTING", "ERROR"), wrong))
    else:
        click.echo("The settings are valid.")
    if output != "json":
        _print_unknown(unknown)
    if wrong:
        click.get_current_context().exit(1)


def _create(connect: ConnectHttp, given: GivenConnector, state: str | None, doing: str) -> None:
    body: dict[str, Any] = {"name": given.name, "config": dict(given.config)}
    if (initial := state or given.initial_state) is not None:
        body["initial_state"] = initial.upper()
    connect.ask("POST", "/connectors", doing=doing, body=body)


def _replace(connect: ConnectHttp, given: GivenConnector, state: str | None, doing: str) -> None:
    """The state that a file says is for a new connector only."""
    try:
        _create(connect, given, state, doing)
        return
    except Refused as refused:
        # It exists. Wrong settings have another status: then nothing has changed.
        if refused.status != CONFLICT:
            raise
    # One that is to rest does so before it has the settings: it never runs with them.
    if state in (PAUSED, STOPPED):
        _bring(connect, given.name, state)
    connect.of(given.name, "PUT", "/config", doing=doing, body=dict(given.config))
    if state == RUNNING:
        _bring(connect, given.name, state)


def _bring(connect: ConnectHttp, name: str, state: str) -> None:
    action = ACTIONS[state]
    connect.of(name, "PUT", f"/{action}", doing=f"{action} '{name}'")


def _given(file: Any, name: str | None, changes: Iterable[tuple[str, str]]) -> GivenConnector:
    try:
        found = read_connector(file.name, file.read()) if file is not None else GivenConnector("", {})
    except (ConfigError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{error}.") from error
    named = {} if name is None else {"name": name}
    config = {**found.config, **named, **dict(changes)}
    if not config:
        raise click.UsageError("Give a FILE with the settings, or the settings with --set.")
    return found._replace(config=config)


def _edited(name: str, before: Mapping[str, str]) -> dict[str, str]:
    text = orjson.dumps(dict(sorted(before.items())), option=orjson.OPT_INDENT_2).decode()
    found = click.edit(f"{text}\n", extension=".json")
    if found is None:
        return dict(before)
    try:
        return dict(read_connector(f"{name}.json", found).config)
    except ConfigError as error:
        raise Failure(f"{error}. Nothing was changed.") from error


def _validated(connect: ConnectHttp, config: Mapping[str, str]) -> Mapping[str, Any]:
    plugin = config.get("connector.class", "")
    if not plugin:
        raise click.UsageError("There is no connector.class, which says what kind of connector it is.")
    path = f"/connector-plugins/{quote(plugin, safe='')}/config/validate"
    found: Mapping[str, Any] = connect.ask(
        "PUT", path, doing=f"validate a configuration of {plugin}", body=dict(config)
    )
    return found


def _unknown(config: Mapping[str, str], validated: Mapping[str, Any]) -> dict[str, str]:
    """Settings that nobody has declared, each with the nearest one, which is looked for as long as there are few."""
    known = {one["definition"]["name"] for one in validated["configs"] if one["definition"]}
    return {
        name: nearest_text(name, known) if number < UNKNOWN_SHOWN else ""
        for number, name in enumerate(unknown_names(config, known))
    }


def _warn_of_unknown(connect: ConnectHttp, config: Mapping[str, str]) -> None:
    if config.get("connector.class"):
        _print_unknown(_unknown(config, _validated(connect, config)))


def _print_unknown(unknown: Mapping[str, str]) -> None:
    for name, nearest in islice(unknown.items(), UNKNOWN_SHOWN):
        click.echo(f"Warning: unknown setting {name}{nearest or '.'} It has no effect.", err=True)
    if (more := len(unknown) - UNKNOWN_SHOWN) > 0:
        click.echo(f"Warning: {more} more unknown settings have no effect.", err=True)


def _wait(connect: ConnectHttp, name: str, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        status = status_of(connect, name)
        states = [status["connector"], *status["tasks"]]
        for one in states:
            if one["state"] == "FAILED":
                raise Failure(f"'{name}' was created, but fails:\n{reason_first(one.get('trace', ''))}")
        if len(states) > 1 and all(one["state"] == "RUNNING" for one in states):
            return
        if time.monotonic() > deadline:
            seen = ", ".join(one["state"] for one in states)
            raise Failure(
                f"'{name}' was created, but does not run after {wait_s:g} s: {seen}.",
                f"`moldau connect show {name}` shows its state. The first task waits for Spark to start.",
            )
        time.sleep(LOOK_EVERY_S)
