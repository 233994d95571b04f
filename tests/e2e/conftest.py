"""Fixtures of the end-to-end tests: brokers in processes of their own, and an eye on what they log."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.bystander import Bystander
from e2e.hostility import WORST_WAIT_S, Attacked
from e2e.process_facts import MB, forget_peak, peak_resident_bytes
from e2e.small_disks import MakeDisk, mount_new, unmount

StartBroker = Callable[..., MoldauBroker]

_serial = itertools.count()


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[StartBroker]:
    """Starts brokers for one test. Each must end cleanly and must not have met a bug of its own."""
    brokers: list[MoldauBroker] = []

    def start(name: str = "broker", **settings: str) -> MoldauBroker:
        """Settings are written with underscores for dots."""
        dotted = {key.replace("_", "."): value for key, value in settings.items()}
        broker = MoldauBroker(tmp_path / name, dotted).start()
        brokers.append(broker)
        return broker

    yield start
    for broker in brokers:
        assert broker.stop() == 0
        text = broker.log_path.read_text()
        assert "Traceback" not in text, text[-4000:]


@pytest.fixture(scope="module")
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """A broker with the module's BROKER_SETTINGS."""
    attacked = Attacked(tmp_path_factory.mktemp("attacked"), request.module.BROKER_SETTINGS)
    with attacked.broker:
        yield attacked


@pytest.fixture
def undisturbed(attacked: Attacked, request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever the test does, a well-behaved client is served in time, and memory stays below the module's bound."""
    attacked.new_lines()
    with Bystander(attacked.port, f"bystander-{next(_serial)}") as bystander:
        forget_peak(attacked.pid)
        before = peak_resident_bytes(attacked.pid)
        yield
        grown = peak_resident_bytes(attacked.pid) - before
    if bystander.failure is not None:
        raise bystander.failure
    assert bystander.worst_wait_s < WORST_WAIT_S
    assert grown < request.module.MEMORY_BYTES_MAX, f"memory grew by {grown / MB:.0f} MB"


@pytest.fixture
def make_disk(tmp_path: Path) -> Iterator[MakeDisk]:
    """Disks for one test; skips it where nothing may be mounted."""
    disks: list[Path] = []

    def make(name: str, bytes_max: int) -> Path:
        disk = tmp_path / name
        disk.mkdir()
        mount_new(disk, bytes_max)
        disks.append(disk)
        return disk

    yield make
    for disk in disks:
        unmount(disk)
