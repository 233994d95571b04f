"""The test kit in somebody else's project: a wheel, a new environment, ten lines of test."""

import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version
from pathlib import Path

import pytest

from guide_examples import guide_examples

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
AIOKAFKA = "aiokafka==0.14.0"
ROUND_TRIP_MS_MAX = 300
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")

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


def _run(*command: object, cwd: Path | None = None) -> None:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, textwrap.shorten(f"{command}", 200) + "\n" + done.stdout + done.stderr
