"""IcebergSink: tables that follow the records, and rows that are committed once, whichever process commits or dies."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyiceberg.catalog.sql", reason="pyiceberg with its SQL catalog is not installed")

from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table

from connect_kit import Reports, sink_record
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, RetriableError, TopicPartition
from moldau.pipeline.connect.connectors.iceberg.columns import columns_of
from moldau.pipeline.connect.connectors.iceberg.commits import ends_in, text_of
from moldau.pipeline.connect.connectors.iceberg.sink import IcebergSinkConnector, IcebergSinkTask
from moldau.pipeline.connect.connectors.iceberg.table_writer import TableWriter
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.plugins import find_connector

DYNAMIC = {"iceberg.tables.dynamic-enabled": "true", "iceberg.tables.route-field": "country"}
KILLS = int(os.environ.get("MOLDAU_KILL_ROUNDS", "4"))
ORDERS = TopicPartition("orders", 0)
ORDER = schemas.struct({"id": schemas.INT32, "country": schemas.STRING}, name="Order", version=1)


class Lake:
    """A catalog in a folder, and tasks that write to its tables."""

    def __init__(self, folder: Path) -> None:
        (folder / "warehouse").mkdir()
        self.config = {
            "name": "lake",
            "iceberg.catalog.type": "sql",
            "iceberg.catalog.uri": f"sqlite:///{folder / 'catalog.db'}",
            "iceberg.catalog.warehouse": (folder / "warehouse").as_uri(),
            "iceberg.control.commit.interval-ms": "0",
        }
        self.reports = Reports()
        self._open = ExitStack()

    def task(self, **settings: str) -> IcebergSinkTask:
        made = IcebergSinkTask()
        made.start({**self.config, **settings}, self.reports)
        self._open.callback(made.stop)
        return made

    def write(self, *records: SinkRecord, **settings: str) -> int:
        """What a new task commits of the first record's topic partition."""
        task = self.task(**settings)
        task.put(records)
        return task.flush({ORDERS: records[-1].offset + 1})[ORDERS]

    def table(self, name: str = "default.orders") -> Table:
        names = {"type": "sql", "uri": self.config["iceberg.catalog.uri"]}
        catalog = load_catalog("iceberg", **names, warehouse=self.config["iceberg.catalog.warehouse"])
        self._open.callback(catalog.close)
        return catalog.load_table(name)

    def rows(self, name: str = "default.orders") -> list[dict[str, Any]]:
        """In the order of the column `id`."""
        found: list[dict[str, Any]] = self.table(name).scan().to_arrow().to_pylist()
        return sorted(found, key=lambda row: row.get("id", 0))

    def close(self) -> None:
        self._open.close()


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    yield made
    made.close()


def order(offset: int, country: str = "CZ", schema: Schema = ORDER) -> SinkRecord:
    value = Struct.of(schema, id=offset, country=country)
    return sink_record("orders", offset, None, value, value_schema=schema)


def structured(offset: int, schema: Schema, *values: Any) -> SinkRecord:
    return sink_record("orders", offset, None, Struct(schema, values), value_schema=schema)


def plain(offset: int, value: Any) -> SinkRecord:
    return sink_record("orders", offset, None, value)


def test_a_topic_is_a_table(lake: Lake) -> None:
    assert lake.write(order(0), order(1, "DE")) == 2
    assert lake.rows() == [{"id": 0, "country": "CZ"}, {"id": 1, "country": "DE"}]
    table = lake.table()
    assert [(one.name, str(one.field_type), one.required) for one in table.schema().fields] == [
        ("id", "int", True),
        ("country", "string", True),
    ]
    snapshot = table.current_snapshot()
    assert snapshot is not None and snapshot.summary is not None
    assert snapshot.summary["moldau.connect.offsets.lake"] == '{"orders": {"0": 2}}'
    assert set(table.properties) == {"moldau.connect.offsets.lake"}


def test_rows_wait_for_the_commit_and_are_not_committed_before(lake: Lake) -> None:
    task = lake.task(**{"iceberg.control.commit.interval-ms": "3600000"})
    task.put([order(0), order(1)])
    assert task.flush({ORDERS: 2}) == {ORDERS: 0}
    task.closed([ORDERS])
    assert task.flush({ORDERS: 2}) == {ORDERS: 2}
    task.put([order(0), order(1), plain(2, None)])
    task._commit()
    assert task.flush({ORDERS: 3}) == {ORDERS: 3}
    assert len(lake.rows()) == 2


