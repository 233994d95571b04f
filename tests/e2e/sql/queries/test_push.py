"""Push queries over a real broker."""

from compat.moldau_broker import MoldauBroker
from e2e.sql.queries.world import World, read
from moldau.pipeline.sql.queries import EndReason

VIEWS = "CREATE STREAM VIEWS (USERID STRING KEY, PAGE STRING, MS INTEGER) WITH (KAFKA_TOPIC='{}', VALUE_FORMAT='JSON')"


def test_a_push_query_gives_what_is_written_from_now_on(world: World) -> None:
    world.define(VIEWS.format("push-latest"), 3)
    world.write("push-latest", ("u0", {"PAGE": "old", "MS": 1}))
    stream = world.start("SELECT USERID, PAGE, MS * 2 AS TWICE FROM VIEWS WHERE MS > 5 EMIT CHANGES;")
    assert [(one.name, str(one.type), one.is_key) for one in stream.columns] == [
        ("USERID", "STRING", True),
        ("PAGE", "STRING", False),
        ("TWICE", "INTEGER", False),
    ]
    world.write("push-latest", ("u1", {"PAGE": "a", "MS": 3}), ("u2", {"PAGE": "b", "MS": 9}))
    assert read(stream, 1) == [("u2", "b", 18)]
    stream.close()
    assert stream.end is not None and stream.end.reason is EndReason.CLOSED


def test_from_the_beginning_and_with_a_limit(world: World) -> None:
    world.define(VIEWS.format("push-earliest"), 3)
    world.write("push-earliest", *((f"u{n}", {"PAGE": "p", "MS": n}) for n in range(50)))
    stream = world.start("SELECT MS FROM VIEWS EMIT CHANGES LIMIT 50;", offset_reset="earliest")
    assert sorted(read(stream)) == [(n,) for n in range(50)]
    assert stream.end is not None and stream.end.message == "Limit Reached"


def test_history_goes_over_into_what_is_new(world: World) -> None:
    world.define(VIEWS.format("push-both"), 2)
    world.write("push-both", *((f"u{n}", {"PAGE": "p", "MS": n}) for n in range(3000)))
    stream = world.start("SELECT MS FROM VIEWS EMIT CHANGES;", offset_reset="earliest")
    found = read(stream, 3000)
    world.write("push-both", *((f"u{n}", {"PAGE": "p", "MS": n}) for n in range(3000, 3100)))
    found += read(stream, 100)
    assert sorted(found) == [(n,) for n in range(3100)]
    stream.close()


def test_a_pull_query_of_a_stream_ends_at_the_end_of_the_topic(world: World) -> None:
    world.define(VIEWS.format("pull-stream"), 3)
    assert world.rows("SELECT * FROM VIEWS;") == []
    world.write("pull-stream", *((f"u{n}", {"PAGE": "p", "MS": n}) for n in range(5000)))
    stream = world.start("SELECT MS FROM VIEWS WHERE MS % 2 = 0;")
    assert sorted(read(stream)) == [(n,) for n in range(0, 5000, 2)]
    assert stream.end is not None and stream.end.message == "Query Completed"


def test_counts_are_kept_in_memory(world: World) -> None:
    world.define(VIEWS.format("push-count"), 2)
    query = "SELECT PAGE, COUNT(*) AS N FROM VIEWS GROUP BY PAGE EMIT CHANGES;"
    stream = world.start(query)
    world.write("push-count", ("u1", {"PAGE": "a", "MS": 1}))
    assert read(stream, 1) == [("a", 1)]
    world.write("push-count", ("u2", {"PAGE": "a", "MS": 1}))
    assert read(stream, 1) == [("a", 2)]
    stream.close()


def test_a_stream_meets_what_a_table_held_before(world: World) -> None:
    world.define(VIEWS.format("push-join-views"))
    world.define(
        "CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING) "
        "WITH (KAFKA_TOPIC='push-join-users', VALUE_FORMAT='JSON')"
    )
    world.write("push-join-users", *((f"u{n}", {"NAME": f"N{n}"}) for n in range(100)))
    stream = world.start("SELECT V.USERID, U.NAME FROM VIEWS V JOIN USERS U ON V.USERID = U.ID EMIT CHANGES;")
    world.write("push-join-views", ("u42", {"PAGE": "a", "MS": 1}))
    assert read(stream, 1) == [("u42", "N42")]
    world.write("push-join-users", ("u42", {"NAME": "changed"}))
    world.write("push-join-views", ("u42", {"PAGE": "a", "MS": 1}))
    assert read(stream, 1) == [("u42", "changed")]
    stream.close()


def test_history_is_joined_as_it_happened(world: World) -> None:
    """Each record meets the row of its time, though the whole table lies there when the query starts."""
    world.define(VIEWS.format("push-history-views"))
    world.define(
        "CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING) "
        "WITH (KAFKA_TOPIC='push-history-users', VALUE_FORMAT='JSON')"
    )
    world.write("push-history-users", *(("u", {"NAME": f"N{n}"}, 1_000_000 + 100 * n) for n in range(500)))
    world.write(
        "push-history-views", *(("u", {"PAGE": "p", "MS": n}, 1_000_050 + 100 * n) for n in range(500))
    )
    query = "SELECT V.MS, U.NAME FROM VIEWS V JOIN USERS U ON V.USERID = U.ID EMIT CHANGES LIMIT 500;"
    assert world.rows(query, offset_reset="earliest") == [(n, f"N{n}") for n in range(500)]


def test_a_record_that_cannot_be_read_is_told_and_left_out(queried_broker: MoldauBroker) -> None:
    told: list[str] = []
    world = World(
        queried_broker.bootstrap, on_failure=lambda text, failure, row: told.append(f"{text}: {failure}")
    )
    try:
        world.define(VIEWS.format("push-bad"))
        stream = world.start("SELECT MS, 10 / MS AS TENTH FROM VIEWS EMIT CHANGES;")
        world.write("push-bad", ("u", b"no json"), ("u", {"MS": 0}), ("u", {"MS": 5}))
        assert read(stream, 2) == [(0, None), (5, 2)]
        assert any("offset 0" in one for one in told)
        assert any("TENTH" in one for one in told)
    finally:
        world.close()
