"""Rules and records: where a message goes, and what a record becomes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.core.errors import ConfigError
from moldau.proxies.mqtt.codec.properties import Property
from moldau.proxies.mqtt.mapping.records import headers_of, message_of, topic_of
from moldau.proxies.mqtt.mapping.rules import Route, Rules, rule_of
from moldau.proxies.mqtt.session.messages import Message
from moldau.proxies.mqtt.settings import read_configuration

RULES = Rules(
    [
        rule_of("plants", {"filter": "plants/+/+/temperature", "topic": "temperature-{2}", "key": "{3}"}),
        rule_of("alarms", {"match": "plants/(?<plant>[^/]+)/alarms/.*", "topic": "alarms", "key": "{plant}"}),
        rule_of("any", {"filter": "by-level/+/#", "topic": "{2}"}),
    ],
    "mqtt",
)


@pytest.mark.parametrize(
    ("topic", "route"),
    [
        ("plants/kolin/press-7/temperature", Route("temperature-kolin", b"press-7", False)),
        ("plants/kolín 2/press-7/temperature", Route("temperature-kol_n_2", b"press-7", False)),
        ("plants/kolin/alarms/fire", Route("alarms", b"kolin", False)),
        ("other", Route("mqtt", b"other", True)),
        ("$SYS/x", None),
        ("$SYS/broker/connection/hall/state", Route("mqtt", b"$SYS/broker/connection/hall/state", True)),
        ("$other/x", Route("mqtt", b"$other/x", True)),
        ("by-level/orders/1", Route("orders", b"by-level/orders/1", True)),
        ("by-level/__consumer_offsets/1", None),
        ("by-level/_schemas", None),
        ("by-level//x", None),
        ("by-level/../x", None),
        ("by-level/" + "x" * 300, Route("x" * 249, b"by-level/" + b"x" * 300, True)),
    ],
)
def test_routes(topic: str, route: Route | None) -> None:
    assert RULES.route(topic) == route == RULES.route(topic)


def test_topics_that_are_read() -> None:
    only = Rules([rule_of("p", {"filter": "plants/#", "topic": "temperature-{2}"})], "mqtt")
    assert only.fixed_topics() == {"mqtt"}
    pattern = only.topics_pattern()
    assert pattern.fullmatch("mqtt") and pattern.fullmatch("temperature-kolin")
    assert not pattern.fullmatch("mqtt2") and not pattern.fullmatch("_mqtt-mqtt")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["mapping.rules=a"], "give mapping.a.filter"),
        (["mapping.rules=a", "mapping.a.filter=x", "mapping.a.match=y", "mapping.a.topic=t"], "one of them"),
        (["mapping.rules=a", "mapping.a.filter=x"], "mapping.a.topic is missing"),
        (["mapping.rules=a", "mapping.a.filter=x#", "mapping.a.topic=t"], "# must be the last level"),
        (["mapping.rules=a", "mapping.a.match=(", "mapping.a.topic=t"], "no regular expression"),
        (["mapping.rules=a", "mapping.a.filter=x", "mapping.a.topic={site}"], "there is no {site}"),
        (["mapping.rules=a", "mapping.a.filter=x", "mapping.a.topic=t", "mapping.a.kye=x"], "mapping.a.kye"),
        (["mapping.b.filter=x"], "there is no rule 'b'"),
        (["listeners=http://0.0.0.0:1"], "mqtt"),
        (["topic.defalt=x"], "did you mean topic.default"),
    ],
)
def test_mistakes_are_named(overrides: list[str], said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_configuration(overrides=overrides)
    assert said in str(raised.value)


texts = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=10)


@given(
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            Property.PAYLOAD_FORMAT: st.integers(0, 1),
            Property.MESSAGE_EXPIRY: st.integers(0, 2**32 - 1),
            Property.CONTENT_TYPE: texts,
            Property.RESPONSE_TOPIC: st.sampled_from(["a", "a/b"]),
            Property.CORRELATION_DATA: st.binary(max_size=10),
            Property.USER_PROPERTY: st.lists(st.tuples(texts | st.just("mqtt.qos"), texts), min_size=1),
        },
    ),
    st.none() | texts.filter(bool),
)
def test_a_message_comes_back_from_its_record(
    qos: int, retain: bool, is_key_topic: bool, properties: dict[int, object], publisher: str | None
) -> None:
    message = Message("a/b", b"payload", qos, retain, properties, 5, publisher)
    route = Route("mqtt", b"a/b" if is_key_topic else b"other", is_key_topic)
    headers = list(headers_of(message, route))
    found = message_of("mqtt", route.key, message.payload, headers, 5)
    assert found == message


@pytest.mark.parametrize(
    ("key", "headers", "topic"),
    [
        (b"a/b", None, "a/b"),
        (b"a/+", None, "orders"),
        (b"\xff", None, "orders"),
        (None, None, "orders"),
        (b"a", [("mqtt.topic", b"c/d")], "c/d"),
        (b"a", [("mqtt.topic", b"#")], "a"),
    ],
)
def test_records_of_kafka_clients_have_a_topic(key: bytes | None, headers: object, topic: str) -> None:
    assert topic_of("orders", key, headers) == topic  # type: ignore[arg-type]


def test_headers_of_others_do_no_harm() -> None:
    headers: list[tuple[str, str | bytes | None]] = [
        ("mqtt.qos", b"9"),
        ("mqtt.expiry", b"soon"),
        ("mqtt.payload.format", b"2"),
        ("mqtt.response.topic", b"a/#"),
        ("binary", b"\xff"),
        ("nothing", None),
        ("text", b"kept"),
    ]
    found = message_of("orders", b"a", None, headers, 0)
    assert (found.payload, found.qos) == (b"", 1)
    assert found.properties == {Property.USER_PROPERTY: [("nothing", ""), ("text", "kept")]}
