"""A server that does not host the persistent queries says who does."""

from pathlib import Path

from moldau.pipeline.sql.engine import Command
from moldau.pipeline.sql.server.groups import Member
from moldau.pipeline.sql.server.service import SqlService
from moldau.pipeline.sql.server.settings import read_configuration

ORDERS = "CREATE STREAM ORDERS (V INT) WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1);"
BIG = "CREATE STREAM BIG WITH (KAFKA_TOPIC='BIG', PARTITIONS=1, REPLICAS=1) AS SELECT * FROM ORDERS EMIT CHANGES;"


def test_the_answer_names_the_host(tmp_path: Path) -> None:
    configuration = read_configuration(
        overrides=[
            f"ksql.streams.state.dir={tmp_path}",
            "bootstrap.servers=127.0.0.1:1",
            "ksql.service.id=pair_",
        ]
    )
    service = SqlService(configuration, "http://first:8088")
    try:
        service.catalog.replay(Command("stream", "ORDERS", "create", ORDERS), 0)
        applied = service.catalog.replay(Command("stream", "BIG", "create", BIG), 1)
        assert applied.is_done, applied.message
        assert service._goes_on(applied).startswith("Spark is starting")
        service._membership._see([Member("http://second:8088", frozenset({"commands"}))])
        assert service._goes_on(applied) == "The server second:8088 hosts the persistent queries of pair_."
        service._membership.is_host = True
        assert service._goes_on(applied).startswith("Spark is starting")
    finally:
        service.queries.close()
