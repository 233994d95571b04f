"""Starts the demo: its statements on the SQL server, and the process that produces page views."""

import contextlib
import subprocess
import sys
import threading
from importlib.resources import files
from typing import Final

import click

from moldau.cli.failures import Failure
from moldau.cli.local.secure_folder import ADMIN, SecureFolder
from moldau.cli.local.services import pasteable
from moldau.cli.sql_shell.sql_server import Login, Settings, SqlServer
from moldau.core.errors import ConfigError

LOOK_EVERY_S: Final = 0.5
STOP_S: Final = 10.0
NOTHING_SET: Final = Settings({}, {})

TABLE: Final = "PAGEVIEWS_PER_REGION"
PUSH: Final = "SELECT * FROM pageviews_enriched EMIT CHANGES LIMIT 3;"
PULL: Final = "SELECT * FROM pageviews_per_region WHERE region = 'Bohemia';"
TO_TRY: Final = f"""
The demo is running. Try it in a second terminal:
  {{before}}{{moldau}} sql{{sql}} --execute "{PUSH}"
  {{before}}{{moldau}} sql{{sql}} --execute "{PULL}"
  {{before}}{{moldau}} sql{{sql}} --execute "EXPLAIN {{query_id}};"
"""


def statements() -> str:
    return (files("moldau.cli.local.demo") / "statements.sql").read_text(encoding="utf-8")


class Demo:
    """`start` returns at once. What to try is printed as soon as it works."""

    def __init__(
        self, servers: str, sql_url: str, sql_argument: str, made: SecureFolder | None = None
    ) -> None:
        """`sql_argument` is what follows `moldau sql` to reach the server. With `made` the admin logs in."""
        self._servers = servers
        self._sql_argument = sql_argument
        self._before = "" if made is None else made.variables
        self._client_files = [] if made is None else [str(made.client_file(ADMIN, "json"))]
        self._server = (
            SqlServer(sql_url)
            if made is None
            else SqlServer(sql_url, Login(ADMIN, made.passwords[ADMIN]), made.trust_file)
        )
        self._generator: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        from moldau.pipeline.spark.session import require_spark

        try:
            self._server.run(statements(), NOTHING_SET)
        except Failure as failure:
            # The platform runs nevertheless.
            click.echo(f"demo      off: {failure.message}")
            return
        self._generator = subprocess.Popen(  # noqa: S603 our own module
            [sys.executable, "-m", "moldau.cli.local.demo.page_views", self._servers, *self._client_files],
            start_new_session=True,
        )
        try:
            require_spark()
        except ConfigError as missing:
            click.echo(f"demo      page views arrive, but the queries do not run: {missing}")
            return
        click.echo("demo      Spark is starting; everything else is ready")
        threading.Thread(target=self._follow, name="demo", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()
        if self._generator is None:
            return
        self._generator.terminate()
        try:
            self._generator.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._generator.kill()
            self._generator.wait()

    def _follow(self) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            with contextlib.suppress(Failure):
                if self._has_rows():
                    to_try = pasteable(
                        TO_TRY,
                        self._servers,
                        before=self._before,
                        sql=self._sql_argument,
                        query_id=self._query_id(),
                    )
                    click.echo(to_try)
                    return

    def _has_rows(self) -> bool:
        """Whether rows have come all the way."""
        with self._server.query(PULL, NOTHING_SET) as rows:
            return any(rows)

    def _query_id(self) -> str:
        """Of the query that writes the table: the server numbers them."""
        [answer] = self._server.run("SHOW QUERIES;", NOTHING_SET)
        return next(str(query["id"]) for query in answer["queries"] if TABLE in query["sinks"])
