"""Options and output that the `moldau perf` commands share."""

from collections.abc import Callable, Mapping, Sequence

import click

from moldau.cli.commands.perf.client_metrics import ClientMetrics
from moldau.cli.commands.perf.measurements import Say
from moldau.cli.options import complete_topic
from moldau.cli.render.output import CommandFunction, print_data
from moldau.cli.render.progress import Bar

DEFAULT_SIZE = 100


topic_argument = click.argument("topic", shell_complete=complete_topic)


metrics_option = click.option(
    "--print-metrics",
    is_flag=True,
    help="Print client metrics at the end: requests, round trips, batches.",
)


acks_option = click.option(
    "--acks",
    type=click.Choice(["0", "1", "all"]),
    default="all",
    show_default=True,
    help="Which replicas must acknowledge a record: none, the leader, or all in sync.",
)


def count_option(default: int) -> Callable[[CommandFunction], CommandFunction]:
    return click.option(
        "--num-records",
        "-n",
        "count",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help="Number of records.",
    )


def progress_printer(bar: Bar, output: str) -> Say:
    """Prints intermediate lines, unless a progress bar is shown or the output is for programs."""
    return click.echo if output == "table" and not bar.is_shown else lambda line: None


def show_figures(
    figures: Mapping[str, float], lines: Sequence[str], metrics: ClientMetrics | None, output: str
) -> None:
    if output == "json" and metrics is not None:
        print_data(output, {**figures, "metrics": metrics.as_json()})
    elif output != "table":
        print_data(output, {**figures, **(metrics.as_json() if metrics else {})})
    else:
        click.echo("\n".join(lines))
        if metrics is not None:
            click.echo(f"\n{metrics.as_text()}")
