"""`moldau transactions producers`: who writes to a partition, and whose transaction holds readers back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.transaction_queries import (
    UNDER_WAY,
    ListedTransaction,
    Producer,
    active_producers,
    list_transactions,
)
from moldau.cli.options import on_cluster
from moldau.cli.render.output import columns, iso_time, output_option, print_data
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions


@click.command("producers")
@click.argument("topics", metavar="TOPIC[:PARTITIONS]...", type=TopicPartitions(), nargs=-1, required=True)
@click.option("--open", "only_open", is_flag=True, help="Only producers with an open transaction.")
@output_option
@on_cluster
def producers(
    cluster: Cluster, topics: Sequence[tuple[str, Sequence[int]]], only_open: bool, output: str
) -> None:
    """Show the producers of partitions. Marks the open transactions that block readers."""
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
        return "hanging: no coordinator will end it; see `moldau transactions abort --hanging`"
    first = min(
        other.txn_start_offset
        for other in everyone
        if other.place == producer.place and other.txn_start_offset is not None
    )
    return "blocks readers" if producer.txn_start_offset == first else "open"
