"""`moldau streams status` and `list`: asks the running process over HTTP, or reads checkpoints and group offsets."""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure, similar_names
from moldau.cli.options import on_cluster
from moldau.cli.render.output import Cell, columns, output_option, print_data
from moldau.cli.render.streams_lines import dropped_texts, lag_text

if TYPE_CHECKING:
    from moldau.pipeline.spark.driver.standing import Checkpoint, Standing

ANSWER_S = 30.0

checkpoint_option = click.option(
    "--checkpoint-dir",
    "checkpoint_dir",
    metavar="DIR",
    default="checkpoints",
    show_default=True,
    help="Directory of state and offsets. On a Spark cluster all machines must have access to it.",
)


@click.command("list")
@checkpoint_option
@output_option
def list_command(checkpoint_dir: str, output: str) -> None:
    """List applications with a checkpoint. Shows whether each is running."""
    from moldau.pipeline.spark.driver.standing import checkpoints

    found = checkpoints(checkpoint_dir)
    if output != "table":
        print_data(output, [_listed(one) for one in found])
    elif found:
        rows = [
            (
                one.application_id,
                _runs(one),
                None if one.record is None else one.record.slots,
                ", ".join(sorted(one.record.topic_ids)) if one.record else one.problem,
            )
            for one in found
        ]
        click.echo(columns(("APPLICATION", "RUNS", "SLOTS", "READS"), rows))
    else:
        click.echo(f"No applications in {checkpoint_dir}.", err=True)


@click.command("status")
@click.argument("application", required=False)
@click.option(
    "--http", metavar="HOST:PORT", help="Ask the process started with `run --http` at this address."
)
@checkpoint_option
@output_option
@on_cluster
def status_command(
    cluster: Cluster, application: str | None, http: str | None, checkpoint_dir: str, output: str
) -> None:
    """Show the progress of APPLICATION, by default of all applications.

    With --http, asks the running process, which also knows rates, dropped records and the reason of a restart.
    Otherwise reads checkpoints and group offsets, which works for stopped applications too.
    """
    if http is not None:
        _show_running(_asked(http, application), output)
        return
    from moldau.pipeline.spark.driver.standing import checkpoint, checkpoints

    found = checkpoints(checkpoint_dir) if application is None else [checkpoint(checkpoint_dir, application)]
    if application is not None and found[0].record is None and found[0].problem is None:
        names = [one.application_id for one in checkpoints(checkpoint_dir)]
        raise _unknown(application, checkpoint_dir, names)
    if not found:
        click.echo(f"No applications in {checkpoint_dir}.", err=True)
    standings = _standings(cluster, found)
    if output != "table":
        told = [_told(one) for one in standings]
        rows = [{"application": one["application"], **part} for one in told for part in one["partitions"]]
        print_data(output, told if application is None else told[0], rows)
        return
    if standings:
        _show_standings(standings, with_partitions=application is not None)


def _standings(cluster: Cluster, found: "Sequence[Checkpoint]") -> "list[Standing]":
    """If no broker answers, shows what the checkpoints contain."""
    from moldau.pipeline.spark.driver.standing import Standing, standing

    try:
        admin = cluster.admin
    except Failure as away:
        return [Standing(one, problem=one.problem or away.message) for one in found]
    return [standing(admin, one) for one in found]


def _asked(address: str, application: str | None) -> list[dict[str, Any]]:
    base = address if "://" in address else f"http://{address}"
    path = "/applications" if application is None else f"/applications/{application}"
    try:
        with urllib.request.urlopen(base.rstrip("/") + path, timeout=ANSWER_S) as answer:  # noqa: S310 the user's own
            content = json.load(answer)
    except urllib.error.HTTPError as refused:
        raise Failure(_message(refused) or f"{address} answers {refused.code} to GET {path}") from None
    except (OSError, ValueError, http.client.HTTPException) as failure:
        why = getattr(failure, "reason", failure)
        raise Failure(
            f"cannot get the status of applications from {address}: {why}",
            "Is `moldau streams run --http` running there? Omit --http to read the checkpoints.",
        ) from None
    statuses: list[dict[str, Any]] = content["applications"] if application is None else [content]
    return statuses


def _message(refused: urllib.error.HTTPError) -> str | None:
    try:
        content = json.load(refused)
    except ValueError:
        return None
    return content.get("message") if isinstance(content, dict) else None


def _show_running(statuses: Sequence[dict[str, Any]], output: str) -> None:
    if output != "table":
        print_data(output, statuses)
        return
    if not statuses:
        click.echo("This process runs no applications.", err=True)
        return
    rows = [
        (
            one["application_id"],
            one["state"],
            one["records_in"],
            round(one["records_in_per_s"]),
            lag_text(one),
            one["records_dead"],
            one["records_dropped"],
            one["restarts"],
        )
        for one in statuses
    ]
    headings = ("APPLICATION", "STATE", "RECORDS IN", "PER S", "LAG", "DEAD", "DROPPED", "RESTARTS")
    click.echo(columns(headings, rows))
    for one in statuses:
        for text in dropped_texts(one):
            click.echo(f"{one['application_id']}: {text}")
        if one["state"] in ("failed", "restarting") and one["last_error"]:
            click.echo(f"{one['application_id']}: {one['last_error']}")


def _show_standings(standings: "Sequence[Standing]", *, with_partitions: bool) -> None:
    rows: list[tuple[Cell, ...]] = []
    for one in standings:
        planned = one.checkpoint.planned
        at = "-" if planned is None else time.strftime("%F %T", time.localtime(planned.clock_ms / 1000))
        rows.append((one.checkpoint.application_id, _runs(one.checkpoint), one.batch_id, at, one.lag))
    click.echo(columns(("APPLICATION", "RUNS", "LAST BATCH", "AT", "LAG"), rows))
    for problem in dict.fromkeys(one.problem for one in standings if one.problem):
        click.echo(problem, err=True)
    if with_partitions and standings[0].partitions:
        places = [
            (place.topic, place.partition, place.position, place.end, place.lag)
            for place in standings[0].partitions
        ]
        click.echo()
        click.echo(columns(("TOPIC", "PARTITION", "POSITION", "END", "LAG"), places))


def _runs(found: "Checkpoint") -> str:
    runner = found.runner
    return "no" if runner is None else f"as process {runner.pid} on {runner.host}"


def _listed(found: "Checkpoint") -> dict[str, Any]:
    record, runner = found.record, found.runner
    return {
        "application": found.application_id,
        "topics": sorted(record.topic_ids) if record else [],
        "slots": record.slots if record else None,
        "runs": runner is not None,
        "process": runner.pid if runner else None,
        "host": runner.host if runner else None,
    }


def _told(one: "Standing") -> dict[str, Any]:
    planned = one.checkpoint.planned
    return {
        **_listed(one.checkpoint),
        "last_batch": one.batch_id,
        "last_batch_at_ms": planned.clock_ms if planned else None,
        "lag": one.lag,
        "problem": one.problem,
        "partitions": [
            {
                "topic": place.topic,
                "partition": place.partition,
                "position": place.position,
                "end": place.end,
                "lag": place.lag,
            }
            for place in one.partitions
        ],
    }


def _unknown(application: str, checkpoint_dir: str, names: Sequence[str]) -> Failure:
    similar = similar_names(application, names)
    hint = (
        f"Did you mean {' or '.join(similar)}?"
        if similar
        else "`moldau streams list` lists them; --checkpoint-dir names another directory."
    )
    return Failure(f"there is no checkpoint of application {application} in {checkpoint_dir}.", hint)
