"""A group goes on exactly where it was, whoever was killed with SIGKILL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.client import Record, wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.groups.client_process import ClientProcess, program_command
from compat.groups.confluent_admin import ConfluentAdmin
from compat.groups.conftest import BOTH_PROTOCOLS
from compat.groups.member import Library, member_settings, wait_for_assignments, wait_for_records
from compat.groups.waiting import wait_until
from compat.server_process import ServerProcess
from kafka_jars import KafkaJarsUnavailable

PARTITIONS = 2
RECORDS = 400


def fill(client: ConfluentClient, topic: str, count: int = RECORDS) -> None:
    client.produce(topic, [Record(b"%d" % number, partition=number % PARTITIONS) for number in range(count)])


@pytest.fixture
def reader(
    library: Library, broker: ServerProcess, topic: str, group: str, tmp_path: Path
) -> Iterator[ClientProcess]:
    """A consumer process that has not begun yet."""
    settings = member_settings("reader", group, library.protocol, {"session.timeout.ms": "2000"})
    if library.name == "confluent":
        settings["fetch.wait.max.ms"] = settings.pop("fetch.max.wait.ms")
    job = {"source": topic, "consumer": {"bootstrap.servers": broker.bootstrap, **settings}}
    try:
        process = ClientProcess(program_command(library.name, "reader"), job, tmp_path / "reader.log")
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    yield process
    process.kill9()


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_after_the_consumer_is_killed(
    reader: ClientProcess,
    library: Library,
    new_topic: Callable[..., str],
    confluent: ConfluentClient,
    group: str,
) -> None:
    topic = new_topic(PARTITIONS)
    fill(confluent, topic)
    reader.begin()
    wait_until(lambda: len(reader.lines()) > 20, "some records are committed")
    reader.kill9()
    said = {(topic, int(partition)): int(offset) for partition, offset in map(str.split, reader.lines())}
    offsets = ConfluentAdmin(confluent.bootstrap).group_offsets(group)
    committed = {place: offset for place, (offset, _) in offsets.items()}
    # The last commit may have been taken without its line being written.
    assert all(0 <= committed[place] - offset <= 1 for place, offset in said.items())
    assert sum(committed.values()) < RECORDS
    member = library.open("c1", group, [topic], {})
    got = wait_for_records([member], RECORDS - sum(committed.values()))
    member.leave()
    for number in range(PARTITIONS):
        start = committed.get((topic, number), 0)
        offsets_read = [record.offset for record in got if record.place == (topic, number)]
        assert offsets_read == list(range(start, RECORDS // PARTITIONS))


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_after_the_broker_is_killed(
    lone_broker: ServerProcess, library_of: Callable[[ServerProcess], Library], group: str, topic: str
) -> None:
    """The member stays, and reads on as soon as the broker is back; nothing is read twice."""
    client = ConfluentClient(lone_broker.bootstrap)
    client.create_topic(topic, PARTITIONS)
    wait_for_topic(client, topic, PARTITIONS)
    fill(client, topic)
    places = [(topic, number) for number in range(PARTITIONS)]
    patient = {"reconnect.backoff.max.ms": "200", "session.timeout.ms": "40000"}
    member = library_of(lone_broker).open("c1", group, [topic], patient)
    wait_for_records([member], RECORDS)
    offsets = {place: (RECORDS // PARTITIONS, "") for place in places}
    member.commit(offsets)
    lone_broker.kill9()
    lone_broker.start()
    admin = ConfluentAdmin(lone_broker.bootstrap)
    assert admin.group_offsets(group) == offsets
    fill(client, topic, 20)
    got = wait_for_records([member], RECORDS + 20)
    assert len({(record.place, record.offset) for record in got}) == len(got) == RECORDS + 20
    wait_until(lambda: admin.list_groups()[group] == "Stable", "the group is stable")
    assert admin.describe_group(group)["members"]["c1"]["id"] == member.member_id
    wait_for_assignments({member: places})
    member.leave()


def test_after_both_are_killed(
    lone_broker: ServerProcess, library_of: Callable[[ServerProcess], Library], group: str, topic: str
) -> None:
    """The dead member's session still runs out at the new broker, and somebody else goes on."""
    client = ConfluentClient(lone_broker.bootstrap)
    client.create_topic(topic, PARTITIONS)
    wait_for_topic(client, topic, PARTITIONS)
    fill(client, topic)
    places = [(topic, number) for number in range(PARTITIONS)]
    library = library_of(lone_broker)
    settings = {"session.timeout.ms": "2000", "reconnect.backoff.max.ms": "200"}
    static = {"group.instance.id": "one", **settings}
    first = library.open("c1", group, [topic], static)
    wait_for_assignments({first: places})
    first.commit({place: (150, "") for place in places})
    # A static member says nothing when it closes: to the group it is as if it had died.
    first.leave()
    lone_broker.kill9()
    lone_broker.start()
    second = library.open("c2", group, [topic], settings)
    got = wait_for_records([second], RECORDS - 300)
    second.leave()
    assert min(record.offset for record in got) == 150
    assert len(got) == RECORDS - 300
