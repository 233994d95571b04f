"""The test kit in somebody else's project: a wheel, a new environment, ten lines of test."""

import subprocess
import sys
import textwrap
import time
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from documents import guide_examples
from e2e.conversation import produce_values
from e2e.wire import WireClient
from moldau.testing import LocalCluster

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
AIOKAFKA = "aiokafka==0.14.0"
ROUND_TRIP_MS_MAX = 300
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
PATIENCE_S = 30
PASSING_ERRORS = {
    "Metadata": "LEADER_NOT_AVAILABLE",
    "FindCoordinator": "COORDINATOR_NOT_AVAILABLE",
    "JoinGroup": "COORDINATOR_LOAD_IN_PROGRESS",
    "SyncGroup": "REBALANCE_IN_PROGRESS",
    "OffsetFetch": "COORDINATOR_LOAD_IN_PROGRESS",
    "ListOffsets": "LEADER_NOT_AVAILABLE",
    "Fetch": "NOT_LEADER_OR_FOLLOWER",
    "OffsetCommit": "COORDINATOR_LOAD_IN_PROGRESS",
}
"""What a reader meets, and gets over by trying again."""

ROUND_TRIP = """
import time
import pytest
from confluent_kafka import Consumer, Producer
from moldau.testing import LocalCluster

@pytest.mark.parametrize("attempt", range(3))
def test_round_trip(attempt, record_property):
    begun = time.perf_counter()
    with LocalCluster() as cluster:
        to = {"bootstrap.servers": cluster.bootstrap_servers}
        producer = Producer(to)
        producer.produce("greetings", "hello")
        producer.flush()
        consumer = Consumer({**to, "group.id": "readers", "auto.offset.reset": "earliest"})
        consumer.subscribe(["greetings"])
        assert consumer.poll(10).value() == b"hello"
        record_property("round_trip_ms", (time.perf_counter() - begun) * 1000)
        consumer.close()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that has Moldau's wheel and a few test tools in it."""
    place = tmp_path_factory.mktemp("outside")
    reached = subprocess.run(
        [sys.executable, *PIP, "download", "--no-deps", "--dest", place / "probe", "hatchling"],
        capture_output=True,
        text=True,
    )
    if reached.returncode:
        pytest.skip(f"pip cannot download: {reached.stderr.strip()[-200:]}")
    _run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", place, REPOSITORY)
    (wheel,) = place.glob("moldau-*.whl")
    _run(sys.executable, "-m", "venv", place / "venv")
    python = place / "venv" / "bin" / "python"
    tools = [f"{name}=={version(name)}" for name in ("pytest", "pytest-asyncio")]
    _run(python, *PIP, "install", wheel, *tools, AIOKAFKA)
    return python


def test_first_round_trip(python: Path, tmp_path: Path) -> None:
    """The best of three: other tests run on this machine at the same time."""
    (tmp_path / "test_round_trip.py").write_text(ROUND_TRIP)
    _run(python, "-m", "pytest", "-q", "--junit-xml=report.xml", cwd=tmp_path)
    report = ElementTree.parse(tmp_path / "report.xml")
    times_ms = [
        float(found.attrib["value"]) for found in report.iterfind(".//property[@name='round_trip_ms']")
    ]
    assert len(times_ms) == 3
    assert min(times_ms) < ROUND_TRIP_MS_MAX, times_ms


def test_fixtures_and_examples_need_no_configuration(python: Path, tmp_path: Path) -> None:
    """Those of the guide that need a client which this repository's own environment does not have."""
    examples = {name: code for name, code in guide_examples().items() if "aiokafka" in code}
    assert examples
    for name, code in examples.items():
        (tmp_path / f"test_{name}.py").write_text(code)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    _run(python, "-m", "pytest", "-q", cwd=tmp_path)


def _read_with_confluent(bootstrap_servers: str) -> bytes | None:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "readers",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    consumer.subscribe(["greetings"])
    deadline = time.monotonic() + PATIENCE_S
    while (message := consumer.poll(1)) is None or message.error() is not None:
        assert time.monotonic() < deadline
    consumer.commit(message, asynchronous=False)
    consumer.close()
    return message.value()


def _read_with_kafka_python(bootstrap_servers: str) -> bytes | None:
    consumer = KafkaConsumer(
        "greetings",
        bootstrap_servers=bootstrap_servers,
        group_id="readers",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    value: bytes | None = next(consumer).value
    consumer.commit()
    consumer.close()
    return value


@pytest.mark.parametrize("read_one", [_read_with_confluent, _read_with_kafka_python])
def test_clients_understand_every_failure(read_one: Callable[[str], bytes | None]) -> None:
    with LocalCluster() as cluster:
        cluster.create_topic("greetings")
        with WireClient(int(cluster.bootstrap_servers.rpartition(":")[2])) as client:
            produce_values(client, "greetings", [b"hello"])
        armed = [cluster.faults.fail(api, error) for api, error in PASSING_ERRORS.items()]
        assert read_one(cluster.bootstrap_servers) == b"hello"
        assert {fault.api: fault.hits for fault in armed} == dict.fromkeys(PASSING_ERRORS, 1)


def _run(*command: object, cwd: Path | None = None) -> None:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, textwrap.shorten(f"{command}", 200) + "\n" + done.stdout + done.stderr
