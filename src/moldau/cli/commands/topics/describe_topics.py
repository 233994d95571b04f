"""`moldau topics describe`: whole topics, or only the partitions with a problem."""

from collections.abc import Callable, Sequence

import click

from moldau.cli.client.cluster_queries import Partition, picture
from moldau.cli.client.config_queries import Resource
from moldau.cli.client.config_queries import describe as describe_settings
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.topics.topic_report import TopicReport
from moldau.cli.options import complete_topic, on_cluster
from moldau.cli.render.output import columns, output_option, print_data

MIN_ISR = "min.insync.replicas"

Wanted = Callable[[Partition, int], bool]
"""Decides whether to show a partition, given its min.insync.replicas."""

_FILTERS: dict[str, tuple[Wanted, str]] = {
    "under_replicated": (
        lambda part, _: part.is_under_replicated,
        "All replicas of all partitions are in sync.",
    ),
    "unavailable": (lambda part, _: part.leader is None, "Every partition has a leader."),
    "under_min_isr": (
        lambda part, least: len(part.isr) < least,
        f"No partition has fewer replicas in sync than its {MIN_ISR}.",
    ),
    "at_min_isr": (
        lambda part, least: len(part.isr) == least,
        f"No partition has exactly {MIN_ISR} replicas in sync.",
    ),
}


def _flag(name: str, help_text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(f"--{name}", name.replace("-", "_"), is_flag=True, help=help_text)


@click.command("describe")
@click.argument("topics", metavar="[TOPIC]...", nargs=-1, shell_complete=complete_topic)
@_flag("under-replicated", "Only partitions with a replica out of sync.")
@_flag("unavailable", "Only partitions without a leader.")
@_flag("under-min-isr", f"Only partitions with fewer replicas in sync than {MIN_ISR}; they reject acks=all.")
@_flag("at-min-isr", f"Only partitions with exactly {MIN_ISR} replicas in sync.")
@_flag("topics-with-overrides", "Only topics with settings that override the defaults.")
@output_option
@on_cluster
def describe(
    cluster: Cluster, topics: Sequence[str], topics_with_overrides: bool, output: str, **filters: bool
) -> None:
    """Describe topics, by default all. Shows partitions, replicas, offsets and changed settings."""
    chosen = [name for name, is_on in filters.items() if is_on]
    if len(chosen) + topics_with_overrides > 1:
        names = ["topics-with-overrides", *(name.replace("_", "-") for name in _FILTERS)]
        raise click.UsageError("Pass only one of " + ", ".join(f"--{name}" for name in names) + ".")
    if chosen:
        _show_partitions(cluster, topics, chosen[0], output)
        return
    reports = TopicReport.gather(cluster, topics or list(cluster.topic_names()))
    if topics_with_overrides:
        reports = [report for report in reports if report.has_overrides]
    if output != "table":
        rows = [row for report in reports for row in report.as_rows()]
        print_data(output, [report.as_json() for report in reports], rows)
    elif reports:
        click.echo("\n\n".join(report.as_text() for report in reports))
    else:
        click.echo("No topic overrides a default." if topics_with_overrides else "No topics.", err=True)


def _show_partitions(cluster: Cluster, topics: Sequence[str], name: str, output: str) -> None:
    wanted, nothing = _FILTERS[name]
    seen = picture(cluster, topics or None).partitions
    with_least = name in ("under_min_isr", "at_min_isr")
    least = _min_isr(cluster, sorted({part.place.topic for part in seen})) if with_least else {}
    found = [part for part in seen if wanted(part, least.get(part.place.topic, 0))]
    if output != "table":
        rows = [
            {
                "topic": part.place.topic,
                "partition": part.place.partition,
                "leader": part.leader,
                "replicas": list(part.replicas),
                "isr": list(part.isr),
                **({"min_insync_replicas": least[part.place.topic]} if with_least else {}),
            }
            for part in found
        ]
        print_data(output, rows)
    elif found:
        headings = ["TOPIC", "PARTITION", "LEADER", "REPLICAS", "ISR", *(["MIN ISR"] if with_least else [])]
        click.echo(
            columns(
                headings,
                [
                    (
                        *part.place,
                        part.leader,
                        ",".join(map(str, part.replicas)),
                        ",".join(map(str, part.isr)),
                        *([least[part.place.topic]] if with_least else []),
                    )
                    for part in found
                ],
            )
        )
    else:
        click.echo(nothing, err=True)


def _min_isr(cluster: Cluster, topics: Sequence[str]) -> dict[str, int]:
    found = describe_settings(cluster, [Resource("topic", topic) for topic in topics])
    return {
        resource.name: next(int(setting.value or 1) for setting in settings if setting.name == MIN_ISR)
        for resource, settings in found.items()
    }
