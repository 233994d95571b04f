"""`moldau explain`: why a group rebalanced and what changed an offset, from the coordinator's history."""

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
from moldau.cli.failures import Failure, refused
from moldau.cli.options import complete_group, on_cluster
from moldau.cli.render.output import document_option, iso_time, print_json, seconds_text
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.private.explain import ExplainRequest, ExplainResponse


@click.group("explain")
def command() -> None:
    """Say why things are as they are.

    The coordinator of a group remembers its last rebalances and what happened to its offsets, for as long as
    the broker runs. Only Moldau's brokers do; of another Kafka cluster `moldau groups describe` shows how
    things are now.
    """


@command.command("group")
@click.argument("group", shell_complete=complete_group)
@document_option
@on_cluster
def group_command(cluster: Cluster, group: str, output: str) -> None:
    """Show each rebalance of GROUP, and who or what was the cause of it.

    In a rebalance the members of a group share out the partitions anew. In the classic protocol nobody in the
    group reads while it lasts.
    """
    told = _ask(cluster, ExplainRequest(group_id=group))
    if told["state"] == "Dead" and not told["timeline"]:
        raise unknown_group(cluster, group)
    if output == "json":
        print_json(told)
        return
    click.echo(f"Group '{group}'\n{told['summary']}")
    _print_timeline(told["timeline"], "No rebalance is remembered: there was none since the broker started.")


@command.command("offset")
@click.argument("group", shell_complete=complete_group)
@click.argument("place", metavar="TOPIC:PARTITION", type=TopicPartitions())
@document_option
@on_cluster
def offset_command(cluster: Cluster, group: str, place: tuple[str, Sequence[int]], output: str) -> None:
    """Show where GROUP goes on in a partition, and who moved, reset or removed its offset.

    Plain commits of the group's own members are not told: they are what should happen.
    """
    topic, partitions = place
    if len(partitions) != 1:
        raise click.UsageError(f"Name one partition: {topic}:0.")
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
            f"It is forgotten at {iso_time(told['expires_at_ms'])}, unless somebody reads the topic till then."
        )
    _print_timeline(told["timeline"], "Nothing out of the ordinary is remembered to have happened to it.")


def _ask(cluster: Cluster, request: ExplainRequest) -> dict[str, Any]:
    doing = f"explain group '{request.group_id}'"
    coordinator = cluster.wire.coordinator(request.group_id, GROUP, doing)
    answer = cluster.wire.ask_privately(coordinator, request, ExplainResponse)
    if answer is None:
        raise Failure(
            f"cannot {doing}: {coordinator} keeps no history of groups.",
            f"Only Moldau's brokers do. `moldau groups describe {request.group_id}` shows how things are now.",
        )
    if answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        raise unknown_group(cluster, request.group_id)
    if answer.error_code:
        raise refused(KafkaError(answer.error_code), doing)
    told = orjson.loads(answer.explanation)
    assert isinstance(told, dict)
    return told


def _log(cluster: Cluster, place: TopicPartition) -> LogState | None:
    """None if the partition is gone: its offset may be what is asked about all the same."""
    if place not in cluster.leaders():
        return None
    return log_states(cluster, choose_partitions(cluster, [(place.topic, [place.partition])]))[place]


def meaning(offset: int | None, log: LogState | None) -> str | None:
    """What the offset means for a consumer that starts now."""
    if log is None:
        return "The partition does not exist, or has no leader."
    span = (
        f"The log holds {log.start_offset:,} to {log.end_offset - 1:,}"
        if log.end_offset > log.start_offset
        else (f"The log is empty; its next offset is {log.end_offset:,}")
    )
    if offset is None:
        return f"{span}."
    if offset < log.start_offset:
        return (
            f"{span}: what comes at {offset:,} was deleted, by retention or by request. Consumers start where "
            "auto.offset.reset says."
        )
    if offset > log.end_offset:
        return (
            f"{span}: {offset:,} is beyond its end, as when a topic was made anew. Consumers start where "
            "auto.offset.reset says."
        )
    lag = log.unread(offset)
    waiting = log.end_offset - log.stable_offset
    held = f"; {waiting:,} more wait for an open transaction" if waiting else ""
    return f"{span}: {lag:,} are still to be read{held}."


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
