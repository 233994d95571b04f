"""`moldau consume`: reads a topic, with or without a consumer group."""

import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, IsolationLevel, KafkaException

from moldau.cli.client.connection import Cluster
from moldau.cli.client.positions import Start, StartOffset, resolve
from moldau.cli.client.readers import MemberReader, Reader, SpanReader
from moldau.cli.formats.format_options import Formats, format_options
from moldau.cli.options import Timestamp, complete_group, complete_topic, on_cluster
from moldau.cli.render import record_output
from moldau.cli.render.output import counted
from moldau.cli.topic_partitions import choose_partitions

RAW_FIELDS = ("timestamp", "partition", "offset", "headers", "key")


@click.command("consume")
@click.argument("topic", shell_complete=complete_topic)
@click.option(
    "--partition",
    "-p",
    "partitions",
    type=click.IntRange(min=0),
    multiple=True,
    help="A partition to read. Default: all. Repeatable.",
)
@click.option("--from-beginning", is_flag=True, help="Start at the oldest record. Default without --follow.")
@click.option(
    "--offset",
    type=StartOffset(),
    help="The offset to start at: a number, -N for the last N records, beginning or end.",
)
@click.option(
    "--from-time",
    type=Timestamp(),
    help="The time to start at: milliseconds since 1970, ISO 8601, or how long ago (15m).",
)
@click.option(
    "--group",
    "-g",
    shell_complete=complete_group,
    help="Join this consumer group: start at its committed offsets, and commit.",
)
@click.option("--limit", "-n", type=click.IntRange(min=1), help="Stop after this number of records.")
@click.option(
    "--follow", "-f", is_flag=True, help="Wait for new records at the end of the log, until Ctrl-C."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["raw", "json", "hex", "table"]),
    default="raw",
    show_default=True,
    help="raw: the value and a line feed. json: one object per line, which `produce --format json` accepts.",
)
@click.option("--print-timestamp", is_flag=True, help="raw: print the timestamp before the value.")
@click.option("--print-partition", is_flag=True, help="raw: print the partition before the value.")
@click.option("--print-offset", is_flag=True, help="raw: print the offset before the value.")
@click.option("--print-headers", is_flag=True, help="raw: print the headers before the value.")
@click.option("--print-key", is_flag=True, help="raw: print the key before the value.")
@click.option(
    "--key-separator", default="\\t", show_default=True, help="raw: separator between value and other fields."
)
@click.option(
    "--isolation-level",
    type=click.Choice(["read_committed", "read_uncommitted"]),
    default="read_committed",
    show_default=True,
    help="read_committed skips records of open and aborted transactions.",
)
@click.option(
    "--undecodable",
    type=click.Choice(["fail", "skip", "raw"]),
    default="fail",
    show_default=True,
    help="What to do with keys and values that do not have the given format.",
)
@format_options
@click.option("--quiet", "-q", is_flag=True, help="Do not print the number of records at the end.")
@on_cluster
def command(
    cluster: Cluster,
    topic: str,
    partitions: Sequence[int],
    from_beginning: bool,
    offset: Start | None,
    from_time: int | None,
    group: str | None,
    limit: int | None,
    follow: bool,
    form: str,
    key_separator: str,
    isolation_level: str,
    quiet: bool,
    undecodable: str,
    **others: Any,
) -> None:
    """Read records of TOPIC, to the end of the log or with --follow until Ctrl-C.

    Without --group no offsets are committed and no consumer group is affected.
    """
    start = _choose_start(from_beginning, offset, from_time, follow)
    fields = [name for name in RAW_FIELDS if others.pop(f"print_{name}")]
    decode = Formats(topic, timeout_s=cluster.timeout_s, **others).decoded(undecodable)
    if group is None:
        consumer, reader = _alone(cluster, topic, partitions, start, isolation_level, follow)
    elif partitions or offset is not None or from_time is not None:
        raise click.UsageError(
            "--group determines where to read: omit --partition, --offset and --from-time. "
            f"`moldau groups reset {group}` moves the offsets of the group."
        )
    else:
        consumer, reader = _as_member(cluster, topic, group, start, isolation_level, follow)
    write = _formatter(form, fields, key_separator)
    count = 0
    try:
        for batch in reader.batches():
            wanted = batch if limit is None else batch[: limit - count]
            for record in wanted:
                shown = decode(record)
                if shown is not None:
                    sys.stdout.buffer.write(write(shown))
                count += 1
            sys.stdout.buffer.flush()
            reader.finish(wanted)
            if count == limit:
                break
    except BrokenPipeError:
        quiet = True
        raise
    except KafkaException as error:
        raise cluster.failure(error.args[0], f"read topic '{topic}'") from error
    finally:
        # Commits what was printed and leaves the group, if there is one.
        consumer.close()
        if not quiet:
            click.echo(f"{counted(count, 'record')} read from topic '{topic}'.", err=True)


def _alone(
    cluster: Cluster, topic: str, partitions: Sequence[int], start: Start, isolation_level: str, follow: bool
) -> tuple[Consumer, Reader]:
    chosen = [place.partition for place in choose_partitions(cluster, [(topic, partitions)])]
    if start.offset is not None and start.offset >= 0 and len(chosen) > 1:
        raise click.UsageError(
            f"Offset {start.offset} is different in each of the {len(chosen)} partitions of "
            f"topic '{topic}': pass --partition as well."
        )
    spans = resolve(cluster, topic, chosen, start, IsolationLevel[isolation_level.upper()])
    consumer = cluster.consumer(
        {
            # The client library requires a group id, but joins no group with assigned partitions.
            "group.id": "moldau-consume",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": isolation_level,
            # The topic existed a moment ago. If it is missing, it was deleted: do not wait long.
            "topic.metadata.propagation.max.ms": 5000,
        }
    )
    return consumer, SpanReader(cluster, consumer, topic, spans, follow)


def _as_member(
    cluster: Cluster, topic: str, group: str, start: Start, isolation_level: str, follow: bool
) -> tuple[Consumer, Reader]:
    cluster.describe_topic(topic)
    consumer = cluster.consumer(
        {
            "group.id": group,
            # Offsets are stored after their records are printed, and only stored offsets are committed.
            "enable.auto.commit": True,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "latest" if start.offset == OFFSET_END else "earliest",
            "isolation.level": isolation_level,
        }
    )
    return consumer, MemberReader(cluster, consumer, topic, group, follow)


def _choose_start(from_beginning: bool, offset: Start | None, from_time: int | None, follow: bool) -> Start:
    if from_beginning + (offset is not None) + (from_time is not None) > 1:
        raise click.UsageError("Pass only one of --from-beginning, --offset and --from-time.")
    if offset is not None:
        return offset
    if from_time is not None:
        return Start(timestamp_ms=from_time)
    return Start(offset=OFFSET_END if follow and not from_beginning else OFFSET_BEGINNING)


def _formatter(form: str, fields: Sequence[str], key_separator: str) -> record_output.Formatter:
    if form == "json":
        return record_output.as_json
    if form == "hex":
        return record_output.as_hex
    if form == "table":
        click.echo(record_output.TABLE_HEADING)
        width_max = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        return record_output.table_row(width_max)
    return record_output.raw(fields, key_separator.replace("\\t", "\t").encode())
