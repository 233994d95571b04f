"""`moldau sql test`: runs case files, without a server, a broker or Spark."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moldau.cli.failures import Failure
from moldau.cli.render.output import counted, document_option, print_json, seconds_text
from moldau.core.errors import ConfigError

if TYPE_CHECKING:
    from moldau.cli.commands.sql.case_report import FileRun
    from moldau.pipeline.sql.cases import CaseResult
    from moldau.pipeline.sql.functions.library import Library

DIRECTIVE = "--@test"


@click.command("test")
@click.argument(
    "paths", metavar="DIR|FILE...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--functions",
    "functions",
    metavar="DIR",
    type=click.Path(exists=True, path_type=Path),
    help="A folder or file of user functions in Python.",
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

    A case file has statements, inserts and asserts. DIR stands for all .sql files below it that have cases. Exits
    with 1 if a case fails.
    """
    # Imported here because the help needs neither the language nor its functions.
    from moldau.cli.commands.sql.case_report import junit_xml, results_document

    library = _library(functions)
    runs = []
    for file in case_files(paths):
        runs.append(_run(file, library))
        if output == "table":
            _print_failures(runs[-1].results)
    if not runs:
        told = ", ".join(map(str, paths))
        raise Failure(f"no case found in {told}.", f"A case begins with a line {DIRECTIVE}: its name")
    if junit is not None:
        _write(junit, junit_xml(runs))
    if output == "json":
        print_json(results_document(runs))
    else:
        click.echo(summary(runs))
    return 0 if all(result.passed for run in runs for result in run.results) else 1


def case_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files that were named, and those with cases in the folders that were named; scripts of cases are not."""
    for path in paths:
        if path.is_dir():
            yield from (file for file in sorted(path.rglob("*.sql")) if DIRECTIVE in _text(file))
        else:
            yield path


def summary(runs: "Sequence[FileRun]") -> str:
    results = [result for run in runs for result in run.results]
    failed = sum(not result.passed for result in results)
    took = seconds_text(sum(run.seconds for run in runs))
    outcome = f"{len(results) - failed:,} passed, {failed:,} failed" if failed else "all passed"
    return f"{counted(len(results), 'case')} in {counted(len(runs), 'file')}: {outcome} ({took})"


def _run(file: Path, library: "Library | None") -> "FileRun":
    from moldau.cli.commands.sql.case_report import FileRun
    from moldau.pipeline.sql.cases import run_file

    start = time.monotonic()
    try:
        results = run_file(file, library)
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        raise Failure(f"cannot run {file}: {error}.", "See `moldau sql test --help`.") from error
    return FileRun(str(file), results, time.monotonic() - start)


def _library(functions: Path | None) -> "Library | None":
    if functions is None:
        return None
    from moldau.pipeline.sql.functions.user.loading import library_of

    try:
        return library_of([str(functions)])
    except ConfigError as error:
        raise Failure(f"cannot load the functions: {error}") from error


def _print_failures(results: "Sequence[CaseResult]") -> None:
    for result in results:
        if not result.passed:
            click.echo(result)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {file}: {error.strerror}.") from error
