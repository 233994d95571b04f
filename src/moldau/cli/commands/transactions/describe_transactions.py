"""`moldau transactions`: list, describe, producers, abort."""

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
    ListedTransaction,
    Producer,
    Transaction,
    active_producers,
    describe_transaction,
    list_transactions,
)
from moldau.cli.commands.transactions.abort import abort, complete_transaction
from moldau.cli.options import Duration, on_cluster
from moldau.cli.render.output import about, columns, output_option, print_data, seconds_text
from moldau.cli.render.record_output import iso_time
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.ids import TopicPartition


@click.group("transactions")
def command() -> None:
    """See who writes in transactions, who holds readers back, and end what hangs.

    A read_committed consumer gets no further than the last stable offset: the first record of the oldest open
    transaction of a partition.
    """


command.add_command(abort)


@command.command("list")
@click.argument("pattern", default="*")
@click.option(
    "--state", "states", multiple=True, help="Only those in this state: Ongoing, CompleteCommit, ..."
)
@click.option("--longer-than", type=Duration(), help="Only those that run for longer: 30s, 15m, 2h.")
@output_option
@on_cluster
def list_command(
    cluster: Cluster, pattern: str, states: Sequence[str], longer_than: int | None, output: str
) -> None:
    """List the transactional ids, or those that match PATTERN (`orders-*`)."""
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


@command.command("describe")
@click.argument("transactional_id", metavar="ID", shell_complete=complete_transaction)
@output_option
@on_cluster
def describe(cluster: Cluster, transactional_id: str, output: str) -> None:
    """Show state and age of transaction ID, and what it holds back in each of its partitions."""
    found = describe_transaction(cluster, transactional_id)
    leaders = cluster.leaders()
    # Of a deleted topic there is nobody to ask.
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
    """Offsets readers have to wait for because of this transaction, and of none before it."""
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
            ("Timeout", f"{seconds_text(found.timeout_ms / 1000)}; the coordinator then aborts it"),
        ]
    )


@command.command("producers")
@click.argument("topics", metavar="TOPIC[:PARTITIONS]...", type=TopicPartitions(), nargs=-1, required=True)
@click.option("--open", "only_open", is_flag=True, help="Only those with an open transaction.")
@output_option
@on_cluster
def producers(
    cluster: Cluster, topics: Sequence[tuple[str, Sequence[int]]], only_open: bool, output: str
) -> None:
    """Show who writes to the partitions with a producer id, and whose transaction holds readers back."""
    places = choose_partitions(cluster, topics)
    found = [
        producer
        for producer in active_producers(cluster, places)
        if not only_open or producer.txn_start_offset is not None
    ]
    known = {listed.producer_id: listed for listed in list_transactions(cluster)}
    notes = {id(producer): _note(producer, found, known) for producer in found}
    if output != "table":
        print_data(output, [_producer_json(producer, known, notes[id(producer)]) for producer in found])
    elif found:
        rows = [
            (
                producer.place.topic,
                producer.place.partition,
                producer.producer_id,
                producer.producer_epoch,
                known[producer.producer_id].transactional_id if producer.producer_id in known else None,
                iso_time(producer.last_timestamp_ms),
                producer.txn_start_offset,
                notes[id(producer)],
            )
            for producer in found
        ]
        headings = ("TOPIC", "PARTITION", "PRODUCER ID", "EPOCH", "TRANSACTIONAL ID", "LAST WRITE")
        click.echo(columns((*headings, "FIRST OFFSET", "NOTE"), rows, drop_empty=True))
    else:
        click.echo("No producers." if not only_open else "No open transactions.", err=True)


def _producer_json(
    producer: Producer, known: Mapping[int, ListedTransaction], note: str | None
) -> dict[str, object]:
    fields = asdict(producer)
    del fields["place"]
    owner = known.get(producer.producer_id)
    return {
        **producer.place._asdict(),
        **fields,
        "transactional_id": owner.transactional_id if owner else None,
        "note": note,
    }


def _note(
    producer: Producer, everyone: Sequence[Producer], known: Mapping[int, ListedTransaction]
) -> str | None:
    if producer.txn_start_offset is None:
        return None
    owner = known.get(producer.producer_id)
    if owner is None or owner.state not in UNDER_WAY:
        return "hangs: no coordinator will end it; see `moldau transactions abort --hanging`"
    first = min(
        other.txn_start_offset
        for other in everyone
        if other.place == producer.place and other.txn_start_offset is not None
    )
    return "holds readers back" if producer.txn_start_offset == first else "open"
