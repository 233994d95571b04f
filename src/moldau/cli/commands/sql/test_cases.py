"""`moldau sql test`: runs case files, without a server, a broker or Spark."""

from collections.abc import Sequence
from pathlib import Path

import click

from moldau.cli.render.output import document_option


@click.command("test")
@click.argument(
    "paths", metavar="DIR|FILE...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--functions",
    "functions",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of user functions in Python.",
)
@click.option(
    "--junit",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the results as JUnit XML too.",
)
@document_option
def test_cases(paths: Sequence[Path], functions: Path | None, junit: Path | None, output: str) -> int:
    """Run test cases without a server or broker.

    A case file has statements, inserts and asserts. DIR stands for all .sql files below it. Exits with 1 if a case
    fails.
    """
    raise click.ClickException("Not there yet.")
