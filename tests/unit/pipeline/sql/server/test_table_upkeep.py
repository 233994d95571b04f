"""Which tables are kept for pull queries."""

from moldau.pipeline.sql.engine import Catalog, Command
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.server.table_upkeep import asked_tables

USERS = "(ID STRING PRIMARY KEY, NAME STRING) WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON', PARTITIONS=1)"
VIEWS = "(ID STRING KEY, PAGE STRING) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=1)"


def catalog_of(*statements: str) -> Catalog:
    catalog = Catalog(builtin())
    for offset, statement in enumerate(statements):
        applied = catalog.replay(Command("table", "X", "create", statement), offset)
        assert applied.is_done, applied.message
    return catalog


def test_tables_of_queries_and_source_tables_are_kept() -> None:
    catalog = catalog_of(
        f"CREATE TABLE PLAIN {USERS};",
        f"CREATE SOURCE TABLE USERS {USERS};",
        f"CREATE STREAM VIEWS {VIEWS};",
        "CREATE TABLE COUNTS WITH (KAFKA_TOPIC='COUNTS', PARTITIONS=1, REPLICAS=1, KEY_FORMAT='KAFKA', "
        "VALUE_FORMAT='JSON') AS SELECT ID, COUNT(*) AS N FROM VIEWS GROUP BY ID;",
    )
    found = dict(asked_tables(catalog.definitions))
    assert set(found) == {"USERS", "COUNTS"}
    assert found["USERS"] is None
    assert found["COUNTS"] is not None
    assert found["COUNTS"].sink == "COUNTS"