def test_records_that_come_again_are_left_out(lake: Lake) -> None:
    lake.write(*(order(offset) for offset in range(5)))
    lake.write(*(order(offset) for offset in range(3, 8)))
    lake.write(*(order(offset) for offset in range(8)))
    assert [one["id"] for one in lake.rows()].count(4) == 1
    assert sorted(one["id"] for one in lake.rows()) == list(range(8))
    assert len(lake.table().snapshots()) == 2


def test_two_tasks_that_think_the_partition_is_theirs(lake: Lake) -> None:
    slow, quick = lake.task(), lake.task()
    slow.put([order(offset) for offset in range(10)])
    quick.put([order(offset) for offset in range(6)])
    quick.flush({ORDERS: 6})
    slow.flush({ORDERS: 10})
    quick.put([order(offset) for offset in range(6, 12)])
    quick.flush({ORDERS: 12})
    assert sorted(one["id"] for one in lake.rows()) == list(range(12))


def test_a_snapshot_of_another_writer_in_between(lake: Lake) -> None:
    """The commit of the sink is refused, and made again behind the other one."""
    lake.write(order(0))
    task = lake.task()
    task.put([order(1)])
    writer = task._writers["default.orders"]
    stale = writer._loaded(refreshes=True)
    other = lake.table()
    other.append(other.scan().to_arrow())
    assert stale is not None
    assert not writer._commit(stale, {})
    task.flush({ORDERS: 2})
    assert sorted(one["id"] for one in lake.rows()) == [0, 0, 1]
    lake.write(order(0), order(1))
    assert len(lake.rows()) == 3


def test_offsets_outlive_the_snapshots(lake: Lake) -> None:
    lake.write(order(0))
    other = lake.table()
    other.append(other.scan().to_arrow())
    other.maintenance.expire_snapshots().older_than(datetime.now()).commit()
    assert len(lake.table().snapshots()) == 1
    lake.write(order(0), order(1))
    assert sorted(one["id"] for one in lake.rows()) == [0, 0, 1]


def test_a_topic_that_was_made_again_while_the_task_was_away(lake: Lake) -> None:
    """Its records have offsets that the table has, and nothing of them is committed."""
    lake.write(*(order(offset) for offset in range(5)))
    task = lake.task()
    task.put([order(offset, "SK") for offset in range(3)])
    assert task.flush({ORDERS: 3}) == {ORDERS: 0}
    assert not lake.reports.rewound
    assert task.flush({ORDERS: 3}) == {ORDERS: 0}
    assert lake.reports.rewound == {ORDERS: 5}
    # There is no record 5, so the consumer begins anew.
    with pytest.raises(
        ConnectError, match=r"up to 4, and the topic ends before.*under another name"
    ) as failed:
        task.put([order(0, "SK")])
    assert not isinstance(failed.value, RetriableError)
    lake.config["name"] = "lake2"
    lake.write(*(order(offset, "SK") for offset in range(3)))
    assert [one["country"] for one in lake.rows()].count("SK") == 3


def test_a_topic_that_was_made_again_while_the_task_runs(lake: Lake) -> None:
    task = lake.task()
    task.put([order(0), order(1)])
    task.flush({ORDERS: 2})
    with pytest.raises(ConnectError, match=r"After the record 1 of orders-0 came the record 0"):
        task.put([order(0)])


def test_a_kafka_that_hangs_below_the_offset_of_the_table(lake: Lake) -> None:
    """It is asked for what follows, and then for what was left out."""
    lake.write(*(order(offset) for offset in range(5)))
    task = lake.task()
    task.put([order(0), order(1)])
    for _ in range(3):
        assert task.flush({ORDERS: 2}) == {ORDERS: 0}
    assert lake.reports.rewound == {ORDERS: 5}
    task.put([order(5), order(6)])
    assert lake.reports.rewound == {ORDERS: 2}
    task.put([order(7)])
    assert task.flush({ORDERS: 8}) == {ORDERS: 0}
    task.put([order(offset) for offset in range(2, 8)])
    assert task.flush({ORDERS: 8}) == {ORDERS: 8}
    assert [one["id"] for one in lake.rows()] == list(range(8))


def test_offsets_are_read_back() -> None:
    ends = {TopicPartition("b", 11): 5, TopicPartition("b", 2): 1, TopicPartition("a", 0): 7}
    assert ends_in([{}, {"name": text_of(ends)}, {"name": "{}"}], {}, "name") == ends
    assert ends_in([{}], {"name": text_of(ends)}, "name") == ends
    assert ends_in([], {}, "name") == {}


