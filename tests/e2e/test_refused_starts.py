"""Starts that must not happen: the broker says what is wrong and what to do, and leaves everything as it was."""

import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.conftest import StartBroker
from e2e.conversation import create_topic, metadata, produce_values, values_of
from e2e.small_disks import MakeDisk, make_read_only
from e2e.wire import WireClient

pytestmark = pytest.mark.slow

META_PROPERTIES = "meta.properties"
STORE = "moldau-metadata.sqlite"
REFUSAL_TIMEOUT_S = 20

Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """Starts a broker that must refuse; what it says."""

    def start(**settings: str) -> str:
        dotted = {key.replace("_", "."): value for key, value in settings.items()}
        broker = MoldauBroker(tmp_path / "refused", dotted)
        done = subprocess.run(
            broker.command(), capture_output=True, text=True, timeout=REFUSAL_TIMEOUT_S, check=False
        )
        assert done.returncode in (1, 2), done
        assert "ready" not in done.stdout
        assert "Traceback" not in done.stderr, done.stderr
        last_line = done.stderr.splitlines()[-1]
        assert last_line.startswith("moldau broker: "), done.stderr
        return last_line

    return start


@pytest.fixture
def used_directory(start_broker: StartBroker) -> Path:
    """A data directory with a topic in it, cleanly stopped."""
    broker = start_broker("used")
    with WireClient(broker.port) as client:
        create_topic(client, "kept")
        produce_values(client, "kept", [b"value"])
    broker.stop()
    return broker.log_dir


def still_usable(start_broker: StartBroker, directory: Path) -> None:
    broker = start_broker("again", log_dirs=str(directory))
    with WireClient(broker.port) as client:
        assert values_of(client, "kept") == [b"value"]


def test_read_only_directory(make_disk: MakeDisk, refused: Refused) -> None:
    disk = make_disk("disk", 1 << 20)
    make_read_only(disk)
    message = refused(log_dirs=str(disk))
    assert str(disk) in message and "read-only" in message.lower()


def test_one_of_two_directories_is_read_only(make_disk: MakeDisk, start_broker: StartBroker) -> None:
    disk = make_disk("disk", 1 << 20)
    make_read_only(disk)
    broker = start_broker(log_dirs=f"{disk.parent / 'good'},{disk}")
    told = [line for line in broker.log_text().splitlines() if not line.startswith("\tlog.dirs = ")]
    lines = [line for line in told if str(disk) in line]
    assert len(lines) == 1 and "read-only" in lines[0].lower()
    with WireClient(broker.port) as client:
        create_topic(client, "topic", partitions=3)
        produce_values(client, "topic", [b"value"], 2)


def test_directory_that_is_a_file(refused: Refused, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a directory")
    assert str(file) in refused(log_dirs=str(file))
    assert file.read_text() == "not a directory"


def test_directory_of_a_running_broker(start_broker: StartBroker, refused: Refused) -> None:
    first = start_broker("first")
    message = refused(log_dirs=str(first.log_dir))
    assert str(first.log_dir) in message and "another broker" in message
    with WireClient(first.port) as client:
        create_topic(client, "still-here")
        produce_values(client, "still-here", [b"value"])
    first.stop()
    assert first.start().log_text(), "the refused one did not harm it"


def test_directories_of_two_clusters(start_broker: StartBroker, refused: Refused) -> None:
    first, second = start_broker("first"), start_broker("second")
    first.stop()
    second.stop()
    message = refused(log_dirs=f"{first.log_dir},{second.log_dir}")
    assert str(second.log_dir) in message and "cluster" in message
    first.start()
    second.start()


def test_directory_of_another_node(used_directory: Path, refused: Refused, start_broker: StartBroker) -> None:
    message = refused(log_dirs=str(used_directory), node_id="77")
    assert str(used_directory) in message and "node.id" in message and "77" in message
    still_usable(start_broker, used_directory)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00\xff\xfe noise \x01", id="noise"),
        pytest.param(b"version=1\nnode.id=0\n", id="no cluster"),
        pytest.param(b"version=99\nnode.id=0\ncluster.id=abc\n", id="from the future"),
        pytest.param(b"version=1\nnode.id=zero\ncluster.id=abc\n", id="node is no number"),
    ],
)
def test_corrupt_meta_properties(
    used_directory: Path, refused: Refused, start_broker: StartBroker, content: bytes
) -> None:
    """Who the directory belongs to cannot be told: guessing could mix two clusters' data."""
    file = used_directory / META_PROPERTIES
    intact = file.read_bytes()
    file.write_bytes(content)
    assert str(file) in refused(log_dirs=str(used_directory))
    assert file.read_bytes() == content
    file.write_bytes(intact)
    still_usable(start_broker, used_directory)


def test_corrupt_store(used_directory: Path, refused: Refused, start_broker: StartBroker) -> None:
    file = used_directory / STORE
    intact = file.read_bytes()
    file.write_bytes(b"this is not a database " * 500)
    assert str(file) in refused(log_dirs=str(used_directory))
    file.write_bytes(intact)
    still_usable(start_broker, used_directory)


def test_port_in_use(used_directory: Path, refused: Refused, start_broker: StartBroker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refused(listeners=f"PLAINTEXT://127.0.0.1:{port}", log_dirs=str(used_directory))
    assert str(port) in message and "listeners" in message
    still_usable(start_broker, used_directory)


def test_address_of_another_machine(refused: Refused) -> None:
    message = refused(listeners="PLAINTEXT://192.0.2.1:0")
    assert "192.0.2.1" in message and "listeners" in message


def test_unknown_setting(refused: Refused) -> None:
    message = refused(log_retension_ms="1000")
    assert "log.retension.ms" in message and "log.retention.ms" in message


def test_foreign_files_are_left_alone(used_directory: Path, start_broker: StartBroker) -> None:
    (used_directory / "notes.txt").write_text("mine")
    (used_directory / "lost+found").mkdir()
    broker = start_broker("again", log_dirs=str(used_directory))
    with WireClient(broker.port) as client:
        assert {topic.name for topic in metadata(client, None).topics} == {"kept"}
    assert (used_directory / "notes.txt").read_text() == "mine"
    assert (used_directory / "lost+found").is_dir()
