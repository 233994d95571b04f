"""What the words of `moldau configs` mean."""

import click
import pytest

from moldau.cli.client.config_queries import Alteration, Operation, Resource, Setting
from moldau.cli.commands.configs import parse_change, split_name
from moldau.protocol.messages.configs.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsSynonym,
)


def test_a_resource_has_a_name_but_for_all_brokers() -> None:
    assert split_name("topic", ["orders", "a=b"]) == (Resource("topic", "orders"), ["a=b"])
    assert split_name("broker-defaults", ["a=b"]) == (Resource("broker-defaults", ""), ["a=b"])


@pytest.mark.parametrize("words", [[], ["retention.ms=1"]])
def test_a_name_left_out_is_wrong_usage(words: list[str]) -> None:
    with pytest.raises(click.UsageError, match="is missing"):
        split_name("topic", words)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("retention.ms=-1", Alteration("retention.ms", Operation.SET, "-1")),
        ("cleanup.policy+=compact", Alteration("cleanup.policy", Operation.APPEND, "compact")),
        ("cleanup.policy-=delete", Alteration("cleanup.policy", Operation.SUBTRACT, "delete")),
        ("match=a=b", Alteration("match", Operation.SET, "a=b")),
    ],
)
def test_changes(text: str, change: Alteration) -> None:
    assert parse_change(text) == change


def test_what_is_secret_is_not_shown() -> None:
    found = DescribeConfigsResourceResult(
        name="ssl.key.password",
        value=None,
        read_only=True,
        config_source=4,
        is_sensitive=True,
        synonyms=[DescribeConfigsSynonym(name="ssl.key.password", value=None, source=4)],
        config_type=9,
    )
    setting = Setting.from_wire(found)
    assert (setting.text, setting.source, setting.type) == ("(hidden)", "broker's file", "password")
