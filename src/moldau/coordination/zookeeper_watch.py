"""ZooKeeper's persistent recursive watch (ZOOKEEPER-1416, servers since 3.6), which kazoo does not offer.

One watch at the root of our part of the tree reports every change below it, so no watch has to be set again after an
event. Events arrive on the connection's own thread, before the answer to any later read.
"""

import struct
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kazoo.client import KazooClient
from kazoo.protocol.serialization import Watch, write_string

PERSISTENT_RECURSIVE: Final = 1
_MODE: Final = struct.Struct("!i")


class AddWatch(NamedTuple):
    """The request, in the form that kazoo's connection sends."""

    path: str
    mode: int

    @property
    def type(self) -> int:
        return 106

    def serialize(self) -> bytes:
        return bytes(write_string(self.path)) + _MODE.pack(self.mode)

    @staticmethod
    def deserialize(_answer: object, _offset: int) -> bool:
        return True


def redirect_watch_events(client: KazooClient, changed: Callable[[str], None]) -> None:
    """From now on `changed` is called with the path of every event of this client."""

    def read_watch_event(buffer: Any, offset: int) -> None:
        event, _ = Watch.deserialize(buffer, offset)
        changed(client.unchroot(event.path))

    # A private name: kazoo looks the reader up on the connection for each event.
    client._connection._read_watch_event = read_watch_event


def add_tree_watch(client: KazooClient, timeout_s: float) -> None:
    """Called after every connect: a server forgets the watches of a broken connection."""
    result = client.handler.async_result()
    client._call(AddWatch(client.chroot or "/", PERSISTENT_RECURSIVE), result)
    result.get(timeout=timeout_s)
