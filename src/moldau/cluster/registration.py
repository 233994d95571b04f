"""A broker's place among the living: its ephemeral node, made at the start and again with every new session.

Blocks: runs on a worker thread. Two brokers of one number are refused; what a dead process of this same broker left
behind is taken away at once, since whoever holds the lock on its log directory knows that it is dead.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

import orjson

from moldau.coordination import tree_layout as layout
from moldau.coordination.store import Delete, NodeExists, NoNode, Reading, Store
from moldau.coordination.tree_layout import BrokerRegistration, Endpoint
from moldau.core.errors import ConfigError
from moldau.core.ports import FileSystem

STATE_FILE: Final = "moldau-registration.json"
LOOK_AGAIN_S: Final = 0.1


class KnownSince(NamedTuple):
    """What a broker knows of its own past: on which boot of the machine it last ran, and since which epoch no log
    of it lost anything."""

    boot_id: str
    intact_since: int


@dataclass(frozen=True, slots=True)
class Registration:
    """How a broker registers."""

    store: Store
    broker_id: int
    directory_id: str
    """Of its first log directory: tells this broker's own earlier process from another broker."""
    endpoints: tuple[Endpoint, ...]
    security: dict[str, str]
    rack: str | None
    wait_ms: int
    """How long to wait for another holder of the number to go: as long as a session lasts."""
    now_ms: Callable[[], int]

    def register(self, intact_since: int | None) -> int:
        """The epoch of this registration. With None the logs may have lost something since any earlier one.
        ConfigError when the number belongs to another broker."""
        deadline = time.monotonic() + self.wait_ms / 1000
        path = layout.broker_path(self.broker_id)
        while True:
            try:
                self.store.create(path, self._node(intact_since), ephemeral=True)
            except NodeExists:
                if not self._is_ours(path) and not self._clear_away(path):
                    self._wait(path, deadline)
                    continue
            stat = self.store.stat(path)
            if stat is not None and stat.owner == self.store.session_id:
                return stat.created

    def _node(self, intact_since: int | None) -> bytes:
        never = 2**63 - 1
        broker = BrokerRegistration(
            self.broker_id, never, self.endpoints, self.rack, self.security,
            never if intact_since is None else intact_since,
        )  # fmt: skip
        node = orjson.loads(layout.encode_broker(broker, self.now_ms()))
        return orjson.dumps({**node, "directory_id": self.directory_id})

    def _is_ours(self, path: str) -> bool:
        stat = self.store.stat(path)
        return stat is not None and stat.owner == self.store.session_id

    def _clear_away(self, path: str) -> bool:
        """Takes away what an earlier process of this broker left. Its session would keep it for a while."""
        broker, controller = self.store.read_many([path, layout.CONTROLLER])
        if broker is None or orjson.loads(broker.data).get("directory_id") != self.directory_id:
            return broker is None
        ops = [Delete(path, broker.stat.version)]
        if _belongs_to(controller, broker.stat.owner):
            ops.append(Delete(layout.CONTROLLER))
        with suppress(NoNode):
            self.store.multi(ops)
        return True

    def _wait(self, path: str, deadline: float) -> None:
        if time.monotonic() < deadline:
            time.sleep(LOOK_AGAIN_S)
            return
        (found,) = self.store.read_many([path])
        at = ""
        if found is not None:
            endpoints = layout.decode_broker(self.broker_id, found.data, 0).endpoints
            at = " at " + ", ".join(f"{each.host}:{each.port}" for each in endpoints)
        raise ConfigError(
            f"a broker with number {self.broker_id} is registered already{at}; every broker of a cluster needs a "
            "number of its own: change broker.id (and node.id) of one of them"
        )


def _belongs_to(node: Reading | None, owner: int) -> bool:
    return node is not None and node.stat.owner == owner


def read_known(files: FileSystem, directory: str) -> KnownSince | None:
    path = f"{directory}/{STATE_FILE}"
    if not files.exists(path):
        return None
    try:
        node = orjson.loads(files.read_bytes(path))
        return KnownSince(str(node["boot_id"]), int(node["intact_since"]))
    except (ValueError, KeyError, TypeError):
        return None  # Half a file is as good as none: the logs then count as damaged.


def write_known(files: FileSystem, directory: str, known: KnownSince) -> None:
    data = orjson.dumps({"version": 1, **known._asdict()})
    files.write_atomically(f"{directory}/{STATE_FILE}", data, durable=True)


def intact_since(known: KnownSince | None, boot_id: str, *, was_clean: bool) -> int | None:
    """Since which epoch the logs lost nothing: what was written reaches the disk on a clean stop, and stays in the
    page cache when only the process died."""
    if known is None or not (was_clean or (boot_id and known.boot_id == boot_id)):
        return None
    return known.intact_since
