"""`moldau explain`: what Moldau's coordinator remembers, and what is said where nobody does."""

import json
import re

from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from e2e.cli.shell import Shell


def test_why_a_group_rebalanced_and_where_its_offset_went(
    shell: Shell, orders: str, broker_class: type[ApacheKafka | MoldauBroker]
) -> None:
    group = f"group-of-{orders}"
    shell.run("produce", orders, stdin="a\nb\nc\n")
    shell.run("consume", orders, "--group", group)
    shell.run("groups", "reset", group, "--to-offset", "1", "--execute")
    if broker_class is ApacheKafka:
        for arguments in (["group", group], ["offset", group, f"{orders}:0"]):
            error = shell.run("explain", *arguments, code=1)
            assert "keeps no history of groups" in error and f"`moldau groups describe {group}`" in error
        return

    told = shell.run("explain", "group", group)
    assert re.search(r"Rebalance to generation 1 with 1 member after \d+ ms, assigned by ", told)
    assert re.search(r"because moldau-cli-\S+ \(client 'moldau-cli' at /?127\.0\.0\.1\) joined", told)
    [first, *_] = json.loads(shell.run("explain", "group", group, "-o", "json"))["timeline"]
    assert first["event"]["generation_id"] == 1

    told = shell.run("explain", "offset", group, f"{orders}:0")
    assert "the group continues at 1" in told
    assert "The log contains offsets 0 to 2: 2 are unread." in told
    assert "3 -> 1: " in told
    assert json.loads(shell.run("explain", "offset", group, f"{orders}:0", "-o", "json"))["offset"] == 1


def test_a_group_nobody_knows(
    shell: Shell, topic: str, broker_class: type[ApacheKafka | MoldauBroker]
) -> None:
    error = shell.run("explain", "group", f"nobody-{topic}", code=1)
    if broker_class is MoldauBroker:
        assert f"there is no group 'nobody-{topic}'" in error
