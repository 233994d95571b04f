"""A cluster's broker without a broker ID gets a generated one, which its directories keep."""

from collections.abc import Callable

import pytest

from moldau.coordination.memory import MemoryTree
from moldau.core.errors import ConfigError
from moldau.core.settings.static_layer import static_layer
from moldau.node.broker_id import with_broker_id
from moldau.node.opening import open_data
from moldau.testing.simulation.crash_disk import CrashDisk
from moldau.testing.simulation.sim_clock import SimClock

Number = Callable[..., int]


@pytest.fixture
def disk() -> CrashDisk:
    return CrashDisk()


@pytest.fixture
def number(disk: CrashDisk) -> Number:
    tree = MemoryTree()

    def start(*overrides: str, directories: str = "/a") -> int:
        """The number of a broker that starts with these settings."""
        store = tree.connect()
        layers = static_layer(overrides=[f"log.dirs={directories}", *overrides])
        layers = with_broker_id(layers, store, disk)
        settings = layers.settings()
        assert settings.broker_id == settings.node_id
        open_data(layers, SimClock(), disk=disk, cluster_store=store).close(clean=True)
        return settings.node_id

    return start


def test_numbers_are_counted_above_those_that_people_give(number: Number) -> None:
    assert number(directories="/a") == 1001
    assert number("broker.id=-1", directories="/b") == 1002
    assert number("reserved.broker.max.id=2000", directories="/c") == 2003


def test_a_number_stays(number: Number) -> None:
    assert number(directories="/a") == 1001
    assert number(directories="/b") == 1002
    assert number(directories="/a") == 1001
    assert number("broker.id.generation.enable=false", directories="/b") == 1002
    assert number("broker.id=7", directories="/c") == 7
    assert number(directories="/c") == 7


def test_a_number_that_was_given_is_kept(number: Number) -> None:
    assert number("broker.id=0") == 0
    assert number("node.id=0") == 0
    assert number() == 0


def test_a_number_of_kafkas_zookeeper_days_is_found(number: Number, disk: CrashDisk) -> None:
    disk.make_directory("/a")
    disk.write_atomically("/a/meta.properties", b"version=0\nbroker.id=1005\ncluster.id=abc\n")
    assert number() == 1005


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        (["broker.id.generation.enable=false"], "set broker.id"),
        (["broker.id=1001"], "reserved.broker.max.id=1000"),
        (["node.id=11", "reserved.broker.max.id=10"], "reserved.broker.max.id=10"),
    ],
)
def test_what_cannot_be_is_refused(number: Number, overrides: list[str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        number(*overrides)


def test_high_numbers_may_be_given_where_none_are_generated(number: Number) -> None:
    assert number("broker.id=5000", "broker.id.generation.enable=false") == 5000


def test_directories_of_different_brokers_are_refused(number: Number) -> None:
    assert number("broker.id=1", directories="/a") == 1
    assert number("broker.id=2", directories="/b") == 2
    with pytest.raises(ConfigError, match=r"/a/meta.properties says 1, /b/meta.properties says 2"):
        number(directories="/a,/b")
