"""A SQL server in a process of its own, without Spark, on a broker in the test's process."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from e2e.sql.server.sql_process import SqlClient, SqlProcess
from moldau.testing import LocalCluster

PUSH_QUERIES_MAX = 20


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def sql(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlProcess]:
    folder = tmp_path_factory.mktemp("sql")
    settings = {
        "ksql.spark.lazy": "true",
        "ksql.service.id": "http_",
        "ksql.max.push.queries": str(PUSH_QUERIES_MAX),
        "ksql.max.request.bytes": str(2 << 20),
    }
    with SqlProcess(folder / "server", cluster.bootstrap_servers, folder / "state", settings) as server:
        yield server
    assert "Traceback" not in server.log_text(), server.log_text()[-4000:]


@pytest.fixture
def client(sql: SqlProcess) -> SqlClient:
    return sql.client


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


Transients = Callable[[], set[str]]


@pytest.fixture
def transients(client: SqlClient) -> Transients:
    """The ids of the push queries that run."""

    def found() -> set[str]:
        (answer,) = client.ksql("SHOW QUERIES;")
        return {one["id"] for one in answer["queries"] if one["queryType"] == "PUSH"}

    return found
