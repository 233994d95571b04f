"""Consume, transform, produce: whoever is killed and whenever, every input comes out exactly once.

MOLDAU_KILLS=100 makes a longer run of it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.conftest import JAVA
from compat.groups.conftest import JAVA_CONSUMER
from compat.groups.copying import PARTITIONS, Copying
from compat.groups.member import CLASSIC, CONSUMER
from compat.server_process import ServerProcess
from kafka_jars import KafkaJarsUnavailable

KILLS = int(os.environ.get("MOLDAU_KILLS", "10"))


@pytest.fixture
def lone_settings() -> dict[str, str]:
    return {"group.consumer.session.timeout.ms": "2000"}


@pytest.fixture(params=["confluent", JAVA, JAVA_CONSUMER])
def copying(request: pytest.FixtureRequest, lone_broker: ServerProcess, tmp_path: Path) -> Iterator[Copying]:
    library, _, new = request.param.partition(", ")
    protocol = CONSUMER if new else CLASSIC
    try:
        copying = Copying(library, lone_broker, tmp_path, f"{request.param} {KILLS}", protocol)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    yield copying
    copying.close()


def test_every_input_comes_out_exactly_once(copying: Copying) -> None:
    for _ in range(KILLS if copying.protocol == CLASSIC else KILLS // 3):
        copying.feed()
        copying.disturb()
    copying.finish()
    for partition, copied in copying.read("read_committed").items():
        wanted = [str(number).encode() for number in range(partition, copying.fed, PARTITIONS)]
        assert copied == wanted, differences(copied, wanted) + copying.told()
    # The run was worth something: there was data that nobody was to see.
    everything = [value for values in copying.read("read_uncommitted").values() for value in values]
    assert b"aborted" in everything
    assert len(everything) > copying.fed


def differences(copied: list[bytes], wanted: list[bytes]) -> str:
    twice = sorted({int(value) for value in copied if value != b"aborted" and copied.count(value) > 1})
    missing = sorted(int(value) for value in set(wanted) - set(copied))
    return f"twice: {twice[:20]}; missing: {missing[:20]}; aborted: {copied.count(b'aborted')}\n"
