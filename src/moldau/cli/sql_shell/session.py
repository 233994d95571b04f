"""One session of the shell: runs statements on a server with the properties and variables that were set.

Statements go to the server as they are, one at a time. SET, DEFINE and RUN SCRIPT are the session's own, as are the
commands in `commands.py`. Raises Failure; what becomes of the shell then is for the caller.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from moldau.cli.failures import Failure
from moldau.cli.render.output import counted
from moldau.cli.sql_shell.commands import run_command
from moldau.cli.sql_shell.entities import entity_lines
from moldau.cli.sql_shell.rows_output import print_rows
from moldau.cli.sql_shell.screen import Screen
from moldau.cli.sql_shell.sql_server import Json, Settings, SqlServer, TimedOut
from moldau.cli.sql_shell.statements import Classified, Kind, classify, statements_of, without_comments
from moldau.cli.sql_shell.values import json_text

SCRIPTS_MAX: Final = 20
"""How deep scripts may run scripts."""

_EMITS: Final = re.compile(r"\bEMIT\s+(?:CHANGES|FINAL)\b", re.I)


class Limits(NamedTuple):
    """When the shell ends a query by itself."""

    rows: int | None = None
    time_ms: int | None = None

    @property
    def time_s(self) -> float | None:
        return None if self.time_ms is None else self.time_ms / 1000


class Session:
    def __init__(self, server: SqlServer, screen: Screen, limits: Limits = Limits()) -> None:
        self.server = server
        self.screen = screen
        self.properties: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.waits_for_commands = True
        """Whether a statement waits until the server has executed the one before it."""
        self.history: Callable[[], Sequence[str]] = tuple
        """What has been typed, oldest first."""
        self._limits = limits
        self._last_command: int | None = None
        self._scripts = 0

    @property
    def settings(self) -> Settings:
        return Settings(self.properties, self.variables)

    def close(self) -> None:
        self.screen.stop_spool()
        self.server.close()

    def connect(self, url: str) -> None:
        self.server.close()
        self.server = SqlServer(url, self.server.login)
        self._last_command = None
        self.server.info()

    def run_text(self, text: str) -> None:
        """All statements of a text. The last one may lack its semicolon."""
        for statement, _ in statements_of(text):
            self.run(statement)

    def run(self, statement: str) -> None:
        """A statement, or a command of the shell."""
        if run_command(self, statement):
            return
        found = classify(statement)
        match found.kind:
            case Kind.QUERY:
                self._query(statement)
            case Kind.PRINT:
                self._print_topic(statement)
            case Kind.OTHER:
                self._show(self.execute(statement))
            case _:
                self._change(found)

    def execute(self, statement: str) -> list[Json]:
        """The server's answers to a statement that is no query. Nothing is printed."""
        answers = self.server.run(
            statement, self.settings, self._last_command if self.waits_for_commands else None
        )
        for answer in answers:
            number = answer.get("commandSequenceNumber")
            if isinstance(number, int) and number >= 0:
                self._last_command = number
        return answers

    def _show(self, answers: Iterable[Json]) -> None:
        for answer in answers:
            if self.screen.is_json:
                self.screen.show(json_text(answer))
            else:
                self.screen.show(*entity_lines(answer, self.screen.style), "")

    def _query(self, statement: str) -> None:
        is_push = _EMITS.search(without_comments(statement)) is not None
        limits = self._limits
        try:
            with (
                self.server.query(statement, self.settings, limits.time_s) as rows,
                _ended_after(limits.time_s, lambda: self.server.end_query(rows.query_id)),
            ):
                count = print_rows(rows, self.screen, is_push=is_push, rows_max=limits.rows)
        except TimedOut:
            self._end_of_time()
        else:
            self.screen.show_note(f"{counted(count, 'row')}\n")

    def _print_topic(self, statement: str) -> None:
        try:
            with self.server.print_topic(statement, self.settings, self._limits.time_s) as lines:
                for count, line in enumerate(lines, 1):
                    self.screen.show(line)
                    if count == self._limits.rows:
                        break
        except TimedOut:
            self._end_of_time()

    def _end_of_time(self) -> None:
        self.screen.show_note(f"Ended after {self._limits.time_ms} ms.")

    def _change(self, found: Classified) -> None:
        words = [self._substituted(word) for word in found.words]
        match found.kind:
            case Kind.SET:
                name, value = words
                self.server.is_valid_property(name)
                self.execute(f"SET {_quoted(name)} = {_quoted(value)};")
                self.properties[name] = value
            case Kind.UNSET:
                self._unset(words[0])
            case Kind.DEFINE:
                self.variables[_same(words[0], self.variables) or words[0]] = words[1]
            case Kind.UNDEFINE:
                self._undefine(words[0])
            case Kind.RUN_SCRIPT:
                self.run_script(Path(words[0]))

    def _unset(self, name: str) -> None:
        if not name:
            self.properties.clear()
        elif self.properties.pop(name, None) is None:
            raise Failure(f"the property '{name}' is not set in this session.", "SHOW PROPERTIES; lists all.")

    def _undefine(self, name: str) -> None:
        known = _same(name, self.variables)
        if known is None:
            raise Failure(f"the variable {name} is not defined.", "SHOW VARIABLES; lists those that are.")
        del self.variables[known]

    def run_script(self, path: Path) -> None:
        if self._scripts == SCRIPTS_MAX:
            raise Failure(
                f"{path} is a script in a script, more than {SCRIPTS_MAX} deep.", "Does it run itself?"
            )
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise Failure(f"cannot read the script {path}: {reason}.") from error
        self._scripts += 1
        try:
            for statement, line in statements_of(text):
                with _named(f"{path}, line {line}"):
                    self.run(statement)
        finally:
            self._scripts -= 1

    def _substituted(self, word: str) -> str:
        """The server replaces variables in statements; in what never reaches it the session does."""
        if "${" not in word:
            return word
        # Imported here because only variables within SET and DEFINE need it.
        from moldau.pipeline.sql.engine.session import Session as Variables

        return Variables(variables=self.variables).substituted(_quoted(word))[1:-1].replace("''", "'")


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def _same(name: str, known: dict[str, str]) -> str | None:
    """The known name that differs in case at most."""
    return next((one for one in known if one.lower() == name.lower()), None)


@contextmanager
def _named(place: str) -> Iterator[None]:
    """A statement of a script fails with the place where it begins: the server counts lines from there."""
    try:
        yield
    except Failure as failure:
        raise Failure(f"in the statement at {place}:\n{failure.message}", failure.hint) from failure


@contextmanager
def _ended_after(seconds: float | None, end: Callable[[], None]) -> Iterator[None]:
    """The server ends the query, so its rows end."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
