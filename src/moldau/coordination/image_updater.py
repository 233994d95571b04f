"""Keeps a `ClusterImage` up to date with the tree: watches it, reads what changed and notifies listeners.

Watch events arrive on the store's threads and nodes are read on a worker thread. The image changes and listeners are
called on the owner's thread alone. Changes that arrive during a read are applied together after it.
"""

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage, ImageDelta, load_image, load_states
from moldau.coordination.store import Reading, Store
from moldau.core.errors import StorageFault
from moldau.core.ports import Scheduler

RETRY_MS: Final = 500
_log = logging.getLogger("moldau.coordination")

HandOver = Callable[[Callable[[], None]], object]
"""Makes a call on the owner's thread, from any thread."""


class ImageListener(Protocol):
    """Called on the owner's thread."""

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None: ...

    def disconnected(self) -> None:
        """The store cannot be reached: the image gets out of date, and the session may expire."""

    def connected(self, *, new_session: bool) -> None:
        """Connected again. The new image follows shortly."""


class ImageUpdater:
    def __init__(self, store: Store, scheduler: Scheduler, hand_over: HandOver) -> None:
        self._store = store
        self._scheduler = scheduler
        self._hand_over = hand_over
        self._turn = threading.Lock()
        self._dirty: set[str] = set()
        self._is_stale = False
        self._is_called = False
        self._is_reading = False
        self._is_closed = False
        self._listeners: list[ImageListener] = []
        self.image = ClusterImage()
        """The latest one; changes on the owner's thread."""

    def load(self) -> None:
        """Reads the first image. Blocks. Every later change leads to a call of `image_changed`."""
        self._store.watch(_Watch(self))
        self.image = load_image(self._store)

    def subscribe(self, listener: ImageListener) -> None:
        self._listeners.append(listener)

    def close(self) -> None:
        self._is_closed = True

    def note(self, path: str | None) -> None:
        """A node changed; None: any node may have. Called on any thread."""
        with self._turn:
            if path is None:
                self._is_stale = True
            elif is_kept(path):
                self._dirty.add(path)
            else:
                return
            if self._is_called:
                return
            self._is_called = True
        self._hand_over(self._begin)

    def tell_disconnected(self) -> None:
        for listener in self._listeners:
            self._hand_over(listener.disconnected)

    def tell_connected(self, new_session: bool) -> None:
        for listener in self._listeners:
            self._hand_over(partial(listener.connected, new_session=new_session))
        self.note(None)

    def _begin(self) -> None:
        if not self._is_reading and not self._is_closed:
            self._is_reading = True
            self._scheduler.spawn(self._catch_up())

    async def _catch_up(self) -> None:
        try:
            while (taken := self._take()) is not None and not self._is_closed:
                job = partial(self._read, *taken)
                try:
                    self._publish(*await self._scheduler.run_in_worker(job))
                except StorageFault as fault:
                    _log.warning(
                        "the cluster's state could not be read; retrying in %d ms: %s", RETRY_MS, fault
                    )
                    self._scheduler.call_later(RETRY_MS, lambda: self.note(None))
        finally:
            self._is_reading = False

    def _take(self) -> tuple[set[str], bool] | None:
        with self._turn:
            taken, is_stale = self._dirty, self._is_stale
            self._dirty, self._is_stale = set(), False
            if taken or is_stale:
                return taken, is_stale
            self._is_called = False
            return None

    def _read(self, paths: set[str], is_stale: bool) -> tuple[ClusterImage, ImageDelta]:
        # Taken here and not when the job was queued: the first load may have been running then.
        before = self.image
        if is_stale:
            after = load_image(self._store)
            return after, before.difference(after)
        wanted = sorted(paths)
        nodes: dict[str, Reading | None] = dict(zip(wanted, self._store.read_many(wanted), strict=True))
        after, delta = before.apply(nodes)
        # The event of a state may arrive before that of its topic: all states of a new topic are read.
        new = [name for name in delta.topics if name in after.topics and _is_new(before, after, name)]
        return (load_states(self._store, after, new) if new else after), delta

    def _publish(self, image: ClusterImage, delta: ImageDelta) -> None:
        self.image = image
        if delta == ImageDelta():
            return
        for listener in self._listeners:
            listener.image_changed(image, delta)


class _Watch:
    def __init__(self, updater: ImageUpdater) -> None:
        self._updater = updater

    def changed(self, path: str) -> None:
        self._updater.note(path)

    def disconnected(self) -> None:
        self._updater.tell_disconnected()

    def connected(self, *, new_session: bool) -> None:
        self._updater.tell_connected(new_session)


def is_kept(path: str) -> bool:
    """Whether the image uses this node; it does not use folders, for example."""
    if path.startswith(f"{layout.TOPICS}/"):
        return path.count("/") == layout.TOPICS.count("/") + 1 or path.endswith("/state")
    if path.startswith(f"{layout.CONFIGS}/"):
        return path.split("/")[2] not in layout.CONFIGS_OUTSIDE_IMAGE
    kept_below = (f"{layout.BROKER_IDS}/", "/admin/")
    return path in (layout.CONTROLLER, layout.CONTROLLER_EPOCH) or path.startswith(kept_below)


def _is_new(before: ClusterImage, after: ClusterImage, name: str) -> bool:
    known = before.topics.get(name)
    return known is None or known.topic_id != after.topics[name].topic_id
