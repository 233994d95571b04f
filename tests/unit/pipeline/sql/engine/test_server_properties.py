"""The settings of queries, and how all settings are listed."""

import pytest

from moldau.pipeline.sql.engine.server_properties import (
    HIDDEN,
    all_properties,
    check_sent,
    checked,
    is_editable,
)
from moldau.pipeline.sql.syntax.errors import SqlError


def test_the_session_comes_before_the_system_and_the_server() -> None:
    name = "auto.offset.reset"
    server = {f"ksql.streams.{name}": "latest", "ksql.service.id": "shop_"}

    def value(system: dict[str, str], session: dict[str, str]) -> tuple[str, bool]:
        [found] = [one for one in all_properties(server, system, session) if one.name == name]
        return found.value, found.is_overridden

    assert value({}, {}) == ("latest", False)
    assert value({name: "earliest"}, {}) == ("earliest", False)
    assert value({name: "latest"}, {name: "earliest"}) == ("earliest", True)


def test_settings_of_the_server_are_listed_and_cannot_be_edited() -> None:
    found = {one.name: one for one in all_properties({"ksql.service.id": "shop_"}, {}, {})}
    own = found["ksql.service.id"]
    assert (own.value, own.scope, own.level, own.is_editable) == ("shop_", "KSQL", "SERVER", False)
    assert found["commit.interval.ms"].scope == "KAFKA STREAMS"
    assert found["commit.interval.ms"].is_editable


def test_secrets_are_hidden() -> None:
    secret = {"ksql.schema.registry.basic.auth.user.info": "user:pass", "ssl.key.password": "x"}
    found = {one.name: one.value for one in all_properties(secret, {}, {})}
    assert {found[name] for name in secret} == {HIDDEN}


def test_a_value_is_checked() -> None:
    assert checked("processing.guarantee", " exactly_once_v2 ", {}) == (
        "processing.guarantee",
        "exactly_once_v2",
    )
    with pytest.raises(SqlError, match="a whole number"):
        checked("commit.interval.ms", "often", {})


def test_what_may_be_edited() -> None:
    assert is_editable("ksql.functions.collect_list.limit")
    assert is_editable("ksql.streams.consumer.max.poll.records")
    assert not is_editable("bootstrap.servers")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("auto.offset.reset", "erliest", "erliest"),
        ("ksql.streams.auto.offset.reset", "first", "first"),
        ("auto.offset.rest", "earliest", "Did you mean auto.offset.reset"),
        ("ksql.streams.auto.offset.rset", "earliest", "Did you mean auto.offset.reset"),
        ("ksql.service.id", "other_", "a setting of the server"),
    ],
)
def test_properties_of_a_request_are_checked(name: str, value: str, complaint: str) -> None:
    with pytest.raises(SqlError) as wrong:
        check_sent({name: value}, ["ksql.service.id"])
    assert complaint in str(wrong.value)


def test_a_request_may_have_settings_of_kafkas_clients() -> None:
    check_sent({"auto.offset.reset": "EARLIEST", "fetch.min.bytes": "1", "max.poll.interval.ms": "7"}, [])
