"""Plans for moving replicas: read, written, proposed."""

import json
import re
from pathlib import Path

import pytest

from moldau.cli.client.cluster_queries import Broker, Partition, Picture
from moldau.cli.client.wire import Address
from moldau.cli.commands.partitions.move_plans import plan_text, propose, read_plan
from moldau.cli.failures import Failure
from moldau.core.ids import TopicPartition


def picture(*topics: str, brokers: int = 3, racks: dict[int, str] | None = None) -> Picture:
    """Topics of two partitions, each with one replica on broker 0."""
    return Picture(
        "cluster",
        0,
        {each: Broker(each, Address("h", 9092 + each), (racks or {}).get(each)) for each in range(brokers)},
        [Partition(TopicPartition(topic, index), 0, [0], [0]) for topic in topics for index in range(2)],
    )


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = {TopicPartition("t", 1): [2, 3], TopicPartition("t", 0): [1]}
    path = tmp_path / "plan.json"
    path.write_text(plan_text(plan))
    assert read_plan(path) == plan
    assert json.loads(path.read_text())["partitions"][0] == {
        "topic": "t",
        "partition": 0,
        "replicas": [1],
        "log_dirs": ["any"],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not a valid plan for moving partitions"),
        ('{"partitions":[{"topic":"t"}]}', "not a valid plan for moving partitions"),
        ('{"partitions":[{"topic":"t","partition":0}]}', "entry 1 of 'partitions' has no 'replicas'"),
        (
            '{"partitions":[{"topic":"t","partition":"0","replicas":[1]}]}',
            "'partition' is \"0\", not a whole number",
        ),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":"1"}]}', "not a list of broker ids"),
        ('{"topics":[]}', "it has no list 'partitions'"),
        ("[]", "it has no list 'partitions'"),
        ('{"partitions":[7]}', "entry 1 of 'partitions' is not an object"),
        ('{"partitions":[]}', "names no partition"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":[]}]}', "list each broker once"),
        ('{"partitions":[{"topic":"t","partition":0,"replicas":[1,1]}]}', "list each broker once"),
        (
            '{"partitions":[{"topic":"t","partition":0,"replicas":[1]},{"topic":"t","partition":0,"replicas":[2]}]}',
            "lists partition t-0 twice",
        ),
    ],
)
def test_a_plan_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(Failure, match=re.escape(words)) as failure:
        read_plan(path)
    assert "Error" not in failure.value.message


def test_a_plan_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="cannot read the plan"):
        read_plan(tmp_path / "none.json")


def test_topics_are_spread_over_the_brokers_named() -> None:
    assert propose(picture("t"), [1, 2], 2) == {
        TopicPartition("t", 0): (1, 2),
        TopicPartition("t", 1): (2, 1),
    }
    kept = propose(picture("t"), [2], None)
    assert set(kept.values()) == {(2,)}, "as many replicas as before"


def test_topics_do_not_all_begin_at_the_same_broker() -> None:
    plan = propose(picture("t", "u"), [0, 1, 2], 1)
    assert plan[TopicPartition("t", 0)] != plan[TopicPartition("u", 0)]


def test_racks_are_kept_apart() -> None:
    racks = {0: "a", 1: "a", 2: "b", 3: "b"}
    plan = propose(picture("t", brokers=4, racks=racks), [0, 1, 2, 3], 2)
    assert all({racks[each] for each in replicas} == {"a", "b"} for replicas in plan.values())


def test_brokers_that_are_not_there_or_too_few_are_refused() -> None:
    with pytest.raises(Failure, match="broker 9 is not in the cluster"):
        propose(picture("t"), [1, 9], 1)
    with pytest.raises(Failure, match="3 replicas of topic 't' do not fit on 2"):
        propose(picture("t"), [1, 2], 3)
