"""What a broker may still answer for when it has lost sight of the coordination store.

Leading a partition needs no lease: without the store nobody can shrink an ISR, so nothing is committed behind
anybody's back. A coordinator answers from memory, though. Once our session may have ended another one may have taken
over, so ours stop before that, and begin anew when it turns out that they are still ours.
"""

from functools import partial
from typing import Final

from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.replica_roles import ReplicaRoles
from moldau.coordination import tree_layout as layout
from moldau.coordination.store import Reading, Store
from moldau.core.errors import StorageFault
from moldau.core.ports import Cancellable, Scheduler

SESSION_SHARE: Final = 0.6
"""Of the session's length: the store may have begun to count before we noticed."""


class StoreLossGuard:
    def __init__(
        self,
        broker_id: int,
        roles: ReplicaRoles,
        store: Store,
        store_thread: Scheduler,
        session_timeout_ms: int,
    ) -> None:
        self._broker_id = broker_id
        self._roles = roles
        self._store = store
        self._store_thread = store_thread
        self._patience_ms = round(session_timeout_ms * SESSION_SHARE)
        self._timer: Cancellable | None = None
        self._is_doubtful = False

    def disconnected(self) -> None:
        if self._timer is None and not self._is_doubtful:
            self._timer = self._store_thread.call_later(self._patience_ms, self._doubt)

    def connected(self) -> None:
        self.stop()
        if self._is_doubtful:
            self._store_thread.spawn(self._look())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _doubt(self) -> None:
        self._timer = None
        self._is_doubtful = True
        self._roles.stop_coordinating()

    async def _look(self) -> None:
        """Whoever leads by the store's word coordinates again; who does not hears of it through the image."""
        led = self._roles.coordinating_partitions()
        paths = [layout.state_path(each.topic, each.index) for each in led]
        try:
            nodes = await self._store_thread.run_in_worker(partial(self._store.read_many, paths))
        except StorageFault:
            return  # We shall hear of the next time it is reached.
        self._is_doubtful = False
        for partition, node in zip(led, nodes, strict=True):
            if self._is_ours(partition, node):
                self._roles.coordinate_again(partition)

    def _is_ours(self, partition: Partition, node: Reading | None) -> bool:
        if node is None:  # As it was born: nobody has taken anything over.
            return partition.leader_epoch == 0
        state = layout.decode_state(node.data, node.stat.version)
        return (state.leader, state.leader_epoch) == (self._broker_id, partition.leader_epoch)