@pytest.mark.slow
def test_kills(lake: Lake) -> None:
    """Tasks end at any moment: with rows in memory, with rows in the table that Kafka does not know of."""
    random = Random(11)
    places = [TopicPartition("orders", number) for number in range(2)]
    committed = dict.fromkeys(places, 0)
    end = 40
    for _ in range(KILLS):
        task = lake.task()
        at = dict(committed)
        for _ in range(random.randrange(1, 4)):
            place = random.choice(places)
            count = random.randrange(1, 30)
            records = [order(offset) for offset in range(at[place], min(end, at[place] + count))]
            for one in records:
                one.original_partition = one.partition = place.partition
            task.put(records)
            at[place] += len(records)
            if random.random() < 0.7:
                found = task.flush(at)
                if random.random() < 0.5:
                    committed |= found
        end += 10
    task = lake.task()
    for place in places:
        records = [order(offset) for offset in range(committed[place], end)]
        for one in records:
            one.original_partition = one.partition = place.partition
        task.put(records)
    assert task.flush(dict.fromkeys(places, end)) == dict.fromkeys(places, end)
    assert sorted(one["id"] for one in lake.rows()) == sorted([*range(end), *range(end)])


EVERYTHING = schemas.struct(
    {
        "small": schemas.INT8,
        "long": schemas.INT64,
        "float": schemas.FLOAT32,
        "flag": schemas.BOOLEAN,
        "bytes": schemas.BYTES,
        "nothing": Schema(SchemaType.STRING, optional=True),
        "texts": schemas.array(schemas.STRING),
        "names": schemas.mapping(schemas.STRING, schemas.INT32),
        "inner": ORDER,
        "amount": schemas.decimal(2),
        "day": schemas.date(),
        "hour": schemas.time(),
        "moment": schemas.timestamp(),
    }
)


def test_all_types(lake: Lake) -> None:
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    values = [-128, 1 << 62, 1.5, True, b"\x00", None, ["a"], {"x": 1}, Struct(ORDER, (1, "CZ"))]
    values += [Decimal("-12.50"), date(2026, 1, 31), time(12, 30, 1, 5_000), moment]
    lake.write(sink_record("orders", 0, None, Struct(EVERYTHING, values), value_schema=EVERYTHING))
    assert not lake.reports.failed
    [row] = lake.rows()
    assert row["names"] == [("x", 1)]
    assert row["inner"] == {"id": 1, "country": "CZ"}
    assert (row["amount"], row["day"], row["hour"], row["moment"]) == tuple(values[-4:])


def test_the_schema_follows_the_records(lake: Lake) -> None:
    wider = schemas.struct(
        {"id": schemas.INT64, "note": schemas.STRING, "inner": schemas.struct({"a": schemas.INT32})}
    )
    deeper = schemas.struct({"id": schemas.INT64, "inner": schemas.struct({"b": schemas.INT32})})
    task = lake.task()
    task.put(
        [
            order(0),
            structured(1, wider, 9, "n", Struct(wider.fields[2].schema, (5,))),
            order(2),
            structured(3, deeper, 3, Struct(deeper.fields[1].schema, (6,))),
        ]
    )
    task.flush({ORDERS: 4})
    assert not lake.reports.failed
    nothing = {"note": None, "inner": None}
    assert lake.rows() == [
        {"id": 0, "country": "CZ", **nothing},
        {"id": 2, "country": "CZ", **nothing},
        {"id": 3, "country": None, "note": None, "inner": {"a": None, "b": 6}},
        {"id": 9, "country": None, "note": "n", "inner": {"a": 5, "b": None}},
    ]


def test_json_without_a_schema(lake: Lake) -> None:
    lake.write(
        plain(0, {"id": 1, "price": 1.5, "tags": ["a"], "empty": None, "none": []}),
        plain(1, {"id": 2, "price": 2, "at": {"city": "Praha"}}),
        plain(2, {"id": "three"}),
        plain(3, {"id": 4, "at": {"zip": 11000}, "tags": []}),
    )
    assert [(one.offset, str(error)) for one, error in lake.reports.failed] == [
        (2, "field id is 'three', and the column is int64")
    ]
    assert lake.rows() == [
        {"id": 1, "price": 1.5, "tags": ["a"], "at": None},
        {"id": 2, "price": 2.0, "tags": None, "at": {"city": "Praha", "zip": None}},
        {"id": 4, "price": None, "tags": [], "at": {"city": None, "zip": 11000}},
    ]


