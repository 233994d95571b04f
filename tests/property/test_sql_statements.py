"""Whatever statements are executed: a second server that reads the log defines the same, and every query travels."""

import hypothesis.strategies as st
from hypothesis import given, settings

from moldau.pipeline.sql.engine import Program, topology_from
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import quoted
from sql_kit import StatementDesk

INTRO = (
    "CREATE TYPE pair AS STRUCT<l INT, r STRING>;"
    "CREATE STREAM a (k INT KEY, z INT, v STRING) WITH (VALUE_FORMAT='JSON', PARTITIONS=2);"
    "CREATE TABLE b (k INT PRIMARY KEY, z INT) WITH (VALUE_FORMAT='JSON', PARTITIONS=2);"
)
NAMES = ["c", "d", "e", "`low case`"]
TYPES = [
    "INT",
    "BIGINT",
    "STRING",
    "pair",
    "ARRAY<pair>",
    "DECIMAL(5, 2)",
    "STRUCT<f INT, `G g` MAP<STRING, INT>>",
]
OF_STREAM = [
    ("STREAM", "SELECT * FROM {0}"),
    ("STREAM", "SELECT k, z + 1 AS z FROM {0} WHERE z > 1 EMIT CHANGES"),
    ("STREAM", "SELECT k, z + 2 AS z, z AS more FROM {0} WHERE z > 2"),
    ("STREAM", "SELECT z, k AS v FROM {0} PARTITION BY z"),
    ("STREAM", "SELECT x.k AS k, x.z AS z FROM {0} x JOIN {1} y ON x.k = y.k"),
    ("STREAM", "SELECT x.k AS k, x.z AS z FROM {0} x JOIN {1} y ON x.k = y.k WHERE y.z > 1"),
    ("STREAM", "SELECT x.k AS k, x.z AS z FROM {0} x JOIN {1} y WITHIN 1 HOUR ON x.k = y.k"),
    ("TABLE", "SELECT z AS k, COUNT(*) AS z FROM {0} GROUP BY z"),
    ("TABLE", "SELECT z AS k, COUNT(*) AS z, COUNT(*) + 1 AS more FROM {0} GROUP BY z HAVING COUNT(*) > 1"),
    ("TABLE", "SELECT k, SUM(z) AS v FROM {0} WINDOW TUMBLING (SIZE 5 SECONDS) GROUP BY k"),
]
OF_TABLE = [
    ("TABLE", "SELECT k, z FROM {0}"),
    ("TABLE", "SELECT k, z, z + 1 AS more FROM {0} WHERE z > 3"),
    ("TABLE", "SELECT x.k AS k, x.z AS z FROM {0} x JOIN {1} y ON x.k = y.k"),
]


def any_name(draw: st.DrawFn, desk: StatementDesk) -> str:
    return draw(st.sampled_from([*map(quoted, sorted(desk.catalog.sources)), *NAMES]))


def any_query(draw: st.DrawFn, desk: StatementDesk) -> tuple[str, str]:
    """What it makes, and its text."""
    source = desk.catalog.sources[draw(st.sampled_from(sorted(desk.catalog.sources)))]
    kind, text = draw(st.sampled_from(OF_TABLE if source.is_table else OF_STREAM))
    return kind, text.format(quoted(source.name), any_name(draw, desk))


def create_source(draw: st.DrawFn, desk: StatementDesk) -> str:
    kind, key = draw(st.sampled_from([("STREAM", "KEY"), ("TABLE", "PRIMARY KEY")]))
    values = "".join(
        f", {name} {draw(st.sampled_from(TYPES))}" for name in draw(st.sampled_from(["", "v", "vw"]))
    )
    words = draw(st.sampled_from(["CREATE", "CREATE OR REPLACE"]))
    form, topic = draw(st.sampled_from(["JSON", "JSON", "DELIMITED"])), draw(st.sampled_from(["f", "g"]))
    return (
        f"{words} {kind} {any_name(draw, desk)} (k INT {key}, z INT{values}) "
        f"WITH (VALUE_FORMAT='{form}', KAFKA_TOPIC='{topic}', PARTITIONS=2);"
    )


