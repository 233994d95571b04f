"""Takes a broker's registration away when it is plain that its process is gone.

A session lasts for seconds, so that a broker that only hesitates is not given up. But where nobody listens at the
address a broker registered, there is nothing to wait for. Should this be wrong, no harm is done: leaders are fenced
by their epoch, and a broker that finds itself unregistered registers again.
"""

from contextlib import suppress

from moldau.coordination import tree_layout as layout
from moldau.coordination.store import BadVersion, Delete, NoNode, Op, Store


def remove_dead_broker(store: Store, broker_id: int, epoch: int) -> bool:
    """Blocks. False when it is registered anew already, or not at all."""
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
