"""A group moves from the classic protocol to the consumer protocol and back while it reads (KIP-848)."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from compat.client import Record
from compat.confluent_client import ConfluentClient
from compat.groups.confluent_member import ConfluentLibrary
from compat.groups.java_admin import JavaAdmin
from compat.groups.java_member import JavaLibrary
from compat.groups.java_pipe import JavaPipe
from compat.groups.member import CLASSIC, CONSUMER, Library, Member, wait_for_sizes
from compat.groups.waiting import wait_until
from compat.server_process import ServerProcess

pytestmark = pytest.mark.java

PARTITIONS = 4
RECORDS = 40


class Reading:
    """Members of one group that commit what they read; all that was written, and all that was read by anybody."""

    def __init__(self, topic: str, group: str, client: ConfluentClient) -> None:
        self.members: dict[str, Member] = {}
        self._topic, self._group, self._client = topic, group, client
        self._places = [(topic, number) for number in range(PARTITIONS)]
        self._written: set[bytes] = set()
        self._read_by_gone: set[bytes] = set()

    def come(self, name: str, library: Library, protocol: str, assignor: str = "range") -> None:
        settings = {
            "group.protocol": protocol,
            "partition.assignment.strategy": library.assignors[assignor],
            "enable.auto.commit": "true",
            "auto.commit.interval.ms": "100",
        }
        self.members[name] = library.open(name, self._group, [self._topic], settings)

    def go(self, *names: str) -> None:
        for name in names:
            member = self.members.pop(name)
            self._read_by_gone |= {got.value for got in member.got}
            member.leave()

    def check(self, sizes: Sequence[int]) -> None:
        """The partitions are shared like this, and what is written now is read."""
        wait_for_sizes(list(self.members.values()), sizes, self._places)
        start = len(self._written)
        new = [b"%d" % number for number in range(start, start + RECORDS)]
        self._client.produce(
            self._topic, [Record(value, partition=number % PARTITIONS) for number, value in enumerate(new)]
        )
        self._written.update(new)
        wait_until(lambda: self._read() == self._written, "everything written is read")

    def _read(self) -> set[bytes]:
        return self._read_by_gone | {got.value for member in self.members.values() for got in member.got}


@pytest.fixture
def reading(new_topic: Callable[..., str], group: str, confluent: ConfluentClient) -> Iterator[Reading]:
    reading = Reading(new_topic(PARTITIONS), group, confluent)
    yield reading
    reading.go(*reading.members)


@pytest.fixture
def libraries(broker: ServerProcess, java_pipe: JavaPipe) -> dict[str, Library]:
    return {
        "confluent": ConfluentLibrary(broker.bootstrap),
        "java": JavaLibrary(java_pipe, broker.bootstrap),
    }


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
@pytest.mark.parametrize(
    ("old", "new"), [("confluent", "confluent"), ("java", "java"), ("java", "confluent")]
)
def test_there_and_back(
    reading: Reading,
    libraries: dict[str, Library],
    java_admin: JavaAdmin,
    group: str,
    old: str,
    new: str,
    assignor: str,
) -> None:
    for name in ("old-1", "old-2"):
        reading.come(name, libraries[old], CLASSIC, assignor)
    reading.check([2, 2])
    assert java_admin.describe_group(group)["type"] == "Classic"
    reading.come("new-1", libraries[new], CONSUMER)
    reading.check([2, 1, 1])
    assert java_admin.describe_group(group)["type"] == "Consumer"
    reading.come("new-2", libraries[new], CONSUMER)
    reading.check([1, 1, 1, 1])
    reading.go("old-1", "old-2")
    reading.check([2, 2])
    reading.come("old-3", libraries[old], CLASSIC, assignor)
    reading.check([2, 1, 1])
    assert java_admin.describe_group(group)["type"] == "Consumer"
    reading.go("new-1", "new-2")
    reading.check([4])
    assert java_admin.describe_group(group)["type"] == "Classic"
    reading.come("old-4", libraries[old], CLASSIC, assignor)
    reading.check([2, 2])


def test_a_group_without_members_takes_either(
    reading: Reading, libraries: dict[str, Library], java_admin: JavaAdmin, group: str
) -> None:
    for number, protocol in enumerate((CLASSIC, CONSUMER, CLASSIC)):
        name = f"member-{number}"
        reading.come(name, libraries["confluent"], protocol)
        reading.check([PARTITIONS])
        assert java_admin.describe_group(group)["type"] == protocol.capitalize()
        reading.go(name)
