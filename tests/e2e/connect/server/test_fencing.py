"""Tasks of a source on a worker that has not heard of new ones can commit nothing, before the new ones start."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from compat.server_process import wait_until
from moldau.pipeline.connect.api import SourceConnector, SourceTask
from moldau.pipeline.connect.declarations import Texts
from moldau.pipeline.connect.server.hosting.connector_keeper import ConnectorKeeper
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.state.config_records import connector_record
from moldau.pipeline.connect.server.topics.config_log import LocalConfigs
from moldau.pipeline.connect.server.topics.status_log import LocalStatuses
from moldau.testing import LocalCluster

PATIENCE_S = 60.0


class WordsSource(SourceConnector):
    """A task for each word."""

    task_class = SourceTask

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return [{"reads": word} for word in self.config["words"].split(",")]


class Keeper:
    """Keeps one connector, without workers that would run its tasks."""

    def __init__(self, servers: str, folder: Path) -> None:
        given = {"bootstrap.servers": servers, "group.id": "fencing", "state.dir": str(folder)}
        overrides = [f"{name}={value}" for name, value in given.items()]
        configuration = read_configuration(overrides=[*overrides, "connector.changes.interval.ms=100"])
        self.store = LocalConfigs(lambda change: None)
        reports = StateReports(LocalStatuses(), lambda: self.store.state, "me:8083")
        self.keeper = ConnectorKeeper(configuration, lambda: self.store, reports)
        self.keeper.own(Shares.everything())
        self.keeper.start()

    def put(self, words: str) -> None:
        """Returns when the tasks for the words may start."""
        path = f"{WordsSource.__module__}:{WordsSource.__qualname__}"
        config = {"name": "words", "connector.class": path, "words": words, "tasks.max": "9"}
        self.store.append(lambda state: [connector_record("words", config)])
        self.keeper.wake()
        wait_until(lambda: self._may_start(words), f"tasks for {words} may start", PATIENCE_S)

    def _may_start(self, words: str) -> bool:
        entry = self.store.state.connectors["words"]
        reads = [task["reads"] for task in entry.tasks]
        return reads == words.split(",") and entry.has_current_tasks and not entry.needs_fencing


@pytest.fixture
def kept(cluster: LocalCluster, tmp_path: Path) -> Iterator[Keeper]:
    found = Keeper(cluster.bootstrap_servers, tmp_path)
    yield found
    found.keeper.stop(PATIENCE_S)


@contextmanager
def running(cluster: LocalCluster, number: int) -> Iterator[Producer]:
    """What a task of this number writes with."""
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": f"fencing-words-{number}",
            "log_level": 0,
        }
    )
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce("written", b"a word")
    producer.flush(PATIENCE_S)
    yield producer


def test_replaced_tasks_are_fenced(cluster: LocalCluster, kept: Keeper) -> None:
    cluster.create_topic("written")
    kept.put("a,b,c")
    with running(cluster, 0) as first, running(cluster, 1) as second, running(cluster, 2) as third:
        kept.put("a,b,c,d")
        # All tasks are those of a new configuration.
        for one in (first, second, third):
            with pytest.raises(KafkaException):
                one.commit_transaction(PATIENCE_S)
    with running(cluster, 3) as gone:
        kept.put("abcd")
        with pytest.raises(KafkaException):
            gone.commit_transaction(PATIENCE_S)
