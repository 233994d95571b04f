"""Keys: text to values and back, and what people read when a value is wrong."""

import pytest

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import DOUBLE_MAX, LONG_MAX
from moldau.core.settings.manual import manual_page
from moldau.core.settings.text_form import ConfigType, format_value
from moldau.core.settings.topic_keys import TopicSettings


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", " 1000 ", 1000),
        ("retention.ms", "+5", 5),
        ("retention.ms", str(LONG_MAX), LONG_MAX),
        ("cleanup.policy", "compact, delete", ("compact", "delete")),
        ("cleanup.policy", "", ()),
        ("preallocate", "TRUE", True),
        ("min.cleanable.dirty.ratio", "1e-1", 0.1),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("leader.replication.throttled.replicas", "0:1,1:2", ("0:1", "1:2")),
        ("compression.gzip.level", "-1", -1),
    ],
)
def test_values_are_read(name: str, text: str, value: object) -> None:
    assert TopicSettings.KEYS[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retention.ms", "abc"),
        ("retention.ms", ""),
        ("retention.ms", "-2"),
        ("retention.ms", str(LONG_MAX + 1)),
        ("retention.ms", "1_000"),
        ("retention.ms", "9" * 10_000),
        ("segment.bytes", str(1 << 31)),
        ("segment.bytes", "1024"),
        ("cleanup.policy", "shred"),
        ("cleanup.policy", "delete,delete"),
        ("preallocate", "yes"),
        ("min.cleanable.dirty.ratio", "1.5"),
        ("min.cleanable.dirty.ratio", "nan"),
        ("compression.type", "GZIP"),
        ("compression.gzip.level", "0"),
        ("leader.replication.throttled.replicas", "0-1"),
    ],
)
def test_wrong_values_are_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=rf"configuration {name}: it takes .*for example {name}="):
        TopicSettings.KEYS[name].parse(text)


def test_the_example_in_a_refusal_is_itself_accepted() -> None:
    for view in (BrokerSettings, TopicSettings):
        for key in view.KEYS.values():
            key.parse(key.example)


def test_secrets_stay_out_of_messages() -> None:
    key = BrokerSettings.KEYS["ssl.key.password"]
    assert key.sensitive
    with pytest.raises(ConfigError) as refusal:
        key.refuse("hunter2")
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (0.5, "0.5"),
        (0.0, "0.0"),
        (1.0, "1.0"),
        (12_345_678.0, "1.2345678E7"),
        (1e7, "1.0E7"),
        (1e-5, "1.0E-5"),
        (DOUBLE_MAX, "1.7976931348623157E308"),
        (("a", "b"), "a,b"),
        ((), ""),
        (-1, "-1"),
    ],
)
def test_values_are_shown_as_java_shows_them(value: object, text: str | None) -> None:
    assert format_value(value) == text


def test_settings_are_read_as_attributes_and_frozen() -> None:
    settings = BrokerSettings.parse({"num.partitions": "7"})
    assert settings.num_partitions == 7
    assert settings.default_replication_factor == 1
    assert BrokerSettings.num_partitions.name == "num.partitions"
    assert settings.value_of("num.partitions") == 7
    with pytest.raises(AttributeError, match="frozen"):
        settings.num_partitions = 8  # type: ignore[misc, assignment]


def test_every_default_is_of_the_declared_type_and_within_bounds() -> None:
    for view in (BrokerSettings, TopicSettings):
        for key in view.KEYS.values():
            if key.default is not None and key.type is not ConfigType.PASSWORD:
                text = format_value(key.default)
                assert text is not None
                assert key.parse(text) == key.default, key.name


def test_every_key_is_documented_and_every_fallback_is_a_broker_key() -> None:
    for view in (BrokerSettings, TopicSettings):
        for key in view.KEYS.values():
            assert key.doc.endswith("."), key.name
            for fallback in key.fallbacks:
                assert fallback.name in BrokerSettings.KEYS


def test_the_manual_has_every_public_key_and_says_what_has_no_effect() -> None:
    page = manual_page()
    for key in (*BrokerSettings.KEYS.values(), *TopicSettings.KEYS.values()):
        assert (f"### `{key.name}`\n" in page) or key.internal
    assert "Accepted, without effect: one event loop serves all connections." in page
