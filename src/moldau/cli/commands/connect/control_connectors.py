"""`moldau connect pause`, `resume`, `stop`, `restart`, `delete` and `offsets`."""

from collections.abc import Callable, Sequence
from typing import Any

import click
import orjson

from moldau.cli.commands.connect.connect_http import (
    ConnectHttp,
    connector_argument,
    connectors_argument,
    on_connect,
)
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.render.output import columns, output_option, print_data


def _targeting(action: str, past: str, help_text: str) -> click.Command:
    @click.command(action, help=help_text)
    @connectors_argument
    @on_connect
    def run(connect: ConnectHttp, names: Sequence[str]) -> None:
        _each(names, lambda name: connect.of(name, "PUT", f"/{action}", doing=f"{action} '{name}'"), past)

    return run


pause = _targeting("pause", "Paused", "Pause connectors: their tasks rest, and keep their place.")
resume = _targeting("resume", "Resumed", "Let paused or stopped connectors go on where they were.")
stop = _targeting(
    "stop", "Stopped", "Stop connectors: they have no tasks. Their offsets can be changed then."
)


@click.command("restart")
@connectors_argument
@click.option("--tasks", "with_tasks", is_flag=True, help="The tasks too.")
@click.option("--failed", "only_failed", is_flag=True, help="Only what has failed.")
@click.option("--task", type=click.IntRange(min=0), help="Only this task.")
@on_connect
def restart(
    connect: ConnectHttp, names: Sequence[str], with_tasks: bool, only_failed: bool, task: int | None
) -> None:
    """Restart connectors."""
    if task is not None and (with_tasks or only_failed):
        raise click.UsageError("--task restarts one task: leave out --tasks and --failed.")
    rest = (
        f"/restart?includeTasks={str(with_tasks).lower()}&onlyFailed={str(only_failed).lower()}"
        if task is None
        else f"/tasks/{task}/restart"
    )
    _each(names, lambda name: connect.of(name, "POST", rest, doing=f"restart '{name}'"), "Restarted")


@click.command("delete")
@connectors_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@on_connect
def delete(connect: ConnectHttp, names: Sequence[str], yes: bool) -> None:
    """Delete connectors. Their topics stay, and so do their offsets: a new connector of this name goes on there."""
    if not yes:
        shown = ", ".join(f"'{name}'" for name in names)
        confirm(f"Delete {shown}?", "nothing was deleted.")
    _each(names, lambda name: connect.of(name, "DELETE", doing=f"delete '{name}'"), "Deleted")


@click.command("offsets")
@connector_argument
@click.option(
    "--alter",
    "file",
    type=click.File("rb"),
    help='Change offsets as this JSON file says: {"offsets": [{"partition": {...}, "offset": {...}}]}; an offset '
    "that is null is removed. This is the form that --output json prints.",
)
@click.option("--reset", is_flag=True, help="Forget all offsets: the connector begins from the start.")
@output_option
@on_connect
def offsets(connect: ConnectHttp, name: str, file: Any, reset: bool, output: str) -> None:
    """Show the offsets of the connector NAME, or change them while it is stopped."""
    if file is not None and reset:
        raise click.UsageError("Pass either --alter or --reset.")
    if reset:
        click.echo(connect.of(name, "DELETE", "/offsets", doing=f"reset the offsets of '{name}'")["message"])
        return
    if file is not None:
        doing = f"change the offsets of '{name}'"
        click.echo(connect.of(name, "PATCH", "/offsets", doing=doing, body=_changes(file))["message"])
        return
    found = connect.of(name, "GET", "/offsets", doing=f"show the offsets of '{name}'")
    rows = [(_compact(one["partition"]), _compact(one["offset"])) for one in found["offsets"]]
    if output != "table":
        print_data(output, found, found["offsets"])
    elif rows:
        click.echo(columns(("PARTITION", "OFFSET"), rows))
    else:
        click.echo(f"'{name}' has no offsets.", err=True)


def _each(names: Sequence[str], act: Callable[[str], object], past: str) -> None:
    """All of them, whatever happens to one."""
    failures = []
    for name in names:
        try:
            act(name)
            click.echo(f"{past} '{name}'.")
        except Failure as failure:
            if len(names) == 1:
                raise
            failure.show()
            failures.append(name)
    if failures:
        raise Failure(f"{len(failures)} of {len(names)} connectors were left as they were.")


def _changes(file: Any) -> Any:
    try:
        return orjson.loads(file.read())
    except orjson.JSONDecodeError as error:
        raise click.UsageError(f"{file.name} is not JSON: {error}.") from error


def _compact(value: object) -> str:
    return orjson.dumps(value).decode()
