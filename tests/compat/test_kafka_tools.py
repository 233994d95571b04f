"""Kafka's own command-line tools find a Kafka.

The tools for groups and transactions are tested in `groups/`, the reader of log files in `test_dump_log_segments`.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.client import CODECS, HOUR_AGO_MS, Record, wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaDriver
from compat.kafka_tools import KafkaTools
from compat.server_process import ServerProcess, wait_until
from compat.stored import stored_batches
from moldau.protocol.records.batch import Compression

pytestmark = pytest.mark.java

NewTopic = Callable[..., str]
SHOW_ALL = [
    f"--formatter-property=print.{part}=true"
    for part in ("timestamp", "partition", "offset", "headers", "key", "value")
]


@pytest.fixture
def tools(broker: ServerProcess, java_driver: JavaDriver) -> KafkaTools:
    return KafkaTools(java_driver, broker.bootstrap)


@pytest.fixture
def broker_id(confluent: ConfluentClient) -> str:
    return confluent.broker_id()


def fields(line: str) -> dict[str, str]:
    """`Topic: t  Partition: 0 ...` as kafka-topics prints it."""
    parts = (part.partition(":") for part in line.split("\t"))
    return {name.strip(): value.strip() for name, _, value in parts}


def test_topics(tools: KafkaTools, confluent: ConfluentClient, broker_id: str, topic: str) -> None:
    made = tools.run(
        "kafka-topics", "--create", "--topic", topic, "--partitions", "3", "--config", "retention.ms=100000"
    )
    assert f"Created topic {topic}." in made
    wait_for_topic(confluent, topic, 3)
    assert topic in tools.run("kafka-topics", "--list").split()
    summary, *rows = tools.run("kafka-topics", "--describe", "--topic", topic).strip().splitlines()
    assert (fields(summary)["PartitionCount"], fields(summary)["ReplicationFactor"]) == ("3", "1")
    assert "retention.ms=100000" in fields(summary)["Configs"]
    described = [[fields(row)[name] for name in ("Partition", "Leader", "Replicas", "Isr")] for row in rows]
    assert described == [[str(number), broker_id, broker_id, broker_id] for number in range(3)]

    tools.run("kafka-topics", "--alter", "--topic", topic, "--partitions", "5")
    wait_until(lambda: confluent.partition_count(topic) == 5, "the topic has grown")
    assert f"Topic: {topic}\t" in tools.run("kafka-topics", "--describe", "--topics-with-overrides")
    for trouble in (
        "--under-replicated-partitions",
        "--unavailable-partitions",
        "--under-min-isr-partitions",
    ):
        assert topic not in tools.run("kafka-topics", "--describe", trouble)

    tools.run("kafka-topics", "--delete", "--topic", topic)
    wait_until(lambda: topic not in confluent.list_topics(), "the topic is gone")


def test_topics_that_exist_or_do_not(tools: KafkaTools, new_topic: NewTopic) -> None:
    topic = new_topic()
    assert "already exists" in tools.run("kafka-topics", "--create", "--topic", topic, code=1)
    tools.run("kafka-topics", "--create", "--topic", topic, "--if-not-exists")
    absent = f"no-{topic}"
    for wish in (["--describe"], ["--delete"], ["--alter", "--partitions", "2"]):
        assert "does not exist" in tools.run("kafka-topics", *wish, "--topic", absent, code=1)
    tools.run("kafka-topics", "--delete", "--topic", absent, "--if-exists")
    refused = tools.run("kafka-topics", "--create", "--topic", absent, "--config", "no.such.key=1", code=1)
    assert "Unknown topic config name" in refused


def test_topic_configs(tools: KafkaTools, confluent: ConfluentClient, new_topic: NewTopic) -> None:
    topic = new_topic(retention_ms="100000")
    entity = ["--entity-type", "topics", "--entity-name", topic]

    def value(key: str) -> str | None:
        return confluent.topic_config(topic)[key].value

    changes = "segment.bytes=2000000,cleanup.policy=[compact,delete]"
    done = tools.run(
        "kafka-configs", "--alter", *entity, "--add-config", changes, "--delete-config", "retention.ms"
    )
    assert f"Completed updating config for topic {topic}." in done
    wait_until(lambda: value("segment.bytes") == "2000000", "the change is in force")
    shown = tools.run("kafka-configs", "--describe", *entity)
    assert "  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:" in shown
    assert "  segment.bytes=2000000 " in shown
    assert "retention.ms=100000" not in shown
    everything = tools.run("kafka-configs", "--describe", "--all", *entity)
    assert len(everything.splitlines()) > 25
    assert "  max.message.bytes=1048588 " in everything

    refused = tools.run("kafka-configs", "--alter", *entity, "--add-config", "no.such.key=1", code=1)
    assert "InvalidConfigurationException" in refused
    nonsense = tools.run("kafka-configs", "--alter", *entity, "--add-config", "segment.bytes=tiny", code=1)
    assert "InvalidConfigurationException" in nonsense
    assert value("segment.bytes") == "2000000"


def test_broker_configs(tools: KafkaTools, broker_id: str) -> None:
    everywhere = ["--entity-type", "brokers", "--entity-default"]
    one = ["--entity-type", "brokers", "--entity-name", broker_id]
    key = "log.cleaner.delete.retention.ms"

    def wait_for(entity: list[str], shown: bool) -> None:
        wait_until(
            lambda: (f"{key}=77777" in tools.run("kafka-configs", "--describe", *entity)) is shown,
            f"{key} is {'set' if shown else 'gone'}",
        )

    assert "  num.partitions=1 " in tools.run("kafka-configs", "--describe", "--all", *one)
    for entity in (everywhere, one):
        tools.run("kafka-configs", "--alter", *entity, "--add-config", f"{key}=77777")
        wait_for(entity, shown=True)
    for entity in (everywhere, one):
        tools.run("kafka-configs", "--alter", *entity, "--delete-config", key)
        wait_for(everywhere, shown=False)
    wait_for(one, shown=False)


def test_group_and_client_metrics_configs(tools: KafkaTools, topic: str) -> None:
    group = ["--entity-type", "groups", "--entity-name", topic]
    tools.run("kafka-configs", "--alter", *group, "--add-config", "consumer.session.timeout.ms=50000")
    wait_until(
        lambda: "consumer.session.timeout.ms=50000" in tools.run("kafka-configs", "--describe", *group),
        "the group's setting is there",
    )
    tools.run("kafka-configs", "--alter", *group, "--delete-config", "consumer.session.timeout.ms")

    wish = ["--name", topic, "--metrics", "org.apache.kafka.producer.", "--interval", "60000"]
    tools.run("kafka-client-metrics", "--alter", *wish)
    wait_until(lambda: topic in tools.run("kafka-client-metrics", "--list").split(), "it is listed")
    assert "interval.ms=60000" in tools.run("kafka-client-metrics", "--describe", "--name", topic)
    tools.run("kafka-client-metrics", "--delete", "--name", topic)
    wait_until(lambda: topic not in tools.run("kafka-client-metrics", "--list").split(), "it is gone")


@pytest.mark.parametrize("codec", CODECS)
def test_console_producer_and_consumer(
    broker: ServerProcess, tools: KafkaTools, new_topic: NewTopic, codec: str
) -> None:
    topic = new_topic()
    parse = ["--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"]
    lines = "a:1,b:2\tk1\tv1\nc:3\tk2\tv2\n"
    tools.run("kafka-console-producer", "--topic", topic, "--compression-codec", codec, *parse, stdin=lines)
    (batch,) = stored_batches(broker.partition_dir(topic))
    assert (batch.compression, batch.record_count) == (Compression[codec.upper()], 2)

    limits = ["--max-messages", "2", "--timeout-ms", "60000"]
    shown = tools.run("kafka-console-consumer", "--topic", topic, "--from-beginning", *limits, *SHOW_ALL)
    rows = [line.split("\t") for line in shown.splitlines()]
    assert [row[1:] for row in rows] == [
        ["Partition:0", "Offset:0", "a:1,b:2", "k1", "v1"],
        ["Partition:0", "Offset:1", "c:3", "k2", "v2"],
    ]
    assert all(row[0].startswith("CreateTime:") for row in rows)


def test_console_consumer_from_an_offset_and_as_a_group(
    tools: KafkaTools, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    confluent.produce(topic, [Record(str(number).encode()) for number in range(10)])
    one = ["--topic", topic, "--max-messages", "3", "--timeout-ms", "60000"]
    assert tools.run("kafka-console-consumer", *one, "--partition", "0", "--offset", "4").split() == [
        "4",
        "5",
        "6",
    ]
    group = ["--group", f"group-of-{topic}", "--command-property", "auto.offset.reset=earliest"]
    for expected in (["0", "1", "2"], ["3", "4", "5"]):
        assert tools.run("kafka-console-consumer", *one, *group).split() == expected
    assert [f"group-of-{topic}", "Classic"] in [
        line.split()[:2] for line in tools.run("kafka-groups", "--list").splitlines()
    ]


def test_get_offsets(tools: KafkaTools, confluent: ConfluentClient, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=2)
    times = [HOUR_AGO_MS + second * 1000 for second in (10, 50, 20)]
    confluent.produce(topic, [Record(b"x", partition=1, timestamp_ms=time_ms) for time_ms in times])
    for time, offsets in {
        "latest": [(0, 0), (1, 3)],
        "-1": [(0, 0), (1, 3)],
        "earliest": [(0, 0), (1, 0)],
        "max-timestamp": [(1, 1)],
        str(HOUR_AGO_MS + 15_000): [(1, 1)],
    }.items():
        printed = tools.run("kafka-get-offsets", "--topic", topic, "--time", time)
        assert printed.split() == [f"{topic}:{partition}:{offset}" for partition, offset in offsets], time
    assert tools.run("kafka-get-offsets", "--topic-partitions", f"{topic}:1").split() == [f"{topic}:1:3"]


def test_delete_records(
    tools: KafkaTools, confluent: ConfluentClient, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(partitions=2)
    confluent.produce(topic, [Record(b"x", partition=partition) for partition in (0, 1) for _ in range(10)])
    wished = [{"topic": topic, "partition": 0, "offset": 4}, {"topic": topic, "partition": 1, "offset": -1}]
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"version": 1, "partitions": wished}))
    printed = tools.run("kafka-delete-records", "--offset-json-file", str(file))
    assert f"partition: {topic}-0\tlow_watermark: 4" in printed
    assert f"partition: {topic}-1\tlow_watermark: 10" in printed
    earliest = tools.run("kafka-get-offsets", "--topic", topic, "--time", "earliest")
    assert earliest.split() == [f"{topic}:0:4", f"{topic}:1:10"]


def test_log_dirs(
    broker: ServerProcess, tools: KafkaTools, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    confluent.produce(topic, [Record(b"x" * 5000)])
    described = json.loads(tools.run("kafka-log-dirs", "--describe", "--topic-list", topic).splitlines()[-1])
    (node,) = described["brokers"]
    (directory,) = node["logDirs"]
    assert (directory["logDir"], directory["error"]) == (str(broker.log_dir), None)
    (partition,) = directory["partitions"]
    size = (broker.partition_dir(topic) / f"{0:020}.log").stat().st_size
    assert partition == {"partition": f"{topic}-0", "size": size, "offsetLag": 0, "isFuture": False}


def test_perf_tests(tools: KafkaTools, confluent: ConfluentClient, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=2)
    load = ["--topic", topic, "--num-records", "3000"]
    settings = ["--command-property", "acks=all", "--command-property", "compression.type=lz4"]
    written = tools.run(
        "kafka-producer-perf-test", *load, "--record-size", "100", "--throughput", "-1", *settings
    )
    assert re.search(
        r"^3000 records sent, [\d.]+ records/sec \([\d.]+ MB/sec\), [\d.]+ ms avg", written, re.M
    )
    ends = tools.run("kafka-get-offsets", "--topic", topic).split()
    assert sum(int(end.rsplit(":", 1)[1]) for end in ends) == 3000
    titles, figures = tools.run("kafka-consumer-perf-test", *load, "--timeout", "60000").strip().splitlines()
    read = dict(zip(titles.split(", "), figures.split(", "), strict=True))
    assert int(read["data.consumed.in.nMsg"]) == 3000


def test_cluster(broker: ServerProcess, tools: KafkaTools, broker_id: str) -> None:
    versions = tools.run("kafka-broker-api-versions")
    assert versions.startswith(f"{broker.bootstrap} (id: {broker_id} rack: null isFenced: false) -> (")
    assert "\tProduce(0): 0 to 13 [usable: 13]," in versions
    assert "\tFetch(1): 4 to 18 [usable: 18]," in versions
    features = tools.run("kafka-features", "describe")
    assert re.search(r"^Feature: group.version\t.*FinalizedVersionLevel: 1\t", features, re.M)
    assert re.search(r"^Feature: transaction.version\t.*FinalizedVersionLevel: 2\t", features, re.M)
