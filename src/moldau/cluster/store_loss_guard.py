"""Stops this broker's coordinators when it has lost the coordination store for too long.

Leading a partition needs no lease: without the store nobody can shrink an ISR, so nothing is committed without the
leader. A coordinator answers from memory, though. Once this broker's session may have expired, another broker may
have taken over. So coordinators stop before that, and load again if they still belong here.
"""

from functools import partial
from typing import Final

from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.local_coordinators import LocalCoordinators
from moldau.coordination import tree_layout as layout
from moldau.coordination.store import Reading, Store
from moldau.core.errors import StorageFault
from moldau.core.ports import Cancellable, Scheduler

SESSION_SHARE: Final = 0.6
"""Of the session timeout: the store may have begun to count earlier than this broker noticed."""


class StoreLossGuard:
    def __init__(
        self,
        broker_id: int,
        coordinators: LocalCoordinators,
        store: Store,
        store_thread: Scheduler,
        session_timeout_ms: int,
    ) -> None:
        self._broker_id = broker_id
        self._coordinators = coordinators
        self._store = store
        self._store_thread = store_thread
        self._wait_ms = round(session_timeout_ms * SESSION_SHARE)
        self._timer: Cancellable | None = None
        self._are_stopped = False

    def disconnected(self) -> None:
        if self._timer is None and not self._are_stopped:
            self._timer = self._store_thread.call_later(self._wait_ms, self._stop_coordinators)

    def connected(self) -> None:
        self.stop()
        if self._are_stopped:
            self._store_thread.spawn(self._restart_coordinators())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_coordinators(self) -> None:
        self._timer = None
        self._are_stopped = True
        self._coordinators.resign_all()

    async def _restart_coordinators(self) -> None:
        """Restarts those whose partitions this broker leads according to the store. Changes reach the others through
        the image."""
        led = self._coordinators.partitions()
        paths = [layout.state_path(each.topic, each.index) for each in led]
        try:
            nodes = await self._store_thread.run_in_worker(partial(self._store.read_many, paths))
        except StorageFault:
            return  # `connected` is called again after the next reconnection.
        self._are_stopped = False
        for partition, node in zip(led, nodes, strict=True):
            if self._is_led_here(partition, node):
                self._coordinators.elect(partition)

    def _is_led_here(self, partition: Partition, node: Reading | None) -> bool:
        if node is None:  # The initial state: no other broker has taken over.
            return partition.leader_epoch == 0
        state = layout.decode_state(node.data, node.stat.version)
        return (state.leader, state.leader_epoch) == (self._broker_id, partition.leader_epoch)
