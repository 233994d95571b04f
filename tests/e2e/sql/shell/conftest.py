"""A SQL server without Spark, and the shell in a pseudo-terminal on it."""

import itertools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.sql.server.sql_process import SqlClient, SqlProcess
from e2e.sql.shell.terminal import MOLDAU, TerminalShell
from moldau.testing import LocalCluster

ANSWER_S = 120


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def sql(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlProcess]:
    folder = tmp_path_factory.mktemp("sql")
    settings = {"ksql.spark.lazy": "true", "ksql.service.id": "shell_"}
    with SqlProcess(folder / "server", cluster.bootstrap_servers, folder / "state", settings) as server:
        yield server
    assert "Traceback" not in server.log_text(), server.log_text()[-4000:]


@pytest.fixture
def client(sql: SqlProcess) -> SqlClient:
    return sql.client


@pytest.fixture
def sql_url(sql: SqlProcess) -> str:
    return sql.client.url


_numbers = itertools.count(1)


@pytest.fixture
def stream(client: SqlClient) -> str:
    """A stream with two rows."""
    name = f"VISITS{next(_numbers)}"
    client.ksql(
        f"CREATE STREAM {name} (ID STRING KEY, N INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='JSON', PARTITIONS=1);"
        f"INSERT INTO {name} VALUES ('a', 1); INSERT INTO {name} VALUES ('b', 2);"
    )
    return name


@pytest.fixture
def shell(sql: SqlProcess, tmp_path: Path) -> Iterator[TerminalShell]:
    with TerminalShell(sql.client.url, tmp_path) as shell:
        shell.wait_for("Connected to")
        yield shell


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def moldau_sql(sql: SqlProcess, tmp_path: Path) -> Run:
    """`moldau sql` with these arguments and this standard input, on the server."""

    def run(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        command = [MOLDAU, "sql", *arguments]
        environment = {"MOLDAU_SQL": sql.client.url, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            check=False,
            env=environment,
            cwd=tmp_path,
        )

    return run