def test_what_cannot_be_in_the_table_is_reported(lake: Lake) -> None:
    other = schemas.struct({"id": schemas.STRING})
    lake.write(order(0), structured(1, other, "x"), order(2))
    [(record, error)] = lake.reports.failed
    assert record.offset == 1
    assert "column id is int32 in the table and string in the record" in str(error)
    assert [one["id"] for one in lake.rows()] == [0, 2]


def test_schemas_that_must_not_change(lake: Lake) -> None:
    lake.write(order(0))
    fixed = {"iceberg.tables.evolve-schema-enabled": "false"}
    more = schemas.struct({"id": schemas.INT32, "country": schemas.STRING, "note": schemas.STRING})
    less = schemas.struct({"id": schemas.INT32})
    lake.write(
        structured(1, more, 1, "SK", "n"),
        structured(2, less, 2),
        **fixed,
    )
    assert lake.rows() == [{"id": 0, "country": "CZ"}, {"id": 1, "country": "SK"}]
    [(record, error)] = lake.reports.failed
    assert record.offset == 2
    assert "column country" in str(error)


def test_tables_by_a_field(lake: Lake) -> None:
    records = [order(0), order(1, "DE"), order(2, "shop.sk")]
    lake.write(
        *records,
        **{
            "iceberg.tables": "shop.czech,shop.german",
            "iceberg.tables.route-field": "country",
            "iceberg.table.shop.czech.route-regex": "CZ|SK",
            "iceberg.table.shop.german.route-regex": "DE",
        },
    )
    assert [[one["id"] for one in lake.rows(name)] for name in ("shop.czech", "shop.german")] == [[0], [1]]
    dynamic = {"iceberg.tables.route-field": "country", "iceberg.tables.dynamic-enabled": "true"}
    lake.write(*records, **dynamic)
    assert [one["id"] for one in lake.rows("shop.sk")] == [2]


def test_a_route_that_names_no_table(lake: Lake) -> None:
    routes = [
        "bad",
        "",
        7,
        "y.",
        "zz..t",
        ".t",
        "a.b/c",
        "a. b",
        "a." + "b" * 300,
        True,
        {"a": 1},
        "Shop.Good",
    ]
    records = [plain(at, {"id": at, "to": one}) for at, one in enumerate(routes)]
    more = [plain(len(routes), {"id": 1}), plain(len(routes) + 1, {"id": 2, "to": None})]
    dynamic = {"iceberg.tables.route-field": "to", "iceberg.tables.dynamic-enabled": "true"}
    assert lake.write(*records, *more, **dynamic) == len(routes) + 2
    assert [one.offset for one, _ in lake.reports.failed] == list(range(len(routes) - 1))
    assert "field to is 7, and with iceberg.tables.dynamic-enabled" in str(lake.reports.failed[2][1])
    assert lake.rows("shop.good") == [{"id": len(routes) - 1, "to": "Shop.Good"}]


def test_partitions_of_a_table(lake: Lake) -> None:
    settings = {
        "iceberg.tables.default-partition-by": "country",
        "iceberg.tables.auto-create-props.write.format.default": "parquet",
        "iceberg.tables.schema-force-optional": "true",
    }
    lake.write(order(0), order(1, "DE"), order(2), **settings)
    table = lake.table()
    assert [one.name for one in table.spec().fields] == ["country"]
    assert table.properties["write.format.default"] == "parquet"
    assert not any(one.required for one in table.schema().fields)
    assert [one["id"] for one in table.scan("country == 'DE'").to_arrow().to_pylist()] == [1]
    assert len(list(table.scan().plan_files())) == 2


@pytest.mark.parametrize("terms", ["nowhere", "country,nowhere", "day(country)", "inner"])
def test_partitions_that_do_not_fit(lake: Lake, terms: str) -> None:
    """There is no table then, not one without partitions."""
    if "(" in terms:
        pytest.importorskip("pyiceberg_core")
    schema = schemas.struct({"id": schemas.INT32, "country": schemas.STRING, "inner": ORDER})
    record = structured(0, schema, 0, "CZ", Struct(ORDER, (1, "DE")))
    for _ in range(2):
        with pytest.raises(ConnectError, match=r"default.orders is not created.*cannot be partitioned by"):
            lake.write(record, **{"iceberg.tables.default-partition-by": terms})
    with pytest.raises(NoSuchTableError):
        lake.table()
    lake.write(record, **{"iceberg.tables.default-partition-by": "inner.country,country"})
    assert [one.name for one in lake.table().spec().fields] == ["inner_country", "country"]


