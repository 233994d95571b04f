"""A server without a registry, of a service whose tables need one: it starts, and says which tables it cannot read."""

import logging
from pathlib import Path

import pytest

from e2e.sql.server.conftest import LocalServer
from e2e.sql.server.sql_process import Refused, SqlClient
from moldau.pipeline.sql.server.server import SqlServer
from moldau.pipeline.sql.server.settings import read_configuration
from moldau.testing import LocalCluster


def test_it_starts_and_says_which_tables_it_cannot_read(
    cluster: LocalCluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"ksql_service_id": "without_registry_", "ksql_spark_lazy": "true"}
    with LocalServer(cluster, tmp_path / "with", **settings) as server:
        for name, form in (("coded", "AVRO"), ("plain", "JSON")):
            server.client.ksql(
                f"CREATE STREAM {name}_in (ID STRING KEY, N INT) "
                f"WITH (KAFKA_TOPIC='{name}_here', VALUE_FORMAT='{form}', PARTITIONS=1);"
                f"CREATE SOURCE TABLE {name} (ID STRING PRIMARY KEY, N INT) "
                f"WITH (KAFKA_TOPIC='{name}_here', VALUE_FORMAT='{form}');"
                f"INSERT INTO {name}_in VALUES ('a', 1);"
            )
        assert server.client.rows("SELECT N FROM coded WHERE ID = 'a';") == [[1]]
    overrides = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "listeners": "http://127.0.0.1:0",
        "ksql.streams.state.dir": str(tmp_path / "without"),
        "ksql.service.id": "without_registry_",
        "ksql.spark.lazy": "true",
    }
    configuration = read_configuration(overrides=[f"{name}={value}" for name, value in overrides.items()])
    caplog.set_level(logging.ERROR)
    with WithoutRegistry(SqlServer(configuration)) as server:
        assert "the table CODED cannot be asked on this server: the format AVRO needs" in caplog.text
        assert server.client.rows("SELECT N FROM plain WHERE ID = 'a';") == [[1]]
        with pytest.raises(
            Refused, match=r"CODED cannot be asked on this server.*ksql\.schema\.registry\.url"
        ):
            server.client.rows("SELECT N FROM coded WHERE ID = 'a';")


class WithoutRegistry(LocalServer):
    def __init__(self, server: SqlServer) -> None:
        self.server = server
        self.client = SqlClient(f"http://127.0.0.1:{server.port}")
