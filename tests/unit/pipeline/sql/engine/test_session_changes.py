"""SET, UNSET, DEFINE and UNDEFINE."""

import pytest
from shop_catalog import decided

from moldau.pipeline.sql.engine import Facts, Session
from moldau.pipeline.sql.engine.answers import CurrentStatus
from moldau.pipeline.sql.syntax.errors import SqlError


def after(text: str, session: Session | None = None, facts: Facts | None = None) -> Session:
    decision = decided(text, session=session, facts=facts)
    assert isinstance(decision.answer, CurrentStatus)
    assert decision.session is not None
    assert decision.command is None
    return decision.session


def test_set_and_unset() -> None:
    session = after("SET 'auto.offset.reset' = 'earliest';")
    assert session.properties == {"auto.offset.reset": "earliest"}
    assert after("UNSET 'auto.offset.reset';", session).properties == {}


def test_a_setting_of_streams_has_one_name() -> None:
    session = after("SET 'ksql.streams.auto.offset.reset' = 'latest';")
    assert session.properties == {"auto.offset.reset": "latest"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET 'auto.offset.rest' = 'latest';", "Did you mean auto.offset.reset?"),
        ("SET 'auto.offset.reset' = 'newest';", "one of earliest, latest"),
        ("SET 'ksql.service.id' = 'x';", "setting of the server"),
        ("SET 'zzz' = 'x';", "SHOW PROPERTIES"),
        ("UNSET 'auto.offset.reset';", "is not set"),
        ("UNDEFINE nothing;", "variable nothing is not defined"),
        ("DEFINE `a b` = 'x';", "cannot be the name"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(SqlError) as failure:
        decided(text, facts=Facts(settings={"ksql.service.id": "default_"}))
    assert message in str(failure.value)


def test_an_open_prefix_is_accepted() -> None:
    assert after("SET 'producer.linger.ms' = '5';").properties == {"producer.linger.ms": "5"}


def test_a_setting_without_effect_comes_with_a_warning() -> None:
    [warning] = decided("SET 'num.stream.threads' = '2';").warnings
    assert "has no effect" in warning
    assert decided("SET 'auto.offset.reset' = 'latest';").warnings == ()


def test_substitution_can_be_switched_off_and_on() -> None:
    off = after("SET 'ksql.variable.substitution.enable' = 'false';")
    assert not off.substitutes
    assert after("UNSET 'ksql.variable.substitution.enable';", off).substitutes


def test_define_and_undefine() -> None:
    session = after("DEFINE topic = '''orders''';")
    assert session.variables == {"topic": "'orders'"}
    assert session.substituted("x = ${TOPIC}") == "x = 'orders'"
    assert after("UNDEFINE TOPIC;", session).variables == {}
