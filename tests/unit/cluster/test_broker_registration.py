"""How a broker registers in the tree."""

import pytest

from cluster_kit import TreeKit, registration
from moldau.cluster.registration import KnownSince, intact_since, read_known, write_known
from moldau.coordination import tree_layout as layout
from moldau.coordination.tree_layout import Endpoint
from moldau.core.errors import ConfigError
from moldau.testing.simulation.crash_disk import CrashDisk


def test_a_registered_broker_is_in_the_image_with_its_addresses_and_rack() -> None:
    kit = TreeKit()
    kit.start(1, racks={1: "north"})
    broker = kit.image().brokers[1]
    assert broker.endpoint("PLAINTEXT") == Endpoint("PLAINTEXT", "127.0.0.1", 9001)
    assert broker.rack == "north"
    stat = kit.store.stat("/brokers/ids/1")
    assert stat is not None and broker.epoch == stat.created


def test_every_registration_has_a_larger_epoch() -> None:
    kit = TreeKit()
    kit.start(1)
    first = kit.image().brokers[1].epoch
    kit.stop(1)
    assert kit.image().brokers == {}
    kit.start(1)
    assert kit.image().brokers[1].epoch > first


def test_a_second_broker_with_the_same_id_is_rejected() -> None:
    kit = TreeKit()
    kit.start(1)
    other = registration(kit.tree.connect(), 1, directory_id="another")
    with pytest.raises(ConfigError, match=r"ID 1 is already registered at 127.0.0.1:9001.*broker\.id"):
        other.register(None)
    assert kit.image().brokers[1].endpoints[0].port == 9001


def test_a_restarted_broker_takes_the_place_of_its_dead_process_at_once() -> None:
    kit = TreeKit()
    kit.start(1)
    dead = kit.sessions[1]
    dead.create(layout.CONTROLLER, layout.encode_controller(1, 0), ephemeral=True)
    before = kit.image().brokers[1].epoch
    dead.disconnect()
    epoch = registration(kit.tree.connect(), 1).register(0)
    image = kit.image()
    assert image.brokers[1].epoch == epoch > before
    assert image.controller_id == -1, "the dead process is not the controller any more"


def test_a_controller_of_another_process_stays() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.sessions[2].create(layout.CONTROLLER, layout.encode_controller(2, 0), ephemeral=True)
    registration(kit.tree.connect(), 1).register(0)
    assert kit.image().controller_id == 2


def test_registering_twice_in_one_session_is_one_registration() -> None:
    kit = TreeKit()
    session = kit.tree.connect()
    mine = registration(session, 1)
    assert mine.register(0) == mine.register(0)


def test_logs_are_intact_after_a_clean_stop_or_on_the_same_boot() -> None:
    known = KnownSince("boot a", 17)
    assert intact_since(known, "boot a", was_clean=False) == 17
    assert intact_since(known, "boot b", was_clean=True) == 17
    assert intact_since(known, "boot b", was_clean=False) is None
    assert intact_since(KnownSince("", 17), "", was_clean=False) is None
    assert intact_since(None, "boot a", was_clean=True) is None


def test_what_is_known_is_kept_in_the_log_directory() -> None:
    disk = CrashDisk()
    disk.make_directory("/data")
    assert read_known(disk, "/data") is None
    write_known(disk, "/data", KnownSince("boot a", 17))
    assert read_known(disk, "/data") == KnownSince("boot a", 17)
    disk.write_atomically("/data/moldau-registration.json", b"{")
    assert read_known(disk, "/data") is None
