"""Controlled shutdown: other brokers take over the partitions this broker leads before it stops."""

import asyncio
import logging
from typing import Final

from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage
from moldau.coordination.store import NodeExists, Store, StoreError
from moldau.core.errors import StorageFault
from moldau.core.ports import Scheduler

_log = logging.getLogger("moldau.cluster")

WAIT_S_MAX: Final = 15.0
"""How long a stopping broker waits for others to take over its leaderships."""


class ControlledShutdown:
    def __init__(self, broker_id: int, store: Store, store_thread: Scheduler) -> None:
        self._broker_id = broker_id
        self._store = store
        self._store_thread = store_thread
        self._handed_over: asyncio.Event | None = None

    def image_changed(self, image: ClusterImage) -> None:
        if self._handed_over is not None and not self._leads_what_others_could(image):
            self._handed_over.set()

    async def run(self, image: ClusterImage) -> None:
        """Returns when nothing is left to hand over, or after WAIT_S_MAX."""
        if not self._leads_what_others_could(image):
            return
        self._handed_over = asyncio.Event()
        try:
            await self._store_thread.run_in_worker(self._announce)
            async with asyncio.timeout(WAIT_S_MAX):
                await self._handed_over.wait()
        except TimeoutError:
            _log.warning(
                "other brokers did not take over all leaderships within %.0f s; stopping without waiting longer",
                WAIT_S_MAX,
            )
        except (StorageFault, StoreError) as problem:
            _log.warning("controlled shutdown could not be announced to the controller: %s", problem)

    def _announce(self) -> None:
        try:
            self._store.create(layout.shutdown_path(self._broker_id), ephemeral=True)
        except NodeExists:
            return

    def _leads_what_others_could(self, image: ClusterImage) -> bool:
        me = self._broker_id
        return any(
            state.leader == me and any(each != me and each in image.brokers for each in state.isr)
            for topic in image.topics.values()
            for _, state in topic.states()
        )
