"""Restarts, kill -9, and a primary that dies during registrations: nothing is lost, and no id or schema is used
twice."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import orjson
from confluent_kafka import Consumer, KafkaError, TopicPartition

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.registry.registry_process import PATIENCE_S, RegistryProcess, ask
from moldau.testing import LocalCluster, LocalRegistry

SCHEMAS = 60
KILL_AFTER = 15


def schema(number: int) -> str:
    return json.dumps({"type": "record", "name": f"R{number}", "fields": [{"name": "a", "type": "int"}]})


def register(url: str, number: int) -> int | None:
    """The id, or None when there was no clear answer."""
    try:
        answer = ask(url, "POST", f"/subjects/s{number}/versions", {"schema": schema(number)})
    except OSError:
        return None
    assert answer.status in (200, 500), answer
    return int(answer.body["id"]) if answer.status == 200 else None


def written(bootstrap: str) -> list[tuple[str, int]]:
    """Texts and ids of all committed schema records, in the order of the log."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "audit",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition("_schemas", 0, 0)])
    found = []
    deadline = time.monotonic() + PATIENCE_S
    while True:
        assert time.monotonic() < deadline, "the topic cannot be read to its end"
        message = consumer.poll(0.2)
        if message is None:
            continue
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                break
            continue
        key, value = message.key(), message.value()
        if key and value and orjson.loads(key)["keytype"] == "SCHEMA":
            told = orjson.loads(value)
            found.append((told["schema"], told["id"]))
    consumer.close()
    return found


def check_log(bootstrap: str, acknowledged: dict[int, int]) -> None:
    records = written(bootstrap)
    ids: dict[str, set[int]] = {}
    texts: dict[int, set[str]] = {}
    for text, schema_id in records:
        ids.setdefault(text, set()).add(schema_id)
        texts.setdefault(schema_id, set()).add(text)
    assert all(len(found) == 1 for found in ids.values()), "a schema has two ids"
    assert all(len(found) == 1 for found in texts.values()), "an id was given twice"
    assert len(acknowledged) == SCHEMAS
    by_name = {json.loads(text)["name"]: found.copy().pop() for text, found in ids.items()}
    assert {number: by_name.get(f"R{number}") for number in acknowledged} == acknowledged


def until_answered(attempt: Callable[[], int | None]) -> int:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = attempt()
        if found is not None:
            return found
        assert time.monotonic() < deadline, "nobody registers the schema"
        time.sleep(0.05)


def test_a_registry_comes_back_with_all_it_knew(own_broker: MoldauBroker, tmp_path: Path) -> None:
    registry = RegistryProcess(tmp_path / "registry", own_broker.bootstrap)
    with registry:
        ids = {number: until_answered(lambda n=number: register(registry.url, n)) for number in range(5)}  # type: ignore[misc]
        ask(registry.url, "PUT", "/config/s1", {"compatibility": "NONE"})
        ask(registry.url, "DELETE", "/subjects/s2")
        for end in (registry.kill9, registry.stop):
            end()
            registry.start()
            assert ask(registry.url, "GET", "/subjects").body == ["s0", "s1", "s3", "s4"]
            assert ask(registry.url, "GET", "/config/s1").body == {"compatibilityLevel": "NONE"}
            assert {n: until_answered(lambda n=n: register(registry.url, n)) for n in (0, 1, 3, 4)} == {  # type: ignore[misc]
                n: ids[n] for n in (0, 1, 3, 4)
            }
        assert until_answered(lambda: register(registry.url, 5)) == 6
        assert until_answered(lambda: register(registry.url, 2)) == ids[2]


