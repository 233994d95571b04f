"""`moldau partitions reassign`: generate, execute, verify, cancel and list replica reassignments."""

from collections.abc import Sequence
from pathlib import Path

import click

from moldau.cli import kafka_json
from moldau.cli.client.cluster_queries import Picture, moves, picture, require_success, start_moves
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.partitions.move_plans import plan_text, propose, read_plan
from moldau.cli.commands.partitions.throttles import clear_throttle, set_throttle
from moldau.cli.failures import Failure
from moldau.cli.options import complete_topic, on_cluster
from moldau.cli.render.output import columns, counted


@click.group("reassign")
def reassign() -> None:
    """Move replicas. `generate` a plan, `execute` it, `verify` its progress, or `cancel` it.

    Plans have the format of kafka-reassign-partitions.
    """


plan_option = click.option(
    "--plan",
    "path",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The plan, a JSON file.",
)


@reassign.command("generate")
@click.argument("topics", metavar="TOPIC...", nargs=-1, shell_complete=complete_topic)
@click.option(
    "--topics-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The topics, in the JSON of kafka-reassign-partitions --topics-to-move-json-file.",
)
@click.option(
    "--brokers",
    "broker_list",
    metavar="IDS",
    required=True,
    help="The brokers to distribute replicas over: 0,1,2.",
)
@click.option("--replication-factor", type=click.IntRange(min=1), help="Default: the current one.")
@click.option(
    "--plan",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the proposed plan to this file.",
)
@on_cluster
def generate(
    cluster: Cluster,
    topics: Sequence[str],
    topics_file: Path | None,
    broker_list: str,
    replication_factor: int | None,
    path: Path | None,
) -> None:
    """Propose a replica assignment for each TOPIC. Moves nothing."""
    names = [part.strip() for part in broker_list.split(",")]
    if not all(name.isdecimal() for name in names) or len(set(names)) < len(names):
        raise click.BadParameter(
            f"'{broker_list}' is not a list of brokers: write 0,1,2.", param_hint="--brokers"
        )
    if bool(topics) == (topics_file is not None):
        raise click.UsageError("Pass either topics or --topics-file.")
    if topics_file is not None:
        topics = sorted({each["topic"] for each in kafka_json.TOPICS.read(topics_file)})
        if not topics:
            raise Failure(f"{topics_file} names no topic.", f"Expected format: {kafka_json.TOPICS.example}")
    seen = picture(cluster, topics)
    proposed = propose(seen, [int(name) for name in names], replication_factor)
    current = {part.place: part.replicas for part in seen.partitions}
    click.echo(f"Current partition replica assignment\n{plan_text(current)}\n")
    click.echo(f"Proposed partition reassignment configuration\n{plan_text(proposed)}")
    if path is not None:
        path.write_text(plan_text(proposed) + "\n", encoding="utf-8")


@reassign.command("execute")
@plan_option
@click.option(
    "--throttle",
    "bytes_per_s",
    metavar="BYTES",
    type=click.IntRange(min=1),
    help="Limit in bytes per second to and from each broker. `verify` removes it after completion.",
)
@on_cluster
def execute(cluster: Cluster, path: Path, bytes_per_s: int | None) -> None:
    """Start moving replicas according to a plan. They move in the background; `verify` shows the progress."""
    plan = read_plan(path)
    seen = {part.place: part for part in picture(cluster, sorted({place.topic for place in plan})).partitions}
    missing = next((place for place in plan if place not in seen), None)
    if missing is not None:
        raise Failure(f"there is no partition {missing}.", "Nothing was moved.")
    coming = {move.place: move.adding for move in moves(cluster)}
    present = {
        place: [each for each in seen[place].replicas if each not in coming.get(place, ())] for place in plan
    }
    click.echo(f"Current partition replica assignment\n{plan_text(present)}\n")
    click.echo("Save this plan to be able to move everything back.\n")
    if bytes_per_s is not None:
        set_throttle(cluster, plan, present, bytes_per_s)
        click.echo(
            f"The throttle is {bytes_per_s} bytes per second. Run verify until completion, which removes it."
        )
    require_success(start_moves(cluster, plan), "moved")
    click.echo(f"Successfully started the reassignment of {counted(len(plan), 'partition')}.")


preserve_option = click.option(
    "--preserve-throttles", "is_kept", is_flag=True, help="Do not remove throttles."
)


@reassign.command("verify")
@plan_option
@preserve_option
@on_cluster
def verify(cluster: Cluster, path: Path, is_kept: bool) -> int:
    """Show the progress of a plan. Exit code 0: completed, and throttles are removed."""
    plan = read_plan(path)
    present = picture(cluster, sorted({place.topic for place in plan}))
    seen = {part.place: part for part in present.partitions}
    moving = {move.place for move in moves(cluster)}
    is_done = True
    click.echo("Status of partition reassignment:")
    for place, wanted in sorted(plan.items()):
        found = seen.get(place)
        if found is None:
            said = f"There is no partition {place}."
        elif place in moving:
            said = f"Reassignment of partition {place} is still in progress."
        elif list(found.replicas) == list(wanted):
            click.echo(f"Reassignment of partition {place} is completed.")
            continue
        else:
            are = ",".join(map(str, found.replicas))
            should = ",".join(map(str, wanted))
            said = f"There is no active reassignment of partition {place}, but its replicas are {are}, not {should}."
        is_done = False
        click.echo(said)
    if not is_kept and not moving & set(plan):
        _clear_throttles(cluster, present)
    return 0 if is_done else 1


@reassign.command("cancel")
@plan_option
@preserve_option
@on_cluster
def cancel(cluster: Cluster, path: Path, is_kept: bool) -> None:
    """Cancel the unfinished moves of a plan. Their partitions keep the replicas they had before."""
    plan = read_plan(path)
    moving = {move.place for move in moves(cluster)}
    wanted = [place for place in plan if place in moving]
    if not wanted:
        click.echo("No partition of the plan is being reassigned.")
        return
    require_success(start_moves(cluster, dict.fromkeys(wanted)), "cancelled")
    click.echo(f"Cancelled the reassignment of {counted(len(wanted), 'partition')}.")
    if not is_kept:
        _clear_throttles(cluster, picture(cluster, sorted({place.topic for place in plan})))


@reassign.command("list")
@on_cluster
def list_moves(cluster: Cluster) -> None:
    """List the partitions that are being reassigned."""
    rows = [
        (
            str(move.place),
            *(",".join(map(str, each)) or None for each in (move.replicas, move.adding, move.removing)),
        )
        for move in moves(cluster)
    ]
    click.echo(
        columns(("PARTITION", "REPLICAS", "ADDING", "REMOVING"), rows)
        if rows
        else "No partition is being reassigned."
    )


def _clear_throttles(cluster: Cluster, seen: Picture) -> None:
    cleared = clear_throttle(cluster, {part.place.topic for part in seen.partitions}, seen.brokers)
    if cleared:
        click.echo(f"Removed the throttle from {', '.join(map(str, cleared))}.")
