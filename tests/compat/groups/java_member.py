"""Members of groups with the Java client."""

import base64
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from compat.groups.java_pipe import JavaPipe
from compat.groups.member import CLASSIC, Committed, Event, Got, Place, member_settings

ASSIGNOR_PACKAGE = "org.apache.kafka.clients.consumer"

_serial = itertools.count()


class JavaMember:
    def __init__(
        self, pipe: JavaPipe, bootstrap: str, name: str, topics: Sequence[str], settings: Any
    ) -> None:
        self.name = name
        self.handle = f"{name}/{next(_serial)}"
        """Names it in the driver, where several members may have one client id."""
        self._pipe = pipe
        self._is_open = True
        self._call("member_open", bootstrap=bootstrap, topics=list(topics), settings=dict(settings))

    @property
    def assignment(self) -> frozenset[Place]:
        return places_read(self._state()["assignment"])

    @property
    def events(self) -> list[Event]:
        return [Event(kind, places_read(places)) for kind, places in self._state()["events"]]

    @property
    def got(self) -> list[Got]:
        return [
            Got((topic, partition), offset, base64.b64decode(value))
            for topic, partition, offset, value in self._state()["records"]
        ]

    @property
    def failures(self) -> list[str]:
        failures: list[str] = self._state()["failures"]
        return failures

    @property
    def member_id(self) -> str:
        return str(self._state()["member_id"])

    @property
    def generation(self) -> int:
        return int(self._state()["generation"])

    def commit(self, offsets: Mapping[Place, Committed]) -> None:
        self._call("member_commit", offsets=offsets_written(offsets))

    def committed(self, places: Collection[Place]) -> dict[Place, Committed]:
        return offsets_read(self._call("member_committed", partitions=[list(place) for place in places]))

    def stop_polling(self) -> None:
        self._call("member_poll", wanted=False)

    def poll_again(self) -> None:
        self._call("member_poll", wanted=True)

    def leave(self) -> None:
        self._close(stay=False)

    def vanish(self) -> None:
        """Closes without a word to the group, as a process that dies would."""
        self._close(stay=True)

    def _close(self, stay: bool) -> None:
        if self._is_open:
            self._is_open = False
            self._call("member_close", stay=stay)

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._call("member_state")
        return state

    def _call(self, operation: str, **arguments: Any) -> Any:
        return self._pipe.call(self.handle, operation, member=self.handle, **arguments)


class JavaLibrary:
    name = "java"
    assignors = {
        "range": f"{ASSIGNOR_PACKAGE}.RangeAssignor",
        "roundrobin": f"{ASSIGNOR_PACKAGE}.RoundRobinAssignor",
        "sticky": f"{ASSIGNOR_PACKAGE}.StickyAssignor",
        "cooperative-sticky": f"{ASSIGNOR_PACKAGE}.CooperativeStickyAssignor",
    }

    def __init__(self, pipe: JavaPipe, bootstrap: str, protocol: str = CLASSIC) -> None:
        self._pipe = pipe
        self._bootstrap = bootstrap
        self.protocol = protocol

    def open(self, name: str, group: str, topics: Sequence[str], settings: Mapping[str, str]) -> JavaMember:
        chosen = member_settings(name, group, self.protocol, settings)
        return JavaMember(self._pipe, self._bootstrap, name, topics, chosen)


def places_read(written: Any) -> frozenset[Place]:
    return frozenset((topic, partition) for topic, partition in written)


def offsets_written(offsets: Mapping[Place, Committed]) -> list[list[Any]]:
    return [[*place, *committed] for place, committed in offsets.items()]


def offsets_read(written: Any) -> dict[Place, Committed]:
    """confluent-kafka commits metadata with the NUL that ends a C string, and hides it when it reads."""
    return {
        (topic, partition): (offset, metadata.removesuffix("\0"))
        for topic, partition, offset, metadata in written
    }
