"""`streams plan` and the preparation of a run over a changed topology, against a real broker, without Spark."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from moldau.cli.main import main
from moldau.core.errors import ConfigError
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.driver.preparation import Prepared, prepare
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, Topology, tumbling
from moldau.testing import LocalCluster

PATIENCE_S = 120
APP = """
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, tumbling

builder = StreamsBuilder("{name}", key=STRING, value=STRING)
windows = builder.stream("{name}-in").group_by_key().windowed_by(tumbling({size_ms}))
windows.count(store="counts").to_stream().to("{name}-out", value=LONG)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


def counts(name: str, size_ms: int, *more: str, reset: str = "earliest") -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    for topic in more:
        builder.stream(topic, offset_reset=reset).to(f"{name}-out")
    windows = builder.stream(f"{name}-in").group_by_key().windowed_by(tumbling(size_ms))
    windows.count(store="counts").to_stream().to(f"{name}-out", value=LONG)
    return builder.build()


class Start:
    """Prepares runs of an application in one checkpoint."""

    def __init__(self, cluster: LocalCluster, name: str, folder: Path) -> None:
        self.name, self.folder, self._cluster = name, folder, cluster
        for topic in ("in", "out"):
            cluster.create_topic(f"{name}-{topic}", partitions=2)

    def __call__(self, topology: Topology, on_change: str = "refuse") -> Prepared:
        settings = AppSettings(
            self.name,
            self._cluster.bootstrap_servers,
            str(self.folder),
            on_change=on_change,  # type: ignore[arg-type]
        )
        return prepare(topology, settings, 2)

    def plan(self, size_ms: int, *options: str) -> int:
        file = self.folder / "app.py"
        file.write_text(APP.format(name=self.name, size_ms=size_ms))
        servers = self._cluster.bootstrap_servers
        more = ["--checkpoint-dir", str(self.folder), "--bootstrap-server", servers, *options]
        return main(["streams", "plan", str(file), *more])


def test_plan_shows_what_a_run_would_do(
    cluster: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = Start(cluster, "planned", tmp_path)
    assert start.plan(1_000) == 0
    assert "has no checkpoint" in capsys.readouterr().out
    assert not (tmp_path / "planned").exists()

    record = start(counts("planned", 1_000)).record
    assert start.plan(1_000) == 0
    assert "no change concerns the checkpoint" in capsys.readouterr().out

    assert start.plan(2_000) == 1
    told = capsys.readouterr()
    assert "refused: " in told.out and "window size 2000 ms, before 1000 ms" in told.out
    assert "--on-change drop" in told.err
    assert start.plan(2_000, "--on-change", "drop") == 0
    assert "starts empty" in capsys.readouterr().out
    assert start.plan(2_000, "--on-change", "keep", "--output", "json") == 0
    found = json.loads(capsys.readouterr().out)
    (store,) = [one for one in found["changes"] if one["kind"] == "store"]
    assert store["fate"] == "changed" and store["outcome"].startswith("keeps its content")
    assert found["refused"] is None
    # It has only looked.
    assert ApplicationRecord.load(Folder(str(tmp_path / "planned")), "planned") == record


def test_a_run_refuses_drops_or_keeps(cluster: LocalCluster, tmp_path: Path) -> None:
    start = Start(cluster, "chosen", tmp_path)
    start(counts("chosen", 1_000))
    with pytest.raises(ConfigError, match="store counts is changed"):
        start(counts("chosen", 2_000))
    kept = start(counts("chosen", 2_000), "keep")
    assert kept.record.begins == {} and kept.application.state_folders == ("0",)
    dropped = start(counts("chosen", 3_000), "drop")
    assert dropped.application.state_begins["counts"] == 0
    # The choice was made: the next start needs none.
    assert start(counts("chosen", 3_000)).record == dropped.record


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_a_topic_that_is_new_begins_where_its_source_says(
    reset: str, cluster: LocalCluster, tmp_path: Path
) -> None:
    name = f"added-{reset}"
    start = Start(cluster, name, tmp_path)
    start(counts(name, 1_000))
    cluster.create_topic(f"{name}-more", partitions=2)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in ("x", "y"):
        producer.produce(f"{name}-more", value, partition=0)
    assert producer.flush(PATIENCE_S) == 0
    found = start(counts(name, 1_000, f"{name}-more", reset=reset))
    begin = 0 if reset == "earliest" else 2
    assert found.record.initial[f"{name}-more"] == {"0": begin, "1": 0}
    assert f"{name}-more" in found.record.topic_ids and found.partitions[f"{name}-more"] == 2
    assert found.application.state_folders == ("1", "0")


def test_a_source_that_reads_from_the_latest_record_may_know_which_it_was(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    start = Start(cluster, "known", tmp_path)
    cluster.create_topic("known-more", partitions=3)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in "abcd":
        for partition in (0, 1, 2):
            producer.produce("known-more", value, partition=partition)
    assert producer.flush(PATIENCE_S) == 0
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    deleted = TopicPartition("known-more", 1, 3)
    admin.delete_records([deleted])[deleted].result(PATIENCE_S)
    topology = counts("known", 1_000, "known-more", reset="latest")
    # A record in its place, one that is gone, a partition that was added later.
    found = start(replace(topology, latest_from={"known-more": (2, 1)}))
    assert found.record.initial["known-more"] == {"0": 2, "1": 3, "2": 0}


def test_a_topic_that_is_no_longer_read_may_be_deleted(cluster: LocalCluster, tmp_path: Path) -> None:
    start = Start(cluster, "left", tmp_path)
    cluster.create_topic("left-more", partitions=1)
    start(counts("left", 1_000, "left-more"))
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_topics(["left-more"])["left-more"].result(PATIENCE_S)
    with pytest.raises(ConfigError, match="left-more"):
        start(counts("left", 1_000, "left-more"))
    assert "left-more" not in start(counts("left", 1_000)).record.topic_ids


def test_a_checkpoint_of_the_earlier_form_takes_the_new_one(cluster: LocalCluster, tmp_path: Path) -> None:
    start = Start(cluster, "earlier", tmp_path)
    record = start(counts("earlier", 1_000)).record
    file = tmp_path / "earlier" / "application.json"
    content = json.loads(file.read_text())
    for name in ("inventory", "places", "folders_made", "begins"):
        del content[name]
    file.write_text(json.dumps({**content, "version": 2}))
    with pytest.raises(ConfigError, match="Run the old topology once with this version"):
        start(counts("earlier", 2_000))
    assert start(counts("earlier", 1_000)).record == record
    assert json.loads(file.read_text())["version"] == 3
    shutil.rmtree(tmp_path / "earlier")
