"""`moldau explain`: why a group rebalanced and what changed an offset, from the coordinator's history; and access."""

import time
from collections.abc import Sequence
from typing import Any

import click
import orjson
from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_lag import LogState, log_states
from moldau.cli.client.group_queries import unknown_group
from moldau.cli.client.wire import GROUP
from moldau.cli.commands.acls.explain_access import access_command
from moldau.cli.failures import Failure, refused
from moldau.cli.options import complete_group, on_cluster
from moldau.cli.render.output import document_option, iso_time, print_json, seconds_text
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.private.explain import ExplainRequest, ExplainResponse


@click.group("explain")
def command() -> None:
    """Explain the state of groups and offsets, and who may do what.

    Moldau's group coordinators keep a history of rebalances and offset changes until they restart. Other Kafka brokers
    keep none; use `moldau groups describe` for the current state.
    """


command.add_command(access_command)


@command.command("group")
@click.argument("group", shell_complete=complete_group)
@document_option
@on_cluster
def group_command(cluster: Cluster, group: str, output: str) -> None:
    """Show the rebalances of GROUP and their causes.

    In a rebalance, partitions are redistributed among the members of the group. In the classic protocol all members
    stop reading meanwhile.
    """
    told = _ask(cluster, ExplainRequest(group_id=group))
    if told["state"] == "Dead" and not told["timeline"]:
        raise unknown_group(cluster, group)
    if output == "json":
        print_json(told)
        return
    click.echo(f"Group '{group}'\n{told['summary']}")
    _print_timeline(told["timeline"], "No rebalance since the start of the broker.")


@command.command("offset")
@click.argument("group", shell_complete=complete_group)
@click.argument("place", metavar="TOPIC:PARTITION", type=TopicPartitions())
@document_option
@on_cluster
def offset_command(cluster: Cluster, group: str, place: tuple[str, Sequence[int]], output: str) -> None:
    """Show the offset of GROUP in a partition and its history. Lists what moved, reset or deleted it.

    Ordinary commits by members of the group are not listed.
    """
    topic, partitions = place
    if len(partitions) != 1:
        raise click.UsageError(f"Pass one partition: {topic}:0.")
    told = _ask(cluster, ExplainRequest(group_id=group, topic=topic, partition=partitions[0]))
    log = _log(cluster, TopicPartition(topic, partitions[0]))
    remark = meaning(told["offset"], log)
    if output == "json":
        print_json({**told, "log": None if log is None else vars(log), "meaning": remark})
        return
    click.echo(f"Group '{group}', topic '{topic}' partition {partitions[0]}\n{told['summary']}")
    if remark:
        click.echo(remark)
    if told["expires_at_ms"] is not None:
        click.echo(
            f"It expires at {iso_time(told['expires_at_ms'])}, unless the group reads the topic before."
        )
    _print_timeline(told["timeline"], "No unusual change of it since the start of the broker.")


def _ask(cluster: Cluster, request: ExplainRequest) -> dict[str, Any]:
    doing = f"explain group '{request.group_id}'"
    coordinator = cluster.wire.coordinator(request.group_id, GROUP, doing)
    answer = cluster.wire.ask_privately(coordinator, request, ExplainResponse)
    if answer is None:
        raise Failure(
            f"cannot {doing}: {coordinator} keeps no history of groups.",
            f"Only Moldau's brokers do. `moldau groups describe {request.group_id}` shows the current state.",
        )
    if answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        raise unknown_group(cluster, request.group_id)
    if answer.error_code:
        raise refused(KafkaError(answer.error_code), doing)
    told = orjson.loads(answer.explanation)
    assert isinstance(told, dict)
    return told


def _log(cluster: Cluster, place: TopicPartition) -> LogState | None:
    """None if the partition no longer exists; its offset may still exist."""
    if place not in cluster.leaders():
        return None
    return log_states(cluster, choose_partitions(cluster, [(place.topic, [place.partition])]))[place]


def meaning(offset: int | None, log: LogState | None) -> str | None:
    """The meaning of the offset for a consumer that starts now."""
    if log is None:
        return "The partition does not exist, or has no leader."
    span = (
        f"The log contains offsets {log.start_offset:,} to {log.end_offset - 1:,}"
        if log.end_offset > log.start_offset
        else (f"The log is empty; its next offset is {log.end_offset:,}")
    )
    if offset is None:
        return f"{span}."
    if offset < log.start_offset:
        return (
            f"{span}: offset {offset:,} was deleted, by retention or by request. Consumers start at the offset "
            "that auto.offset.reset determines."
        )
    if offset > log.end_offset:
        return (
            f"{span}: {offset:,} is beyond its end, which happens if the topic was recreated. Consumers start at the "
            "offset that auto.offset.reset determines."
        )
    lag = log.unread(offset)
    waiting = log.end_offset - log.stable_offset
    held = f"; {waiting:,} more are blocked by an open transaction" if waiting else ""
    return f"{span}: {lag:,} are unread{held}."


def _print_timeline(timeline: Sequence[dict[str, Any]], otherwise: str) -> None:
    click.echo("")
    if not timeline:
        click.echo(otherwise)
        return
    now_s = time.time()
    for entry in timeline:
        ago = seconds_text(max(0.0, now_s - entry["at_ms"] / 1000))
        click.echo(f"{iso_time(entry['at_ms'])}  {ago + ' ago':>12}  {entry['text']}")
        for detail in entry["details"]:
            click.echo(f"{'':42}because {detail}")
