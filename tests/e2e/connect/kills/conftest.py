"""The flows, each with the other system that it needs."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyarrow import fs

from compat.moldau_broker import MoldauBroker
from connect_kit import eventually
from e2e.connect.cdc.cdc_kit import Shop
from e2e.connect.cdc.conftest import server, shop  # noqa: F401 fixtures
from e2e.connect.kills.archive import Archive
from e2e.connect.kills.changes import Changes
from e2e.connect.kills.flow import Flow
from e2e.connect.kills.mirrored import Mirrored

BROKER_SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
BUCKET = "archive"
KEYS = {"aws.access.key.id": "key", "aws.secret.access.key": "secret"}


@pytest.fixture
def rounds() -> int:
    return int(os.environ.get("MOLDAU_KILL_ROUNDS", "2"))


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[str]:
    with MoldauBroker(tmp_path / "broker", BROKER_SETTINGS) as broker:
        yield broker.bootstrap


@pytest.fixture
def changes(shop: Shop, servers: str) -> Iterator[Flow]:  # noqa: F811
    with closing(Changes(shop, servers)) as flow:
        yield flow


@pytest.fixture
def folder(servers: str, tmp_path: Path) -> Flow:
    path = str(tmp_path / "archive")
    return Archive(
        "folder", servers, {"connector.class": "FileSink", "path": path}, fs.LocalFileSystem(), path
    )


@pytest.fixture
def bucket(servers: str) -> Iterator[Flow]:
    moto_server = pytest.importorskip("moto.server", reason="moto's server is not installed")
    import requests

    s3 = moto_server.ThreadedMotoServer("127.0.0.1", 0)
    s3.start()
    host, port = s3.get_host_and_port()
    address = f"http://{host}:{port}"
    try:
        eventually(lambda: requests.put(f"{address}/{BUCKET}", timeout=60).ok, "the server makes a bucket")
        place = {
            **KEYS,
            "connector.class": "S3Sink",
            "store.url": address,
            "s3.region": "us-east-1",
            "s3.bucket.name": BUCKET,
        }
        files = fs.S3FileSystem(
            access_key="key",
            secret_key="secret",
            region="us-east-1",
            scheme="http",
            endpoint_override=f"{host}:{port}",
            background_writes=False,
        )
        yield Archive("bucket", servers, place, files, BUCKET)
    finally:
        s3.stop()


@pytest.fixture
def lake(servers: str, tmp_path: Path) -> Flow:
    pytest.importorskip("pyiceberg.catalog.sql", reason="pyiceberg with its SQL catalog is not installed")
    from e2e.connect.kills.lake_table import LakeTable

    return LakeTable(servers, tmp_path)


@pytest.fixture
def mirror(servers: str, tmp_path: Path) -> Iterator[Flow]:
    with (
        MoldauBroker(tmp_path / "source", BROKER_SETTINGS) as source,
        closing(Mirrored(source.bootstrap, servers)) as flow,
    ):
        yield flow
