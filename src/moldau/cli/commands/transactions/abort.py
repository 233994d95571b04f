"""`moldau transactions abort`: through the coordinator, or with an abort marker if the coordinator has forgotten it."""

from collections.abc import Sequence

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.transaction_queries import (
    UNDER_WAY,
    active_producers,
    describe_transaction,
    fence,
    list_transactions,
    write_abort_marker,
)
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import complete_names, on_cluster
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.ids import TopicPartition


def complete_transaction(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return complete_names(
        ctx, incomplete, lambda cluster: [listed.transactional_id for listed in list_transactions(cluster)]
    )


@click.command("abort")
@click.argument("transactional_id", metavar="[ID]", required=False, shell_complete=complete_transaction)
@click.option(
    "--hanging",
    type=TopicPartitions(),
    metavar="TOPIC:PARTITION",
    help="Abort a hanging transaction, which no coordinator will end, in this partition.",
)
@click.option(
    "--first-offset",
    type=click.IntRange(min=0),
    help="With --hanging: the offset where the transaction begins, if several are open.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@on_cluster
def abort(
    cluster: Cluster,
    transactional_id: str | None,
    hanging: tuple[str, Sequence[int]] | None,
    first_offset: int | None,
    yes: bool,
) -> None:
    """Abort an open or hanging transaction. An open transaction is found by ID, and its producer is fenced.

    The next request of the fenced producer fails, as if a new producer with its id had been started. Records of an
    aborted transaction are never delivered to read_committed consumers.
    """
    if (transactional_id is None) == (hanging is None):
        raise click.UsageError("Pass either a transactional id or --hanging.")
    if transactional_id is not None:
        _abort_by_id(cluster, transactional_id, yes)
    elif hanging is not None:
        topic, partitions = hanging
        if len(partitions) != 1:
            raise click.UsageError(f"--hanging takes one partition: {topic}:0.")
        _abort_hanging(cluster, TopicPartition(topic, partitions[0]), first_offset, yes)


def _abort_by_id(cluster: Cluster, transactional_id: str, yes: bool) -> None:
    found = describe_transaction(cluster, transactional_id)
    if found.state not in UNDER_WAY:
        raise Failure(
            f"transactional id '{transactional_id}' has no open transaction: its state is {found.state}.",
            "Nothing was done.",
        )
    if not yes:
        confirm(
            f"Abort the transaction of '{transactional_id}' and fence its producer?", "nothing was aborted."
        )
    fence(cluster, found)
    click.echo(f"Aborted the transaction of '{transactional_id}'; its producer is fenced.")


def _abort_hanging(cluster: Cluster, place: TopicPartition, first_offset: int | None, yes: bool) -> None:
    [place] = choose_partitions(cluster, [(place.topic, [place.partition])])
    found = [
        producer for producer in active_producers(cluster, [place]) if producer.txn_start_offset is not None
    ]
    chosen = [producer for producer in found if first_offset in (None, producer.txn_start_offset)]
    offsets = ", ".join(str(producer.txn_start_offset) for producer in found)
    if not chosen:
        raise Failure(
            f"no open transaction in {place} begins at {first_offset}."
            if found
            else f"{place} has no open transaction.",
            f"Open transactions begin at {offsets}." if found else "Nothing was done.",
        )
    if len(chosen) > 1:
        raise Failure(
            f"{place} has {len(chosen)} open transactions, beginning at {offsets}.",
            "Choose one with --first-offset.",
        )
    [producer] = chosen
    owner = {listed.producer_id: listed for listed in list_transactions(cluster)}.get(producer.producer_id)
    if owner is not None and owner.state in UNDER_WAY:
        raise Failure(
            f"the transaction in {place} is not hanging: its coordinator knows it, in state {owner.state}.",
            f"`moldau transactions abort {owner.transactional_id}` aborts it through the coordinator.",
        )
    if not yes:
        confirm(
            f"Abort the transaction of producer {producer.producer_id} in {place}, beginning at offset "
            f"{producer.txn_start_offset}?",
            "nothing was aborted.",
        )
    write_abort_marker(cluster, producer)
    click.echo(f"Aborted the transaction of producer {producer.producer_id} in {place}.")
