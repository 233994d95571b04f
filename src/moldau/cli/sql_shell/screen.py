"""Where the shell prints: the terminal or a pipe, and the file of SPOOL beside it."""

import shutil
import sys
from pathlib import Path
from typing import IO

import click

from moldau.cli.failures import Failure
from moldau.cli.sql_shell.grid import Style


class Screen:
    def __init__(self, output: str = "table") -> None:
        self.output = output
        """`table` or `json`."""
        self.wrap = True
        self.column_width: int | None = None
        self._spool: IO[str] | None = None

    @property
    def is_json(self) -> bool:
        return self.output == "json"

    @property
    def style(self) -> Style:
        """The width of the terminal as it is now. A pipe has none."""
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        return Style(width, self.wrap, self.column_width)

    def show(self, *lines: str) -> None:
        if lines:
            text = "\n".join(lines)
            click.echo(text)
            self._note(text)

    def show_note(self, line: str) -> None:
        """What is said beside the answer: not in JSON, which programs read."""
        if not self.is_json:
            click.secho(line, dim=True)
            self._note(line)

    def show_failure(self, failure: click.ClickException) -> None:
        lines = [failure.message, *([failure.hint] if isinstance(failure, Failure) and failure.hint else [])]
        click.secho(lines[0], fg="red")
        for line in lines[1:]:
            click.echo(line)
        self._note("\n".join(lines))

    def note_typed(self, text: str) -> None:
        """Into the file of SPOOL: the terminal shows what is typed itself."""
        self._note("sql> " + text)

    def clear(self) -> None:
        click.clear()

    def start_spool(self, path: Path) -> None:
        self.stop_spool()
        try:
            self._spool = path.open("a", encoding="utf-8")
        except OSError as error:
            raise Failure(f"cannot write to {path}: {error.strerror}.") from error

    def stop_spool(self) -> None:
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    def _note(self, text: str) -> None:
        if self._spool is not None:
            self._spool.write(text + "\n")
            self._spool.flush()
