"""Brokers are restarted one after the other; clients notice nothing but a moment's delay."""

from pathlib import Path

from confluent_kafka import Consumer, KafkaException

from compat.server_process import wait_until
from e2e.cluster.clients import CLIENT, Reader, Writer, read_all, wait_for_progress
from e2e.cluster.history import History, find_problems
from e2e.cluster.on_demand import on_demand
from e2e.cluster.processes import PATIENCE_S, ClusterProcesses

PLACES = [("t", partition) for partition in range(3)]
COUNT = 50
pytestmark = on_demand


def test_clients_go_on_while_brokers_are_restarted_the_controller_last(tmp_path: Path) -> None:
    history = History()
    settings = {"min.insync.replicas": "2"}
    with ClusterProcesses(tmp_path, settings=settings) as cluster:
        cluster.create_topic("t", 3, 3)
        cluster.wait_until_whole("t")
        with (
            Writer("writer", cluster.bootstrap, PLACES, history),
            Reader("reader", cluster.bootstrap, PLACES, history),
            _Member(cluster.bootstrap) as member,
        ):
            wait_for_progress(history, COUNT)
            member.read_more(COUNT)
            seen = cluster.picture()
            assert seen is not None and seen.controller is not None
            for number in sorted(cluster.brokers, key=lambda each: each == seen.controller):
                before = history.acknowledged_count
                assert cluster.brokers[number].stop() == 0
                cluster.brokers[number].start()
                cluster.wait_until_whole("t", "__consumer_offsets")
                assert history.acknowledged_count > before
                wait_for_progress(history, COUNT)
                member.read_more(COUNT)
        log = read_all(cluster.bootstrap, PLACES, is_committed=False)
    assert not history.failures, history.failures[:5]
    assert not (problems := find_problems(history, log, log)), problems


class _Member:
    """The only member of a group, which commits what it reads: its coordinator moves along with its partition."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = Consumer(
            {**CLIENT, "bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
        )

    def __enter__(self) -> "_Member":
        self._consumer.subscribe(["t"])
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def read_more(self, count: int) -> None:
        """So many records more, and they can be committed."""
        read = 0

        def is_enough() -> bool:
            nonlocal read
            read += sum(message.error() is None for message in self._consumer.consume(1000, timeout=0.1))
            return read >= count

        wait_until(is_enough, f"{count} records are read by the group", PATIENCE_S)
        wait_until(self._is_committed, "what was read is committed", PATIENCE_S)

    def _is_committed(self) -> bool:
        """A commit of no waiting has no second try: while the coordinator moves, it may come to the wrong broker."""
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException:
            return False
        return True
