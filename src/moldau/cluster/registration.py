"""A broker's registration: its ephemeral node, created at the start and again with every new session.

Blocks: runs on a worker thread. A second broker with the same ID is rejected. A registration left behind by an
earlier process of this same broker is removed at once: the lock on the log directory proves that process dead.
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
RETRY_S: Final = 0.1


class KnownSince(NamedTuple):
    """What a broker remembers across restarts: the machine boot it last ran in, and the first epoch since which its
    logs lost nothing."""

    boot_id: str
    intact_since: int


@dataclass(frozen=True, slots=True)
class Registration:
    """Everything needed to register a broker."""

    store: Store
    broker_id: int
    directory_id: str
    """Of the first log directory: distinguishes an earlier process of this broker from another broker."""
    endpoints: tuple[Endpoint, ...]
    security: dict[str, str]
    rack: str | None
    wait_ms: int
    """How long to wait for another registration of this ID to disappear: one session timeout."""
    now_ms: Callable[[], int]

    def register(self, intact_since: int | None) -> int:
        """Registers and returns the broker epoch. An `intact_since` of None means that the logs may have lost records.
        ConfigError if the ID belongs to another broker."""
        deadline = time.monotonic() + self.wait_ms / 1000
        path = layout.broker_path(self.broker_id)
        while True:
            try:
                self.store.create(path, self._node(intact_since), ephemeral=True)
            except NodeExists:
                if not self._is_ours(path) and not self._remove_leftover(path):
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

    def _remove_leftover(self, path: str) -> bool:
        """Removes the registration of an earlier process of this broker, which its session would keep for a while."""
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
            time.sleep(RETRY_S)
            return
        (found,) = self.store.read_many([path])
        at = ""
        if found is not None:
            endpoints = layout.decode_broker(self.broker_id, found.data, 0).endpoints
            at = " at " + ", ".join(f"{each.host}:{each.port}" for each in endpoints)
        raise ConfigError(
            f"a broker with ID {self.broker_id} is already registered{at}; every broker of a cluster needs its own "
            "ID: change broker.id (and node.id) of one of them"
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
        return None  # A damaged file counts as none: the logs then count as damaged.


def write_known(files: FileSystem, directory: str, known: KnownSince) -> None:
    data = orjson.dumps({"version": 1, **known._asdict()})
    files.write_atomically(f"{directory}/{STATE_FILE}", data, durable=True)


def intact_since(known: KnownSince | None, boot_id: str, *, was_clean: bool) -> int | None:
    """The first epoch since which the logs lost nothing; None if they may have. A clean stop writes everything to disk,
    and the page cache survives the death of the process alone."""
    if known is None or not (was_clean or (boot_id and known.boot_id == boot_id)):
        return None
    return known.intact_since
