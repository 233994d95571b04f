"""What a reset would do, and the files it takes offsets from."""

import click
import pytest

from moldau.cli.client.group_lag import LogState
from moldau.cli.client.group_queries import Committed
from moldau.cli.commands.groups.offset_file import parse_offsets
from moldau.cli.commands.groups.reset_target import Change, plan
from moldau.core.ids import TopicPartition

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)


def test_no_offset_leaves_its_log() -> None:
    logs = {FIRST: LogState(10, 20, 20), SECOND: LogState(0, 5, 5)}
    committed = {FIRST: Committed(15, None, None)}
    assert plan({SECOND: 9, FIRST: 3}, committed, logs) == [
        Change("orders", 0, 15, 10, "requested 3, but the log starts at 10"),
        Change("orders", 1, None, 5, "requested 9, but the log ends at 5"),
    ]
    assert plan({FIRST: 20}, committed, logs) == [Change("orders", 0, 15, 20)]


@pytest.mark.parametrize(
    "text",
    [
        "orders,0,5\norders,1,7\n",
        '"orders", 0, 5\r\n\r\norders,1,7',
        "mine,orders,0,5\nother,orders,0,99\nmine,orders,1,7\n",
        '[{"topic": "orders", "partition": 0, "offset": 5}, {"topic": "orders", "partition": 1, "offset": 7}]',
        '{"offsets": [{"topic": "orders", "partition": 0, "offset": 5, "lag": 1},'
        ' {"topic": "orders", "partition": 1, "offset": 7}, {"topic": "x", "partition": 1, "offset": null}]}',
    ],
)
def test_offsets_from_a_file(text: str) -> None:
    assert parse_offsets(text, "mine", "file") == {FIRST: 5, SECOND: 7}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("orders,0", "line 1"),
        ("orders,0,1\norders,x,1", "line 2"),
        ("orders,0,-1", "negative"),
        ("", "has no offset"),
        ("other,orders,0,5", "has no offset for group 'mine'"),
        ("[{]", "not a list of objects"),
        ('[{"topic": "orders"}]', "not a list of objects"),
        ('[{"topic": "orders", "partition": 0, "offset": 1.5}]', "item 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_wrong_usage(text: str, complaint: str) -> None:
    with pytest.raises(click.UsageError, match=complaint):
        parse_offsets(text, "mine", "file")
