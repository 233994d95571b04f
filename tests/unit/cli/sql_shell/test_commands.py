"""Commands of the shell, and when what is typed is complete."""

import pytest

from moldau.cli.sql_shell.commands import Leave, is_command
from moldau.cli.sql_shell.screen import Screen
from moldau.cli.sql_shell.session import Session
from moldau.cli.sql_shell.sql_server import SqlServer
from moldau.cli.sql_shell.terminal import is_complete


@pytest.fixture
def session() -> Session:
    """On a server that is never asked."""
    return Session(SqlServer("http://127.0.0.1:1"), Screen())


@pytest.mark.parametrize(
    "text",
    ["help", "EXIT;", "quit", "output json", "server", "server http://a:1;", "spool 'x';", "SPOOL OFF"],
)
def test_commands(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize("text", ["SHOW STREAMS;", "help me", "spool", "SELECT history FROM s;"])
def test_no_commands(text: str) -> None:
    assert not is_command(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("help", True),
        ("SHOW STREAMS;", True),
        ("SHOW STREAMS; -- all", True),
        ("SELECT *", False),
        ("SELECT *\nFROM s;", True),
        ("SELECT 'a;", False),
        ("SHOW STREAMS; SHOW", False),
    ],
)
def test_enter_runs_what_is_complete(text: str, expected: bool) -> None:
    assert is_complete(text) is expected


def test_set_cli(session: Session) -> None:
    session.run("SET CLI WRAP OFF;")
    session.run("set cli column-width 12;")
    assert (session.screen.style.wrap, session.screen.style.column_width) == (False, 12)
    session.run("SET CLI WRAP 'ON';")
    session.run("SET CLI COLUMN-WIDTH 0;")
    assert (session.screen.style.wrap, session.screen.style.column_width) == (True, None)


def test_variables_are_the_same_in_any_case(session: Session) -> None:
    session.run("DEFINE Name = 'a';")
    session.run("DEFINE name = '${NAME}b';")
    assert session.variables == {"Name": "ab"}
    session.run("UNDEFINE NAME;")
    assert session.variables == {}


def test_leaving(session: Session) -> None:
    with pytest.raises(Leave):
        session.run("exit;")


def test_help_names_every_command(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    session.run("help")
    told = capsys.readouterr().out
    for name in ("exit", "history", "output", "server", "RUN SCRIPT", "SPOOL", "SET CLI WRAP"):
        assert name in told
