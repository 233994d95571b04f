"""The options of the SQL shell. What they open is imported when they have been read."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.options import KeyValue, read_properties

if TYPE_CHECKING:
    from moldau.cli.sql_shell.session import Session

DEFAULT_URL = "http://localhost:8088"
URL_VARIABLE = "MOLDAU_SQL"
_OUTPUTS = {"table": "table", "json": "json", "tabular": "table"}


class OutputChoice(click.Choice[str]):
    """`table` or `json`; ksqlDB's word for a table is understood too."""

    def __init__(self) -> None:
        super().__init__(["table", "json"], case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(_OUTPUTS.get(str(value).lower(), value), param, ctx)


def login_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --user, --password and --token."""
    for option in (
        click.option("--token", metavar="TOKEN", help="Bearer token for the server."),
        click.option("--password", "-p", metavar="PASSWORD", help="Password for basic authentication."),
        click.option("--user", "-u", metavar="NAME", help="User name for basic authentication."),
    ):
        function = option(function)
    return function


define_option = click.option(
    "--define",
    "-d",
    "variables",
    metavar="NAME=VALUE",
    type=KeyValue(),
    multiple=True,
    help="Define a variable, written ${NAME} in statements. Repeatable.",
)


def shell_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--url", "url", hidden=True, envvar=URL_VARIABLE, default=DEFAULT_URL),
        click.option(
            "--query-timeout",
            "query_timeout_ms",
            metavar="MS",
            type=click.IntRange(1),
            help="End every query after this many milliseconds.",
        ),
        click.option(
            "--query-row-limit",
            "row_limit",
            metavar="ROWS",
            type=click.IntRange(1),
            help="End every query after this many rows.",
        ),
        click.option(
            "--output",
            "-o",
            type=OutputChoice(),
            default="table",
            show_default=True,
            help="The output format.",
        ),
        define_option,
        click.option(
            "--config-file",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Properties for all statements, as KEY=VALUE lines.",
        ),
        click.option(
            "--file",
            "-f",
            "script",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Run the statements of this file, and exit.",
        ),
        click.option("--execute", "-e", metavar="SQL", help="Run these statements, and exit."),
        login_options,
    ):
        function = option(function)
    return function


def open_shell(
    *,
    url: str,
    user: str | None,
    password: str | None,
    token: str | None,
    execute: str | None,
    script: Path | None,
    config_file: Path | None,
    variables: Sequence[tuple[str, str]],
    output: str,
    row_limit: int | None,
    query_timeout_ms: int | None,
) -> int:
    if execute is not None and script is not None:
        raise click.UsageError("--execute and --file exclude each other.")
    # Imported here because the help needs no HTTP client.
    from moldau.cli.sql_shell.screen import Screen
    from moldau.cli.sql_shell.session import Limits, Session
    from moldau.cli.sql_shell.sql_server import Login, SqlServer

    session = Session(
        SqlServer(url, Login(user, password, token)), Screen(output), Limits(row_limit, query_timeout_ms)
    )
    session.properties.update(read_properties(str(config_file)) if config_file else {})
    session.variables.update(variables)
    try:
        _run(session, execute, script)
    finally:
        session.close()
    return 0


def _run(session: "Session", execute: str | None, script: Path | None) -> None:
    """Statements that were given, from standard input if it is no terminal, or else those that are typed."""
    from moldau.cli.sql_shell.commands import Leave

    try:
        if execute is not None:
            session.run_text(execute)
        elif script is not None:
            session.run_script(script)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            # Imported here because only terminals need prompt_toolkit.
            from moldau.cli.sql_shell.terminal import converse

            converse(session)
        else:
            session.run_text(sys.stdin.read())
    except Leave:
        return
