"""Many nodes in one request: ZooKeeper's multiRead (ZOOKEEPER-3402, servers since 3.6), which kazoo does not offer.

A node that is not there fails for itself and not the others. A request for each node would cost kazoo a quarter of a
millisecond; a cluster may have tens of thousands of them.
"""

import struct
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kazoo import exceptions as zk
from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS

from moldau.coordination.store import Reading, Stat

GET_DATA: Final = 4
ERROR: Final = -1
PATHS_PER_REQUEST: Final = 500
_HEADER: Final = struct.Struct("!i?i")
_SIZE: Final = struct.Struct("!i")
_STAT: Final = struct.Struct("!qqqqiiiqiiq")
_END: Final = _HEADER.pack(ERROR, True, ERROR)
_GET_HEADER: Final = _HEADER.pack(GET_DATA, False, ERROR)
_NO_WATCH: Final = b"\0"
_NO_NODE: Final = zk.NoNodeError.code


class MultiRead(NamedTuple):
    """The request, in the form that kazoo's connection sends."""

    paths: Sequence[str]

    @property
    def type(self) -> int:
        return 22

    def serialize(self) -> bytes:
        parts = []
        for path in self.paths:
            encoded = path.encode()
            parts += [_GET_HEADER, _SIZE.pack(len(encoded)), encoded, _NO_WATCH]
        return b"".join([*parts, _END])

    @staticmethod
    def deserialize(answer: Any, offset: int) -> list[Reading | None]:
        """In the order of the paths; None where there is no node."""
        found: list[Reading | None] = []
        while True:
            kind, is_end, _ = _HEADER.unpack_from(answer, offset)
            offset += _HEADER.size
            if is_end:
                return found
            if kind == ERROR:
                (code,) = _SIZE.unpack_from(answer, offset)
                offset += _SIZE.size
                if code != _NO_NODE:
                    raise EXCEPTIONS[code]()
                found.append(None)
                continue
            (size,) = _SIZE.unpack_from(answer, offset)
            offset += _SIZE.size
            data = bytes(answer[offset : offset + max(size, 0)])
            offset += max(size, 0)
            created, _, _, _, version, _, _, owner, _, _, _ = _STAT.unpack_from(answer, offset)
            offset += _STAT.size
            found.append(Reading(data, Stat(version, created, owner)))


def read_nodes(client: KazooClient, paths: Sequence[str], timeout_s: float) -> list[Reading | None]:
    root = (client.chroot or "").rstrip("/")
    asked = []
    for start in range(0, len(paths), PATHS_PER_REQUEST):
        result = client.handler.async_result()
        some = paths[start : start + PATHS_PER_REQUEST]
        client._call(MultiRead([f"{root}{path}" for path in some]), result)
        asked.append(result)
    found: list[Reading | None] = []
    for result in asked:
        found += result.get(timeout=timeout_s)
    return found
