"""Removes the registration of a broker whose process is evidently gone.

A session lasts for seconds, so that a slow broker is not given up at once. But if a broker's address refuses
connections, its process is gone and there is nothing to wait for. A mistake does no harm: leaders are fenced by their
epoch, and a broker that finds itself unregistered registers again.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage
from moldau.coordination.store import BadVersion, Delete, NoNode, Op, Store, StoreError
from moldau.core.errors import StorageFault
from moldau.core.ids import BrokerId
from moldau.core.ports import Scheduler

_log = logging.getLogger("moldau.cluster")


class DeadBrokers:
    def __init__(self, store: Store, store_thread: Scheduler, image: Callable[[], ClusterImage]) -> None:
        self._store = store
        self._store_thread = store_thread
        self._image = image
        self._is_closed = False

    def refused_connection(self, broker_id: BrokerId) -> None:
        """Called when a broker's registered address refuses connections."""
        registered = self._image().brokers.get(broker_id)
        if registered is not None and not self._is_closed:
            self._store_thread.spawn(self._remove(broker_id, registered.epoch))

    def close(self) -> None:
        self._is_closed = True

    async def _remove(self, broker_id: BrokerId, epoch: int) -> None:
        try:
            job = partial(remove_dead_broker, self._store, broker_id, epoch)
            if await self._store_thread.run_in_worker(job):
                _log.warning(
                    "broker %d is dead: its address refuses connections; its registration was removed",
                    broker_id,
                )
        except (StorageFault, StoreError) as problem:
            _log.info("the registration of dead broker %d could not be removed: %s", broker_id, problem)


def remove_dead_broker(store: Store, broker_id: int, epoch: int) -> bool:
    """Blocks. False when the broker is no longer registered in this epoch."""
    path = layout.broker_path(broker_id)
    broker, controller = store.read_many([path, layout.CONTROLLER])
    if broker is None or broker.stat.created != epoch:
        return False
    ops: list[Op] = [Delete(path, broker.stat.version)]
    if controller is not None and controller.stat.owner == broker.stat.owner:
        ops.append(Delete(layout.CONTROLLER, controller.stat.version))
    with suppress(NoNode, BadVersion):
        store.multi(ops)
        return True
    return False
