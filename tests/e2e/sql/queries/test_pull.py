"""Pull queries over tables of a real broker."""

import pytest

from e2e.sql.queries.world import World
from moldau.pipeline.sql.syntax.errors import SqlError

USERS = (
    "CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING, AGE INTEGER) "
    "WITH (KAFKA_TOPIC='{}', VALUE_FORMAT='JSON')"
)


@pytest.fixture
def users(world: World, request: pytest.FixtureRequest) -> World:
    topic = request.node.name.replace("[", "-").replace("]", "")
    source = world.define(USERS.format(topic), 2)
    world.write(topic, *((f"u{n}", {"NAME": f"N{n}", "AGE": n}, 1000 + n) for n in range(20)))
    world.write(topic, ("u3", None), ("u4", {"NAME": "changed", "AGE": 44}, 5000))
    world.host.tables.add(source)
    return world


def test_by_key(users: World) -> None:
    assert users.rows("SELECT * FROM USERS WHERE ID = 'u4';") == [("u4", "changed", 44)]
    assert users.rows("SELECT NAME, ROWTIME FROM USERS WHERE ID = 'u5';") == [("N5", 1005)]
    assert users.rows("SELECT NAME FROM USERS WHERE ID = 'u3';") == []
    assert users.rows("SELECT NAME FROM USERS WHERE ID IN ('u3', 'u1', 'u2', 'nobody');") == [
        ("N1",),
        ("N2",),
    ]
    assert users.rows("SELECT NAME FROM USERS WHERE ID = 'u1' AND AGE > 5;") == []


def test_by_other_conditions(users: World) -> None:
    assert sorted(users.rows("SELECT ID FROM USERS WHERE AGE >= 18;")) == [("u18",), ("u19",), ("u4",)]
    assert sorted(users.rows("SELECT ID FROM USERS WHERE ID >= 'u8';")) == [("u8",), ("u9",)]
    assert len(users.rows("SELECT * FROM USERS;")) == 19
    assert len(users.rows("SELECT * FROM USERS LIMIT 3;")) == 3
    [status] = users.host.tables.status()
    assert (status.name, status.is_ready, status.lag, status.entries) == ("USERS", True, 0, 19)


def test_a_table_that_is_not_kept(world: World) -> None:
    world.define(USERS.format("pull-not-kept"))
    with pytest.raises(SqlError, match="not materialized"):
        world.start("SELECT * FROM USERS WHERE ID = 'u1';")