def test_a_table_that_another_task_has_made(lake: Lake) -> None:
    first, second = lake.task(), lake.task()
    writers = [TableWriter(one._catalog, "default.orders", "lake", one._tables) for one in (first, second)]
    columns = columns_of(ORDER)
    assert all(one._loaded() is None for one in writers)
    for one in writers:
        one._make(columns)
    second.put([order(0)])
    second.flush({ORDERS: 1})
    assert len(lake.rows()) == 1


def test_fields_without_a_name(lake: Lake) -> None:
    lake.write(plain(0, {"id": 0}))
    values = [{"": 1}, {"a": {"": 1}}, {"a": [{"": 1}]}, {"id": 4, "": "x"}]
    nameless = schemas.struct({"id": schemas.INT64, "": schemas.STRING})
    nested = schemas.struct({"id": schemas.INT64, "m": schemas.mapping(schemas.STRING, nameless)})
    lake.write(
        *(plain(at, one) for at, one in enumerate(values, 1)),
        structured(5, nameless, 5, "x"),
        structured(6, nested, 6, {"k": Struct(nameless, (1, "x"))}),
        plain(7, {"id": 7}),
    )
    assert [one.offset for one, _ in lake.reports.failed] == [1, 2, 3, 4, 5, 6]
    assert 'a field of a.element has the name ""' in str(lake.reports.failed[2][1])
    assert lake.rows() == [{"id": 0}, {"id": 7}]
    lake.write(plain(8, {"": 1}), plain(9, {"id": 9}), **{"iceberg.tables": "default.fresh"})
    assert lake.rows("default.fresh") == [{"id": 9}]


def test_a_table_that_must_exist(lake: Lake) -> None:
    with pytest.raises(ConnectError, match=r"default.orders does not exist: create it"):
        lake.write(order(0), **{"iceberg.tables.auto-create-enabled": "false"})


def test_a_catalog_that_is_away(lake: Lake) -> None:
    away = {**lake.config, "iceberg.catalog.type": "rest", "iceberg.catalog.uri": "http://127.0.0.1:9"}
    with pytest.raises(RetriableError, match="The catalog iceberg cannot be used now"):
        IcebergSinkConnector().start(away)
    IcebergSinkConnector().start(lake.config)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"iceberg.tables": "orders"}, "namespace.table"),
        ({"iceberg.tables.dynamic-enabled": "true"}, "route-field"),
        ({"iceberg.tables.default-partition-by": "week(at)"}, "default-partition-by"),
        ({"iceberg.control.commit.interval-ms": "soon"}, "commit.interval-ms"),
    ],
)
def test_settings_that_do_not_fit_are_refused(lake: Lake, settings: dict[str, str], text: str) -> None:
    with pytest.raises((ConfigError, ConnectError), match=text):
        IcebergSinkConnector().start({**lake.config, **settings})
    assert any(one.errors for one in IcebergSinkConnector.check({**lake.config, **settings}))


def test_offsets_are_altered_only_where_that_has_an_effect(lake: Lake) -> None:
    alter, config = IcebergSinkConnector.alter_offsets, {**lake.config, "topics": "orders"}
    alter(config, {ORDERS: None}, is_reset=True)
    lake.write(order(0), order(1))
    alter(config, {ORDERS: 2}, is_reset=False)
    alter(config, {TopicPartition("other", 0): 0}, is_reset=False)
    alter({**config, "name": "another"}, {ORDERS: None}, is_reset=True)
    for offsets, is_reset in (({ORDERS: 1}, False), ({ORDERS: None}, False), ({}, True)):
        for more in ({}, {"iceberg.tables": "default.orders"}, DYNAMIC):
            with pytest.raises(
                ConnectError, match=r"default.orders has the records of orders-0 up to offset 2"
            ):
                alter({**config, **more}, offsets, is_reset=is_reset)


def test_settings_of_tables_and_catalogs_are_known(lake: Lake) -> None:
    settings = {
        **lake.config,
        "iceberg.catalog.s3.secret-access-key": "x",
        "iceberg.table.shop.orders.partition-by": "country",
        "iceberg.table.shop.orders.partitoin-by": "country",
        "iceberg.tables.auto-create-props.owner": "me",
    }
    found = {one.name: one.key.sensitive for one in IcebergSinkConnector.open_declarations(settings)}
    assert found["iceberg.catalog.s3.secret-access-key"]
    assert not found["iceberg.table.shop.orders.partition-by"]
    assert "iceberg.table.shop.orders.partitoin-by" not in found
    assert "iceberg.tables.auto-create-props.owner" in found


def test_names_of_java() -> None:
    assert find_connector("org.apache.iceberg.connect.IcebergSinkConnector").connector is IcebergSinkConnector