def create_as(draw: st.DrawFn, desk: StatementDesk) -> str:
    kind, query = any_query(draw, desk)
    words = draw(st.sampled_from(["CREATE {}", "CREATE OR REPLACE {}", "CREATE {} IF NOT EXISTS"]))
    name = any_name(draw, desk)
    topic = name.strip("`").replace(" ", ".").upper()
    return f"{words.format(kind)} {name} WITH (KAFKA_TOPIC='{topic}') AS {query};"


def insert(draw: st.DrawFn, desk: StatementDesk) -> str:
    return f"INSERT INTO {any_name(draw, desk)} {any_query(draw, desk)[1]};"


def change_source(draw: st.DrawFn, desk: StatementDesk) -> str:
    source = desk.catalog.sources[draw(st.sampled_from(sorted(desk.catalog.sources)))]
    name = quoted(source.name)
    kind = draw(st.sampled_from(TYPES))
    return draw(
        st.sampled_from(
            [
                f"DROP {source.kind} {name};",
                f"DROP {source.kind} {name} DELETE TOPIC;",
                f"ALTER {source.kind} {name} ADD COLUMN added {kind};",
            ]
        )
    )


def control(draw: st.DrawFn, desk: StatementDesk) -> str:
    chosen = draw(st.sampled_from(["ALL", *desk.catalog.queries]))
    return f"{draw(st.sampled_from(['TERMINATE', 'PAUSE', 'RESUME']))} {chosen};"


def small(draw: st.DrawFn, desk: StatementDesk) -> str:
    texts = [
        "CREATE TYPE pair AS STRUCT<l INT>;",
        "DROP TYPE pair;",
        "ALTER SYSTEM 'auto.offset.reset'='latest';",
    ]
    return draw(st.sampled_from(texts))


KINDS = [
    create_source,
    create_as,
    create_as,
    create_as,
    create_as,
    insert,
    insert,
    change_source,
    control,
    small,
]


@st.composite
def worked_desks(draw: st.DrawFn, statements_max: int) -> StatementDesk:
    """A desk with some statements done."""
    desk = StatementDesk()
    desk.run(INTRO)
    for _ in range(draw(st.integers(statements_max // 2, statements_max))):
        kinds = KINDS if desk.catalog.sources else [create_source]
        text = draw(st.sampled_from(kinds))(draw, desk)
        before = desk.catalog.definitions
        try:
            decision = desk.decide(text)
        except SqlError:
            assert desk.catalog.definitions == before
            continue
        desk.do(decision)
        if decision.command is not None:
            assert desk.applied[-1].is_done, f"decided and not applied: {text}: {desk.applied[-1].message}"
            assert desk.applied[-1].command == decision.command
    return desk


@settings(max_examples=50, deadline=None)
@given(worked_desks(10))
def test_the_log_defines_the_same_on_another_server(desk: StatementDesk) -> None:
    other = desk.replayed()
    assert other == desk.catalog
    assert other.next_offset == desk.catalog.next_offset
    for query_id in desk.catalog.queries:
        program = program_of(query_id, desk.catalog)
        assert program_of(query_id, other) == program
        again = Program.from_json(program.to_json())
        assert again == program
        ours = program.topology(desk.catalog.library)
        assert topology_from(program.to_json()).describe() == ours.describe()


@settings(max_examples=30, deadline=None)
@given(worked_desks(6), worked_desks(6))
def test_conflicting_statements_of_two_servers_end_the_same_on_both(
    left: StatementDesk, right: StatementDesk
) -> None:
    """Each decides without knowing of the other's commands; the log puts them in one order."""
    waiting = [[applied.command for applied in desk.applied[3:]] for desk in (left, right)]
    desk = StatementDesk()
    desk.run(INTRO)
    for step in range(max(map(len, waiting))):
        for commands in waiting:
            for command in commands[step : step + 1]:
                desk.append(command)
    other = desk.replayed()
    assert other == desk.catalog
    assert other.failures == desk.catalog.failures
