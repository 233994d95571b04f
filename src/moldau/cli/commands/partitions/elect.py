"""`moldau partitions elect`: preferred and unclean leader election."""

from collections.abc import Sequence
from pathlib import Path

import click

from moldau.cli import kafka_json
from moldau.cli.client.cluster_queries import elect_leaders, require_success
from moldau.cli.client.connection import Cluster
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import on_cluster
from moldau.cli.render.output import counted
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.error_codes import ErrorCode

PREFERRED = 0


UNCLEAN = 1


@click.command("elect")
@click.argument("partitions", metavar="[TOPIC[:PARTITIONS]]...", nargs=-1, type=TopicPartitions())
@click.option(
    "--all", "everywhere", is_flag=True, help="All partitions of the cluster that need an election."
)
@click.option(
    "--from-file",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The partitions, in the JSON of kafka-leader-election --path-to-json-file.",
)
@click.option(
    "--type",
    "kind",
    type=click.Choice(["preferred", "unclean"]),
    default="preferred",
    show_default=True,
    help="preferred: the first replica. unclean: for partitions without a leader, any live replica.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of an unclean election.")
@on_cluster
def elect(
    cluster: Cluster,
    partitions: Sequence[tuple[str, Sequence[int]]],
    everywhere: bool,
    path: Path | None,
    kind: str,
    yes: bool,
) -> None:
    """Elect partition leaders. Selects the partitions named (`orders`, `orders:0,2`), those of a file, or --all."""
    if bool(partitions) + everywhere + (path is not None) != 1:
        raise click.UsageError("Pass topics, --all or --from-file.")
    if path is not None:
        partitions = _partitions_of(path)
    if kind == "unclean" and not yes:
        confirm(
            "An unclean leader may lack acknowledged records, which are then lost. Continue?",
            "no leader was elected.",
        )
    places = None if everywhere else choose_partitions(cluster, partitions)
    outcomes = elect_leaders(cluster, PREFERRED if kind == "preferred" else UNCLEAN, places)
    elected = [each for each in outcomes if each.code is ErrorCode.NONE]
    idle = [each for each in outcomes if each.code is ErrorCode.ELECTION_NOT_NEEDED]
    if elected:
        names = ", ".join(str(each.place) for each in elected)
        click.echo(f"Successfully completed leader election ({kind.upper()}) for partitions {names}.")
    if idle or not outcomes:
        count = f" for {counted(len(idle), 'partition')}" if idle else ""
        click.echo(f"Leader election not needed{count}.")
    require_success(
        [each for each in outcomes if each.code is not ErrorCode.ELECTION_NOT_NEEDED], "given a leader"
    )


def _partitions_of(path: Path) -> Sequence[tuple[str, Sequence[int]]]:
    found = [(each["topic"], [each["partition"]]) for each in kafka_json.ELECTION.read(path)]
    if not found:
        raise Failure(f"{path} names no partition.", f"Expected format: {kafka_json.ELECTION.example}")
    return found
