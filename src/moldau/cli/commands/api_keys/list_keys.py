"""`moldau api-keys list` and `describe`."""

from typing import Any

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.api_keys.kept_keys import (
    KeptKey,
    complete_account,
    complete_key,
    find_keys,
    kept_keys,
)
from moldau.cli.commands.api_keys.key_notes import read_notes
from moldau.cli.options import on_cluster
from moldau.cli.render.output import about, columns, document_option, output_option, print_data


@click.command("list")
@click.option("--account", shell_complete=complete_account, help="Only the keys of this account.")
@output_option
@on_cluster
def list_keys(cluster: Cluster, account: str | None, output: str) -> None:
    """List API keys. Their secrets are known to nobody but those who use them."""
    found = [kept for kept in kept_keys(cluster) if account in (None, kept.key.account)]
    notes = read_notes(cluster) if found else {}
    if output != "table":
        print_data(output, [_as_data(kept, notes.get(kept.key.name)) for kept in found])
    elif found:
        rows = [
            (kept.key.account, kept.key.name, _end(kept), kept.state, notes.get(kept.key.name))
            for kept in found
        ]
        headings = ("ACCOUNT", "KEY", "LAST DAY", "STATE", "DESCRIPTION")
        click.echo(columns(headings, rows, drop_empty=True))
    else:
        click.echo("No API keys." if account is None else f"Account '{account}' has no API keys.", err=True)


@click.command("describe")
@click.argument("name", metavar="KEY", shell_complete=complete_key)
@document_option
@on_cluster
def describe(cluster: Cluster, name: str, output: str) -> None:
    """Describe KEY, which is the name of an API key or its ID."""
    (kept,) = find_keys(cluster, [name])
    note = read_notes(cluster).get(kept.key.name)
    if output != "table":
        print_data(output, _as_data(kept, note))
        return
    facts = [
        ("Key", kept.key.name),
        ("Account", kept.key.account),
        ("Principal", f"User:{kept.key.account} (at other brokers than Moldau's: User:{kept.key.name})"),
        ("Last day", f"{_end(kept) or 'none'} ({kept.state})"),
        ("Mechanisms", ", ".join(kept.mechanisms)),
    ]
    click.echo(about([*facts, ("Description", note)] if note else facts))


def _end(kept: KeptKey) -> str | None:
    return None if kept.key.last_day is None else kept.key.last_day.isoformat()


def _as_data(kept: KeptKey, note: str | None) -> dict[str, Any]:
    return {
        "key": kept.key.name,
        "id": kept.key.key_id,
        "account": kept.key.account,
        "last_day": _end(kept),
        "state": kept.state,
        "mechanisms": list(kept.mechanisms),
        "description": note,
    }
