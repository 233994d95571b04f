"""The shell's own commands, which are no SQL: help, output, spool and others. A semicolon at their end is optional."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moldau import __version__
from moldau.cli.failures import Failure

if TYPE_CHECKING:
    from moldau.cli.sql_shell.session import Session

USAGE: Final = (
    ("help", "this list"),
    ("exit", "leave the shell, as Ctrl-D does"),
    ("history", "what has been typed"),
    ("clear", "clear the screen"),
    ("output [table|json]", "how answers are printed"),
    ("server [URL]", "show the server, or use another"),
    ("version", "the versions of shell and server"),
    ("request_pipelining [ON|OFF]", "whether statements do not wait for the one before them"),
    ("RUN SCRIPT 'file';", "run the statements of a file"),
    ("SPOOL 'file';", "copy all output to a file; SPOOL OFF; ends that"),
    ("SET CLI WRAP ON|OFF;", "whether long cells continue on the next line, or are cut"),
    ("SET CLI COLUMN-WIDTH n;", "the width of the columns of queries; 0: as fits"),
)
_STATEMENTS: Final = """
A statement ends with a semicolon and may take several lines:
  SHOW STREAMS; SHOW TABLES; SHOW QUERIES; SHOW TOPICS; SHOW FUNCTIONS; DESCRIBE name;
  SELECT * FROM name EMIT CHANGES;            Ctrl-C ends the query
  EXPLAIN query; PRINT topic; SET 'auto.offset.reset' = 'earliest'; DEFINE name = 'value';"""


class Leave(Exception):
    """The user ends the shell."""


def _leave(session: "Session") -> None:
    raise Leave


def _help(session: "Session") -> None:
    width = max(len(usage) for usage, _ in USAGE) + 2
    lines = [f"{usage:<{width}}{summary}" for usage, summary in USAGE]
    session.screen.show(*lines, *_STATEMENTS.splitlines())


def _history(session: "Session") -> None:
    session.screen.show(*(f"{number:>5}  {text}" for number, text in enumerate(session.history(), 1)))


def _clear(session: "Session") -> None:
    session.screen.clear()


def _output(session: "Session", form: str | None) -> None:
    if form is not None:
        session.screen.output = "json" if form.lower() == "json" else "table"
    session.screen.show_note(f"Output: {session.screen.output}")


def _server(session: "Session", url: str | None) -> None:
    if url is not None:
        session.connect(url)
    session.screen.show(f"Server: {session.server.url}")


def _version(session: "Session") -> None:
    info = session.server.info()
    session.screen.show(f"Shell: {__version__}", f"Server: {info.get('version')} at {session.server.url}")


def _pipelining(session: "Session", value: str | None) -> None:
    if value is not None:
        session.waits_for_commands = value.upper() == "OFF"
    session.screen.show(f"Request pipelining: {'OFF' if session.waits_for_commands else 'ON'}")


def _spool(session: "Session", name: str) -> None:
    session.screen.start_spool(Path(name.replace("''", "'")))
    session.screen.show_note(f"Output goes to {name} too. SPOOL OFF; ends that.")


def _spool_off(session: "Session") -> None:
    session.screen.stop_spool()


def _set_cli(session: "Session", name: str, value: str) -> None:
    match name.upper(), value.upper().strip("'"):
        case "WRAP", "ON" | "OFF" as wrap:
            session.screen.wrap = wrap == "ON"
        case "COLUMN-WIDTH", width if width.isdecimal():
            session.screen.column_width = int(width) or None
        case _:
            raise Failure(
                f"the shell has no setting {name.upper()} with the value {value}.",
                "It has SET CLI WRAP ON|OFF; and SET CLI COLUMN-WIDTH number;",
            )


def _form(words: str) -> re.Pattern[str]:
    return re.compile(rf"\s*{words.replace(' ', chr(92) + 's+')}\s*;?\s*", re.I)


_COMMANDS: Final[tuple[tuple[re.Pattern[str], Callable[..., None]], ...]] = (
    (_form("(?:exit|quit)"), _leave),
    (_form("help"), _help),
    (_form("history"), _history),
    (_form("clear"), _clear),
    (_form(r"output(?: (table|tabular|json))?"), _output),
    (_form(r"server(?: ([^\s;]+))?"), _server),
    (_form("version"), _version),
    (_form("request_pipelining(?: (on|off))?"), _pipelining),
    (_form("spool '((?:[^']|'')+)'"), _spool),
    (_form("spool off"), _spool_off),
    (_form(r"set cli ([\w-]+) ([^\s;]+)"), _set_cli),
)


def is_command(text: str) -> bool:
    return any(form.fullmatch(text) for form, _ in _COMMANDS)


def run_command(session: "Session", text: str) -> bool:
    """Whether the text was a command. Raises Leave, or Failure."""
    for form, run in _COMMANDS:
        if found := form.fullmatch(text):
            run(session, *found.groups())
            return True
    return False
