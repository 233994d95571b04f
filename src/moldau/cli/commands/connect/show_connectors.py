"""`moldau connect list`, `show` and `plugins`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote

import click

from moldau.cli.commands.connect.connect_http import ConnectHttp, Refused, connector_argument, on_connect
from moldau.cli.commands.connect.traces import reason_first
from moldau.cli.render.output import (
    about,
    columns,
    document_option,
    output_option,
    print_data,
    print_json,
)

UNKNOWN = "UNKNOWN"
"""Of a connector that has no status yet."""
HIDDEN_NAMES = ("password", "secret", "token", "credentials")


@click.command("list")
@click.argument("pattern", default="*")
@output_option
@on_connect
def list_connectors(connect: ConnectHttp, pattern: str, output: str) -> None:
    """List connectors with their states. PATTERN selects by name (`orders-*`)."""
    path = "/connectors?expand=info&expand=status"
    found = connect.ask("GET", path, doing="list the connectors")
    listed = [_listed(name, found[name]) for name in sorted(found) if fnmatchcase(name, pattern)]
    if output != "table":
        print_data(output, listed)
    elif listed:
        rows = [
            (one["name"], one["type"], one["state"], _counts(one["tasks"]), one["worker"]) for one in listed
        ]
        click.echo(columns(("NAME", "TYPE", "STATE", "TASKS", "WORKER"), rows))
    else:
        click.echo("No connectors." if pattern == "*" else f"No connector matches '{pattern}'.", err=True)


@click.command("show")
@connector_argument
@document_option
@on_connect
def show(connect: ConnectHttp, name: str, output: str) -> None:
    """Show state, tasks, settings and topics of the connector NAME."""
    doing = f"show '{name}'"
    info = connect.of(name, "GET", doing=doing)
    status = status_of(connect, name)
    topics = _topics(connect, name)
    if output == "json":
        print_json({**info, "status": status, "topics": topics})
        return
    tasks = status.get("tasks", [])
    facts = [
        ("name", name),
        ("type", info.get("type", UNKNOWN)),
        ("class", info["config"].get("connector.class", "")),
        ("state", status["connector"]["state"]),
        ("worker", status["connector"].get("worker_id", "")),
        ("topics", ", ".join(topics) or "-"),
    ]
    click.echo(about(facts))
    if tasks:
        rows = [(task["id"], task["state"], task["worker_id"]) for task in tasks]
        click.echo(f"\n{columns(('TASK', 'STATE', 'WORKER'), rows)}")
    settings = [(key, _shown(key, text)) for key, text in sorted(info["config"].items())]
    click.echo(f"\n{columns(('SETTING', 'VALUE'), settings)}")
    for what, one in [("the connector", status["connector"]), *((f"task {one['id']}", one) for one in tasks)]:
        if one.get("trace"):
            became = "waits" if one["state"] == "RUNNING" else "failed"
            click.echo(f"\nWhy {what} {became}:\n{reason_first(one['trace'])}")


@click.command("plugins")
@click.argument("plugin", required=False)
@click.option("--all", "everything", is_flag=True, help="Also converters, transformations and predicates.")
@output_option
@on_connect
def plugins(connect: ConnectHttp, plugin: str | None, everything: bool, output: str) -> None:
    """List the connectors that can be used, or the settings of PLUGIN."""
    if plugin is not None:
        _show_settings(connect, plugin, output)
        return
    query = "?connectorsOnly=false" if everything else ""
    found = connect.ask("GET", f"/connector-plugins{query}", doing="list the plugins")
    if output != "table":
        print_data(output, found)
        return
    rows = [(_short(one["class"]), one["type"], one.get("version"), one["class"]) for one in found]
    click.echo(columns(("NAME", "TYPE", "VERSION", "CLASS"), rows))


def _short(class_name: str) -> str:
    """What `connector.class` takes too."""
    return class_name.rpartition(".")[2].removesuffix("Connector")


def status_of(connect: ConnectHttp, name: str) -> dict[str, Any]:
    """Of a connector that exists. It may have no status yet."""
    try:
        found: dict[str, Any] = connect.ask(
            "GET", f"/connectors/{quote(name, safe='')}/status", doing=f"show the status of '{name}'"
        )
    except Refused:
        return {"name": name, "connector": {"state": UNKNOWN}, "tasks": []}
    return found


def _listed(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    status = found.get("status", {})
    connector = status.get("connector", {})
    return {
        "name": name,
        "type": found.get("info", status).get("type", UNKNOWN),
        "state": connector.get("state", UNKNOWN),
        "tasks": [task["state"] for task in status.get("tasks", [])],
        "worker": connector.get("worker_id"),
    }


def _counts(states: Sequence[str]) -> str | None:
    """`3 RUNNING`, or `2 RUNNING, 1 FAILED`."""
    counts = Counter(states)
    return ", ".join(f"{count} {state}" for state, count in counts.most_common()) or None


def _topics(connect: ConnectHttp, name: str) -> list[str]:
    try:
        found = connect.of(name, "GET", "/topics", doing=f"list the topics of '{name}'")
    except Refused:
        # The worker does not track them.
        return []
    return list(found.get(name, {}).get("topics", []))


def _shown(name: str, text: str) -> str:
    """A secret that was given as such is not shown; a reference to one is."""
    is_secret = any(part in name.lower() for part in HIDDEN_NAMES)
    return "[hidden]" if is_secret and not text.startswith("${") else text


def _show_settings(connect: ConnectHttp, plugin: str, output: str) -> None:
    path = f"/connector-plugins/{quote(plugin, safe='')}/config"
    found = connect.ask("GET", path, doing=f"show the settings of {plugin}")
    if output != "table":
        print_data(output, found)
        return
    rows = [
        (
            one["name"],
            str(one["type"]).lower(),
            "(required)" if one["required"] else one["default_value"] or None,
            one["documentation"],
        )
        for one in found
    ]
    click.echo(columns(("SETTING", "TYPE", "DEFAULT", "MEANING"), rows))