def test_a_primary_killed_amid_registrations(own_broker: MoldauBroker, tmp_path: Path) -> None:
    one = RegistryProcess(tmp_path / "one", own_broker.bootstrap)
    two = RegistryProcess(tmp_path / "two", own_broker.bootstrap)
    with one, two:
        wait_until(lambda: one.is_primary or two.is_primary, "one of them is the primary", PATIENCE_S)
        primary, other = (one, two) if one.is_primary else (two, one)
        acknowledged: dict[int, int] = {}
        turn, killed = threading.Lock(), threading.Event()

        def work(first: int) -> None:
            """Asks both instances for every schema, first the one that forwards."""
            for number in range(first, SCHEMAS, 2):
                acknowledged[number] = until_answered(
                    lambda n=number: register(other.url, n) or register(primary.url, n)  # type: ignore[misc]
                )
                with turn:
                    if len(acknowledged) >= KILL_AFTER and not killed.is_set():
                        killed.set()
                        primary.kill9()

        workers = [threading.Thread(target=work, args=(first,)) for first in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(2 * PATIENCE_S)
            assert not worker.is_alive()
        assert killed.is_set()
        wait_until(lambda: other.is_primary, "the other is the primary", PATIENCE_S)
        check_log(own_broker.bootstrap, acknowledged)
        primary.start()
        for instance in (primary, other):
            found = {number: register(instance.url, number) for number in acknowledged}
            assert found == acknowledged, "both instances know the same"


def test_a_primary_that_wakes_up_too_late_writes_nothing_of_its_own(
    own_broker: MoldauBroker, tmp_path: Path
) -> None:
    """It still takes itself for the primary and decides on the state from before its pause."""
    one = RegistryProcess(tmp_path / "one", own_broker.bootstrap)
    two = RegistryProcess(tmp_path / "two", own_broker.bootstrap)
    with one, two:
        wait_until(lambda: one.is_primary or two.is_primary, "one of them is the primary", PATIENCE_S)
        primary, other = (one, two) if one.is_primary else (two, one)
        acknowledged = {0: until_answered(lambda: register(primary.url, 0))}
        os.kill(primary.pid, signal.SIGSTOP)
        try:
            late: dict[int, int | None] = {}
            sleeper = threading.Thread(target=lambda: late.update({1: register(primary.url, 1)}))
            sleeper.start()
            wait_until(lambda: other.is_primary, "the other is the primary", PATIENCE_S)
            for number in range(2, SCHEMAS):
                acknowledged[number] = until_answered(lambda n=number: register(other.url, n))  # type: ignore[misc]
        finally:
            os.kill(primary.pid, signal.SIGCONT)
        sleeper.join(PATIENCE_S)
        acknowledged[1] = until_answered(lambda: register(other.url, 1))
        assert late[1] in (None, acknowledged[1])
        check_log(own_broker.bootstrap, acknowledged)


def test_a_new_instance_does_not_depose_the_primary_and_forwards_to_it(
    own_broker: MoldauBroker, tmp_path: Path
) -> None:
    one = RegistryProcess(tmp_path / "one", own_broker.bootstrap)
    two = RegistryProcess(tmp_path / "two", own_broker.bootstrap, {"leader.eligibility": "false"})
    with one, two:
        assert until_answered(lambda: register(two.url, 1)) == 1
        assert ask(one.url, "GET", "/subjects").body == ["s1"]
        answer = ask(two.url, "PUT", "/config/s1", {"compatibility": "SIDEWAYS"})
        assert (answer.status, answer.code) == (422, 42203), "the primary's refusal comes back as it is"
        assert one.is_primary and not two.is_primary


def test_a_registry_lives_through_the_death_of_its_broker() -> None:
    with LocalCluster(registry=True) as cluster:
        url = cluster.registry_url
        assert until_answered(lambda: register(url, 1)) == 1
        cluster.restart(clean=False)
        assert ask(url, "GET", "/subjects").body == ["s1"]
        assert until_answered(lambda: register(url, 2)) == 2
        check_topic = {
            json.loads(text)["name"]: schema_id for text, schema_id in written(cluster.bootstrap_servers)
        }
        assert check_topic == {"R1": 1, "R2": 2}


def test_another_primary_takes_over_when_the_primary_stops() -> None:
    with LocalCluster() as cluster:
        here = cluster.bootstrap_servers
        with LocalRegistry(here) as one, LocalRegistry(here) as two:
            assert until_answered(lambda: register(two.url, 1)) == 1
            primary, other = (one, two) if one.is_primary else (two, one)
            primary.stop()
            assert until_answered(lambda: register(other.url, 2)) == 2
            assert until_answered(lambda: register(other.url, 1)) == 1
            assert other.is_primary
