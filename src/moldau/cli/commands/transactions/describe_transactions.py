"""`moldau transactions list` and `describe`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from typing import Any

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_lag import LogState, log_states
from moldau.cli.client.transaction_queries import (
    UNDER_WAY,
    Transaction,
    active_producers,
    describe_transaction,
    list_transactions,
)
from moldau.cli.commands.transactions.abort import complete_transaction
from moldau.cli.options import Duration, on_cluster
from moldau.cli.render.output import about, columns, iso_time, output_option, print_data, seconds_text
from moldau.core.ids import TopicPartition


@click.command("list")
@click.argument("pattern", default="*")
@click.option(
    "--state",
    "states",
    multiple=True,
    help="Only transactions in this state: Ongoing, CompleteCommit, ... Repeatable.",
)
@click.option(
    "--longer-than", type=Duration(), help="Only transactions that have been open for longer: 30s, 15m, 2h."
)
@output_option
@on_cluster
def list_command(
    cluster: Cluster, pattern: str, states: Sequence[str], longer_than: int | None, output: str
) -> None:
    """List transactional ids. PATTERN selects by name (`orders-*`)."""
    found = [
        listed
        for listed in list_transactions(cluster, states, longer_than)
        if fnmatchcase(listed.transactional_id, pattern)
    ]
    if output != "table":
        print_data(output, [asdict(listed) for listed in found])
    elif found:
        rows = [
            (listed.transactional_id, listed.producer_id, listed.coordinator, listed.state)
            for listed in found
        ]
        click.echo(columns(("TRANSACTIONAL ID", "PRODUCER ID", "COORDINATOR", "STATE"), rows))
    else:
        click.echo(
            "No transactions." if pattern == "*" else f"No transactional id matches '{pattern}'.", err=True
        )


@click.command("describe")
@click.argument("transactional_id", metavar="ID", shell_complete=complete_transaction)
@output_option
@on_cluster
def describe(cluster: Cluster, transactional_id: str, output: str) -> None:
    """Show the transaction of ID. Includes state, age, and how much it blocks in each partition."""
    found = describe_transaction(cluster, transactional_id)
    leaders = cluster.leaders()
    # Deleted topics have no leader to ask.
    places = [place for place in found.partitions if place in leaders]
    logs = log_states(cluster, places)
    starts = {
        producer.place: producer.txn_start_offset
        for producer in active_producers(cluster, places)
        if producer.producer_id == found.producer_id
    }
    if output != "table":
        told = _as_json(found, logs, starts)
        waiting = [{"transactional_id": found.transactional_id, **each} for each in told["partitions"]]
        print_data(output, told, waiting)
        return
    click.echo(_as_text(found))
    if places:
        rows = [
            (
                place.topic,
                place.partition,
                starts.get(place),
                logs[place].stable_offset,
                logs[place].end_offset,
                _held_back(starts.get(place), logs[place]),
            )
            for place in places
        ]
        headings = ("TOPIC", "PARTITION", "FIRST OFFSET", "STABLE OFFSET", "END OFFSET", "HOLDS BACK")
        click.echo("\n" + columns(headings, rows))


def _held_back(start: int | None, log: LogState) -> int:
    """Offsets that readers cannot read because of this transaction, if it is the first one open."""
    return log.end_offset - start if start is not None and start == log.stable_offset else 0


def _as_json(
    found: Transaction, logs: Mapping[TopicPartition, LogState], starts: Mapping[TopicPartition, int | None]
) -> dict[str, Any]:
    return {
        "transactional_id": found.transactional_id,
        "state": found.state,
        "producer_id": found.producer_id,
        "producer_epoch": found.producer_epoch,
        "timeout_ms": found.timeout_ms,
        "started_ms": found.started_ms,
        "coordinator": str(found.coordinator),
        "partitions": [
            {
                **place._asdict(),
                "first_offset": starts.get(place),
                "stable_offset": log.stable_offset,
                "end_offset": log.end_offset,
                "holds_back": _held_back(starts.get(place), log),
            }
            for place, log in logs.items()
        ],
    }


def _as_text(found: Transaction) -> str:
    started = "-"
    if found.started_ms is not None and found.state in UNDER_WAY:
        age_s = max(0.0, time.time() - found.started_ms / 1000)
        started = f"{iso_time(found.started_ms)}, {seconds_text(age_s)} ago"
    return about(
        [
            ("Transactional id", found.transactional_id),
            ("State", found.state),
            ("Producer", f"{found.producer_id}, epoch {found.producer_epoch}"),
            ("Coordinator", str(found.coordinator)),
            ("Started", started),
            ("Timeout", f"{seconds_text(found.timeout_ms / 1000)}, after which the coordinator aborts it"),
        ]
    )
