"""The registration of a dead broker is removed, with its controllership; no other registration is."""

from moldau.cluster.dead_brokers import remove_dead_broker
from moldau.coordination import tree_layout as layout
from moldau.coordination.memory import MemoryStore, MemoryTree
from moldau.coordination.tree_setup import create_folders


def registered(shared: MemoryTree, broker_id: int, *, is_controller: bool = False) -> tuple[MemoryStore, int]:
    """The broker's own session, and the epoch of its registration."""
    store = shared.connect()
    create_folders(store)
    store.create(layout.broker_path(broker_id), b"{}", ephemeral=True)
    if is_controller:
        store.create(layout.CONTROLLER, layout.encode_controller(broker_id, 0), ephemeral=True)
    stat = store.stat(layout.broker_path(broker_id))
    assert stat is not None
    return store, stat.created


def test_the_dead_controller_leaves_both_its_nodes() -> None:
    shared = MemoryTree()
    _, epoch = registered(shared, 1, is_controller=True)
    other, _ = registered(shared, 2)
    assert remove_dead_broker(other, 1, epoch)
    assert not other.exists(layout.broker_path(1))
    assert not other.exists(layout.CONTROLLER)
    assert other.exists(layout.broker_path(2))
    assert not remove_dead_broker(other, 1, epoch), "it is gone already"


def test_another_controller_stays() -> None:
    shared = MemoryTree()
    controller, _ = registered(shared, 1, is_controller=True)
    _, epoch = registered(shared, 2)
    assert remove_dead_broker(controller, 2, epoch)
    assert controller.exists(layout.CONTROLLER)


def test_a_broker_that_came_back_is_left_alone() -> None:
    shared = MemoryTree()
    first, old_epoch = registered(shared, 1)
    first.close()
    _, new_epoch = registered(shared, 1)
    other, _ = registered(shared, 2)
    assert new_epoch > old_epoch
    assert not remove_dead_broker(other, 1, old_epoch)
    assert other.exists(layout.broker_path(1))
