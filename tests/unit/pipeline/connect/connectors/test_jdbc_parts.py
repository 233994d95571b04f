"""The JDBC connectors without a server: names, URLs, settings, offsets, queries and rows."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from connect_kit import Reports, StoredOffsets, sink_record, write
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.jdbc.dialects import DIALECTS
from moldau.pipeline.connect.connectors.jdbc.row_queries import Bounds, RowSource, Watched, rows_query
from moldau.pipeline.connect.connectors.jdbc.sink import JdbcSinkConnector, JdbcSinkTask
from moldau.pipeline.connect.connectors.jdbc.source import JdbcSourceConnector, JdbcSourceTask
from moldau.pipeline.connect.connectors.jdbc.source_position import (
    Position,
    check_partition,
    moment_offset,
    partitions_of,
)
from moldau.pipeline.connect.connectors.jdbc.table_names import (
    TableFilter,
    TableName,
    clashes,
    split_name,
    table_named,
)
from moldau.pipeline.connect.connectors.jdbc.timestamp_granularity import as_granularity
from moldau.pipeline.connect.connectors.jdbc.urls import DatabaseUrl
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import validate
from moldau.pipeline.connect.plugins import find_connector
from moldau.pipeline.connect.server.connector_files import read_connector

GUIDE = Path(__file__).resolve().parents[5] / "docs/guides/connectors/jdbc.md"
SOURCE = {"connection.url": "jdbc:sqlite:/x.db", "mode": "bulk", "topic.prefix": "p-"}
SINK = {"connection.url": "jdbc:postgresql://db/shop", "topics": "t"}
MOMENT = datetime(2026, 1, 31, 12, 30, 5, 123_456, tzinfo=UTC)


@pytest.mark.parametrize("name", ["JdbcSource", "io.confluent.connect.jdbc.JdbcSourceConnector"])
def test_names_of_the_source(name: str) -> None:
    assert find_connector(name).connector is JdbcSourceConnector


@pytest.mark.parametrize("name", ["JdbcSink", "io.confluent.connect.jdbc.JdbcSinkConnector"])
def test_names_of_the_sink(name: str) -> None:
    assert find_connector(name).connector is JdbcSinkConnector


@pytest.mark.parametrize(
    ("text", "kind", "host", "port", "database"),
    [
        ("jdbc:postgresql://db.example:6432/shop?sslmode=require", "postgresql", "db.example", 6432, "shop"),
        ("jdbc:postgresql://[::1]/shop", "postgresql", "::1", 5432, "shop"),
        ("jdbc:postgresql:shop", "postgresql", "localhost", 5432, "shop"),
        ("jdbc:mysql://db/my%20shop", "mysql", "db", 3306, "my shop"),
        ("jdbc:mariadb://user:pass@db/shop", "mysql", "db", 3306, "shop"),
        ("jdbc:sqlite:/a/b.db", "sqlite", "", 0, "/a/b.db"),
        ("jdbc:sqlite:relative.db?cache=shared", "sqlite", "", 0, "relative.db"),
    ],
)
def test_urls(text: str, kind: str, host: str, port: int, database: str) -> None:
    found = DatabaseUrl.parse(text)
    assert (found.kind, found.host, found.port, found.database) == (kind, host, port, database)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "postgresql://db/shop",
        "jdbc:oracle:thin:@db",
        "jdbc:sqlite:",
        "jdbc:mysql://a,b/shop",
        "jdbc:mysql://a:x/",
    ],
)
def test_urls_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match=r"connection\.url"):
        DatabaseUrl.parse(text)


def test_messages_show_no_password() -> None:
    with pytest.raises(ConfigError) as wrong:
        DatabaseUrl.parse("jdbc:oracle://scott:tiger@db/shop?password=tiger")
    assert "tiger" not in str(wrong.value)
    assert (
        str(DatabaseUrl.parse("jdbc:mariadb://me:secret@db/shop?password=secret")) == "mysql://db:3306/shop"
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("orders", ("orders",)),
        ("public.orders", ("public", "orders")),
        ('"my.schema"."or""ders"', ("my.schema", 'or"ders')),
        ("`a``b`.c", ("a`b", "c")),
    ],
)
def test_names_of_tables(text: str, parts: tuple[str, ...]) -> None:
    assert split_name(text) == parts


@pytest.mark.parametrize("text", ["", ".", "a.", '"open', 'a"b"."'])
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match="is not the name of a table"):
        split_name(text)


def test_what_stands_before_a_name() -> None:
    assert table_named("a.b", has_schemas=True) == TableName("b", schema="a")
    assert table_named("a.b", has_schemas=False) == TableName("b", catalog="a")
    assert table_named("a.b.c", has_schemas=True) == TableName("c", "b", "a")
    with pytest.raises(ConfigError, match="too many dots"):
        table_named("a.b.c", has_schemas=False)


def test_chosen_tables() -> None:
    tables = [TableName("b", "x"), TableName("a", "x"), TableName("a", "y")]
    assert TableFilter().chosen(tables) == [tables[1], tables[2], tables[0]]
    assert TableFilter(["a"]).chosen(tables) == [tables[1], tables[2]]
    assert TableFilter(["y.a", "none"]).chosen(tables) == [tables[2]]
    assert TableFilter(["y.a", "none"]).absent(tables) == ["none"]
    assert TableFilter(excluded=["x.a"]).chosen(tables) == [tables[2], tables[0]]
    assert clashes(tables) == [(tables[1], tables[2])]


def test_offsets_are_those_of_the_java_connector() -> None:
    position = Position(MOMENT, 7)
    assert position.offset() == {
        "incrementing": 7,
        "timestamp": 1769862605123,
        "timestamp_nanos": 123_456_000,
    }
    assert Position.of(position.offset()) == position
    # Of earlier versions, without nanoseconds.
    earlier = Position.of({"timestamp": 1769862605123})
    assert earlier.moment == MOMENT.replace(microsecond=123_000)
    before = datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    assert moment_offset(before) == {"timestamp": -1, "timestamp_nanos": 999_000_000}
    assert Position.of(moment_offset(before)).moment == before
    with pytest.raises(ConnectError, match="is not a source offset"):
        Position.of({"incrementing": "7"})
    assert partitions_of(TableName("t", "public"), "shop") == [
        {"protocol": "1", "table": "public.t"},
        {"protocol": "1", "table": "shop.public.t"},
        {"table": "t"},
    ]
    check_partition({"query": "query"})
    with pytest.raises(ConnectError, match="is not a source partition"):
        check_partition({"file": "x"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("micros_long", 1769862605123456),
        ("nanos_long", 1769862605123456000),
        ("micros_string", "1769862605123456"),
        ("NANOS_STRING", "1769862605123456000"),
        ("micros_iso_datetime_string", "2026-01-31T12:30:05.123456"),
        ("nanos_iso_datetime_string", "2026-01-31T12:30:05.123456000"),
    ],
)
def test_granularity(name: str, value: Any) -> None:
    found = as_granularity(name)
    assert found is not None
    assert found.convert(MOMENT) == value


@pytest.mark.parametrize(
    ("watched", "bounds", "text"),
    [
        (Watched(), Bounds(), 'SELECT * FROM "s"."t"'),
        (Watched(number="id"), Bounds(), 'SELECT * FROM "s"."t" ORDER BY "id"'),
        (Watched(number="id"), Bounds(number=5), 'SELECT * FROM "s"."t" WHERE "id" > 5 ORDER BY "id"'),
        (
            Watched(["a", "b"]),
            Bounds("m1", "m2"),
            'SELECT * FROM "s"."t" WHERE COALESCE("a", "b") < m2 AND COALESCE("a", "b") > m1 '
            'ORDER BY COALESCE("a", "b")',
        ),
        (
            Watched(["a"], "id"),
            Bounds("m1", "m2", 5),
            'SELECT * FROM "s"."t" WHERE "a" < m2 AND ("a" > m1 OR ("a" = m1 AND "id" > 5)) ORDER BY "a", "id"',
        ),
        (
            Watched(["a"], "id"),
            Bounds("m1", "m2"),
            'SELECT * FROM "s"."t" WHERE "a" < m2 AND "a" >= m1 ORDER BY "a", "id"',
        ),
    ],
)
def test_queries(watched: Watched, bounds: Bounds, text: str) -> None:
    found = rows_query(DIALECTS["postgresql"](), RowSource(TableName("t", "s")), watched, bounds, "")
    shown = found.text
    for one in found.parameters:
        shown = shown.replace("\0", str(one), 1)
    assert shown == text


def test_names_are_quoted_where_they_must_be() -> None:
    always, never = DIALECTS["postgresql"](), DIALECTS["postgresql"](is_quoted=False)
    assert always.quoted('a"b') == '"a""b"'
    assert (never.quoted("plain"), never.quoted("my name")) == ("plain", '"my name"')
    assert DIALECTS["mysql"]().quoted("a`b") == "`a``b`"


@pytest.mark.parametrize(
    ("changes", "name", "part"),
    [
        ({"table.whitelist": "a", "table.blacklist": "b"}, "table.blacklist", "exclude each other"),
        ({"query": "SELECT 1", "table.whitelist": "a"}, "query", "replaces tables"),
        ({"mode": "timestamp"}, "timestamp.column.name", "needs timestamp.column.name"),
        ({"mode": "incrementing", "query": "SELECT 1"}, "incrementing.column.name", "with a query needs"),
        ({"dialect.name": "OracleDatabaseDialect"}, "dialect.name", "does not fit the URL"),
        ({"db.timezone": "Mars/Olympus"}, "db.timezone", "is not a known time zone"),
        ({"connection.url": "jdbc:oracle:x"}, "connection.url", "it takes jdbc:postgresql"),
    ],
)
def test_settings_of_the_source_that_do_not_fit(changes: dict[str, str], name: str, part: str) -> None:
    config = {**SOURCE, **changes}
    found = {one.name: " ".join(one.errors) for one in JdbcSourceConnector.check(config)}
    assert part in found[name]
    with pytest.raises(ConfigError, match=part):
        JdbcSourceConnector().start(config)


@pytest.mark.parametrize(
    ("changes", "name", "part"),
    [
        ({"insert.mode": "upsert"}, "pk.mode", "insert.mode=upsert needs a primary key"),
        ({"insert.mode": "update"}, "pk.mode", "insert.mode=update needs a primary key"),
        ({"delete.enabled": "true", "pk.mode": "kafka"}, "delete.enabled", "needs pk.mode=record_key"),
        ({"pk.mode": "kafka", "pk.fields": "a,b"}, "pk.fields", "needs three names"),
    ],
)
def test_settings_of_the_sink_that_do_not_fit(changes: dict[str, str], name: str, part: str) -> None:
    config = {**SINK, **changes}
    found = {one.name: " ".join(one.errors) for one in JdbcSinkConnector.check(config)}
    assert part in found[name]
    with pytest.raises(ConfigError, match=part):
        JdbcSinkConnector().start(config)


def test_single_settings() -> None:
    for connector, wrong in (
        (JdbcSourceConnector, {"mode": "all", "poll.interval.ms": "0", "batch.max.rows": "x"}),
        (JdbcSinkConnector, {"pk.mode": "key", "insert.mode": "merge", "batch.size": "0"}),
    ):
        found = {one.name: one.errors for one in validate(connector.declarations, {**SOURCE, **wrong})}
        assert all(found[name] for name in wrong)
        assert not connector.check({**SOURCE, **wrong})
    missing = {one.name for one in validate(JdbcSourceConnector.declarations, {}) if one.errors}
    assert missing == {"connection.url", "mode", "topic.prefix"}


def test_bulk_is_not_exactly_once() -> None:
    assert not JdbcSourceConnector.is_exactly_once(SOURCE)
    assert JdbcSourceConnector.is_exactly_once({**SOURCE, "mode": "incrementing"})


def test_tasks_share_the_tables(tmp_path: Path) -> None:
    config = {**SOURCE, "connection.url": f"jdbc:sqlite:{tmp_path / 'shop.db'}"}
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        for name in "abc":
            database.execute(f"CREATE TABLE {name} (id INT)")
    connector = JdbcSourceConnector()
    connector.start(config)
    assert [one["tables"] for one in connector.task_configs(2)] == [
        '[["a", "", ""], ["c", "", ""]]',
        '[["b", "", ""]]',
    ]
    assert len(connector.task_configs(9)) == 3
    connector.stop()


def test_a_file_of_sqlite_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="there is no folder"):
        JdbcSourceConnector().start({**SOURCE, "connection.url": f"jdbc:sqlite:{tmp_path}/none/shop.db"})


def test_from_one_file_to_another(tmp_path: Path) -> None:
    """SQLite keeps any value in any column: one that does not fit its type is named."""
    first = {"connection.url": f"jdbc:sqlite:{tmp_path / 'first.db'}"}
    schema = schemas.struct({"id": schemas.INT64, "name": schemas.STRING})
    sink = JdbcSinkTask()
    sink.start({**first, "auto.create": "true"}, Reports())
    record = sink_record("t", 0, None, Struct.of(schema, id=1, name="kniha"), value_schema=schema)
    write(sink, [record])
    sink._database.connection.execute("INSERT INTO t VALUES ('seven', 'x')")
    sink.stop()
    source = JdbcSourceTask()
    source.start({**SOURCE, **first, "tables": '[["t", "", ""]]'}, StoredOffsets())
    with pytest.raises(ConnectError, match="the column id has 'seven', which is no int32: correct the row"):
        source.poll()
    source.stop()


def test_the_configurations_of_the_guide() -> None:
    found = 0
    for kind, text in re.findall(r"```(yaml|json)\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        texts = read_connector(f"connector.{kind}", text).config
        connector = find_connector(texts["connector.class"]).connector
        assert not [one.errors for one in validate(connector.declarations, texts) if one.errors]
        assert not connector.check(texts)
        own = {one.name for one in connector.declarations}
        others = ("connector.class", "name", "topics", "transforms", "key.converter", "value.converter")
        assert not {name for name in texts if name not in own and not name.startswith(others)}
        found += 1
    assert found == 3
