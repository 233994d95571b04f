"""`moldau log`: dumps and verifies log files on disk. Needs no broker."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click
import orjson

from moldau.cli.failures import Failure
from moldau.cli.log_files.dump import dump
from moldau.cli.log_files.log_file import LOG, FileDamage, LogFile, find_files, in_order, mapped, recognise
from moldau.cli.log_files.verify import verify
from moldau.cli.render.output import bytes_text, counted, document_option, print_json
from moldau.cli.render.progress import progress_bar

EXIT_DAMAGED = 1

paths_argument = click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)


@click.group("log")
def command() -> None:
    """Dump and verify log files, without a broker.

    PATH is a file (.log, .index, .timeindex, .txnindex, .snapshot, leader-epoch-checkpoint), the directory of a
    partition, or a whole log directory, of Moldau or of Apache Kafka. Nothing is changed. While a broker writes to a
    log, its last batch may appear truncated.
    """


@command.command("dump")
@paths_argument
@click.option("--records", "-r", "with_records", is_flag=True, help="Also print the records of each batch.")
@click.option("--from-offset", type=click.IntRange(min=0), default=0, help="Skip batches before this offset.")
@click.option("--limit", "-n", type=click.IntRange(min=1), help="Stop after this number of lines per file.")
@document_option
def dump_command(
    paths: Sequence[Path], with_records: bool, from_offset: int, limit: int | None, output: str
) -> int:
    """Print the contents of files. Uses the format of Kafka's DumpLogSegments, or JSON lines with -o json.

    Records of __consumer_offsets and __transaction_state are decoded. A damaged file is printed up to the damage; the
    exit code is then 1.
    """
    damaged = False
    for file in _chosen(paths):
        if output == "table":
            click.echo(f"Dumping {file.path}")
            if file.kind == LOG:
                click.echo(f"Log starting offset: {file.base_offset}")
        try:
            with _reading(), mapped(file.path) as data:
                for number, line in enumerate(dump(file, data, with_records, from_offset)):
                    if number == limit:
                        break
                    click.echo(
                        orjson.dumps({"file": str(file.path), **line.fields})
                        if output == "json"
                        else line.text
                    )
                    damaged |= line.fields.get("is_valid") is False
        except FileDamage as damage:
            damaged = True
            where = "" if damage.position is None else f" at byte {damage.position:,}"
            click.echo(f"{file.path} is damaged{where}: {damage.problem}.", err=True)
    return EXIT_DAMAGED if damaged else 0


@command.command("verify")
@paths_argument
@click.option("--deep", is_flag=True, help="Also decompress every batch and parse its records.")
@document_option
def verify_command(paths: Sequence[Path], deep: bool, output: str) -> int:
    """Verify files. Checks checksums, the order of offsets, and indexes against logs. Exit code 1: damage found."""
    with _reading():
        chosen = in_order(_chosen(paths))
        with progress_bar(sum(file.path.stat().st_size for file in chosen), "verifying") as bar:
            account = verify(chosen, deep, bar.advance)
    if output == "json":
        print_json(asdict(account))
        return EXIT_DAMAGED if account.damages else 0
    for damage in account.damages:
        where = "" if damage.position is None else f", byte {damage.position:,}"
        at = "" if damage.offset is None else f" (offset {damage.offset:,})"
        click.echo(f"{damage.file}{where}{at}: {damage.problem}.")
    seen = (
        f"{counted(account.files, 'file')} of {counted(account.partitions, 'partition')} with "
        f"{counted(account.records, 'record')} in {counted(account.batches, 'batch').replace('batchs', 'batches')}, "
        f"{bytes_text(account.bytes)}"
    )
    found = f"{counted(len(account.damages), 'problem')} found" if account.damages else "no damage"
    click.echo(f"{seen}: {found}.")
    return EXIT_DAMAGED if account.damages else 0


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(
            f"{error.filename} cannot be read: {(error.strerror or str(error)).lower()}.",
            "A running broker may have deleted it: try again, or stop the broker first.",
        ) from error


def _chosen(paths: Iterable[Path]) -> Iterator[LogFile]:
    for path in paths:
        if path.is_dir():
            found = list(find_files(path))
            if not found:
                raise Failure(
                    f"there are no log files in {path}.",
                    "Pass the directory of a partition, or a directory in log.dirs.",
                )
            yield from found
            continue
        file = recognise(path)
        if file is None:
            raise Failure(
                f"{path} is not a log file.",
                "Log files have names like 00000000000000000000.log, .index, .timeindex, .txnindex or .snapshot.",
            )
        yield file
