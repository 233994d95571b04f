"""kcat's own ways of asking."""

import json
from collections.abc import Callable

from compat.client import HOUR_AGO_MS as START_MS
from compat.client import Record
from compat.confluent_client import ConfluentClient
from compat.kcat_client import KcatClient
from compat.server_process import ServerProcess, wait_until

NewTopic = Callable[..., str]


def test_listing(broker: ServerProcess, kcat: KcatClient, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=3)
    listed = kcat.metadata()
    (node,) = listed["brokers"]
    assert node["name"] == broker.bootstrap
    (described,) = [entry for entry in listed["topics"] if entry["topic"] == topic]
    partitions = [(entry["partition"], entry["leader"]) for entry in described["partitions"]]
    assert partitions == [(number, node["id"]) for number in range(3)]
    assert f'topic "{topic}" with 3 partitions' in kcat.run("-L")


def test_asking_for_an_unknown_topic_creates_it(
    kcat: KcatClient, confluent: ConfluentClient, topic: str
) -> None:
    kcat.run("-L", "-t", topic)
    wait_until(lambda: topic in confluent.list_topics(), "the topic is there")


def test_reading_from_the_end_and_by_time(
    kcat: KcatClient, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    confluent.produce(
        topic, [Record(str(number).encode(), timestamp_ms=START_MS + number) for number in range(20)]
    )
    assert kcat.run("-C", "-t", topic, "-o", "-3", "-e", "-q").split() == ["17", "18", "19"]
    assert kcat.run("-C", "-t", topic, "-o", f"s@{START_MS + 18}", "-e", "-q").split() == ["18", "19"]
    window = ["-o", f"s@{START_MS + 5}", "-o", f"e@{START_MS + 8}"]
    assert kcat.run("-C", "-t", topic, *window, "-q").split() == ["5", "6", "7"]
    assert kcat.run("-C", "-t", topic, "-o", "4", "-c", "2", "-q").split() == ["4", "5"]


def test_several_offsets_at_once(kcat: KcatClient, confluent: ConfluentClient, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=2)
    for partition in range(2):
        records = [Record(b"x", partition=partition, timestamp_ms=START_MS + number) for number in range(10)]
        confluent.produce(topic, records)
    printed = kcat.run("-Q", "-t", f"{topic}:0:{START_MS + 3}", "-t", f"{topic}:1:{START_MS + 7}")
    assert sorted(printed.splitlines()) == [f"{topic} [0] offset 3", f"{topic} [1] offset 7"]


def test_formats(kcat: KcatClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    kcat.produce(
        topic, [Record(b"value", key=b"key", headers=(("a", b"1"), ("b", b"2")))], {"compression.type": "lz4"}
    )
    shown = kcat.run("-C", "-t", topic, "-e", "-q", "-f", "%t %p %o %k %s %h\n")
    assert shown == f"{topic} 0 0 key value a=1,b=2\n"
    described = json.loads(kcat.run("-C", "-t", topic, "-e", "-q", "-J"))
    assert described["headers"] == ["a", "1", "b", "2"]
    assert (described["tstype"], described["key"], described["payload"]) == ("create", "key", "value")
