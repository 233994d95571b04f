"""ElasticsearchSink: documents, versions and what is refused.

A server is not among Debian's packages. `MOLDAU_ELASTICSEARCH` names one: the address of a server for tests, or the
folder of an unpacked distribution, such as org.elasticsearch.distribution.zip:elasticsearch:6.8.23 of Maven Central
without its modules x-pack-*, which starts on Java 17 with 256 MB. Without it these tests are skipped.
"""

import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import requests

from connect_kit import Reports, eventually, sink_record
from database_servers import as_account, free_port
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.elasticsearch.bulk import Operation, failures_of
from moldau.pipeline.connect.connectors.elasticsearch.settings import index_of
from moldau.pipeline.connect.connectors.elasticsearch.sink import (
    ElasticsearchSinkConnector,
    ElasticsearchSinkTask,
)
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.plugins import find_connector

SERVER = os.environ.get("MOLDAU_ELASTICSEARCH")
ORDER = schemas.struct({"id": schemas.INT64, "amount": schemas.decimal(2)})
needs_server = pytest.mark.skipif(SERVER is None, reason="MOLDAU_ELASTICSEARCH names no server")


@contextmanager
def running(distribution: Path, folder: Path) -> Iterator[str]:
    """It refuses to run as root, and keeps its settings beside its data."""
    port, transport = free_port(), free_port()
    account = "nobody" if os.geteuid() == 0 else None
    shutil.copytree(distribution / "config", folder / "config")
    folder.chmod(0o755)
    for one in [folder, *folder.rglob("*")]:
        if account is not None:
            shutil.chown(one, account)
    names = {
        "http.port": port,
        "transport.tcp.port": transport,
        "network.host": "127.0.0.1",
        "discovery.type": "single-node",
        "path.data": folder / "data",
        "path.logs": folder / "logs",
    }
    options = [part for name, value in names.items() for part in ("-E", f"{name}={value}")]
    java = Path(shutil.which("java") or pytest.skip("Java is not installed")).resolve()
    home = {
        "ES_PATH_CONF": str(folder / "config"),
        "JAVA_HOME": str(java.parents[1]),
        "ES_JAVA_OPTS": "-Xms256m -Xmx256m",
    }
    account_options = as_account(account)
    environment = {
        **account_options.pop("env", dict(os.environ)),
        **home,
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["bash", str(distribution / "bin" / "elasticsearch"), *options],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **account_options,
        )
    try:
        address = f"http://127.0.0.1:{port}"

        def answers() -> bool:
            assert process.poll() is None, (folder / "log").read_text()[-2_000:]
            with suppress(requests.RequestException):
                return requests.get(address, timeout=5).ok
            return False

        for _ in range(3):
            # It has several times the usual deadline to start.
            with suppress(AssertionError):
                eventually(answers, "the server answers")
                break
        assert answers()
        yield address
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    assert SERVER is not None
    if SERVER.startswith("http"):
        yield SERVER.rstrip("/")
    else:
        # Folders of pytest are closed to other accounts.
        with (
            TemporaryDirectory(prefix="moldau-elasticsearch-") as folder,
            running(Path(SERVER), Path(folder)) as found,
        ):
            yield found


class Index:
    """An index of the test's own, and tasks that write to it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.name = f"test-{uuid.uuid4().hex[:12]}"
        self.reports = Reports()
        self._tasks: list[ElasticsearchSinkTask] = []

    def task(self, **settings: str) -> ElasticsearchSinkTask:
        made = ElasticsearchSinkTask()
        given = {name.replace("_", "."): text for name, text in settings.items()}
        made.start({"connection.url": self.address, "index.name": self.name, **given}, self.reports)
        self._tasks.append(made)
        return made

    def documents(self) -> dict[str, Any]:
        """By their ids."""
        requests.post(f"{self.address}/{self.name}/_refresh", timeout=60).raise_for_status()
        found = requests.get(f"{self.address}/{self.name}/_search?size=1000", timeout=60).json()
        return {one["_id"]: one["_source"] for one in found["hits"]["hits"]}

    def close(self) -> None:
        for one in self._tasks:
            one.stop()
        requests.delete(f"{self.address}/{self.name}", timeout=60)


@pytest.fixture
def index(address: str) -> Iterator[Index]:
    made = Index(address)
    yield made
    made.close()


def plain(offset: int, key: Any, value: Any) -> SinkRecord:
    return sink_record("orders", offset, key, value)


@needs_server
def test_the_last_record_of_a_key_is_the_document(index: Index) -> None:
    task = index.task(behavior_on_null_values="delete")
    task.put(
        [
            plain(0, "a", {"n": 1}),
            plain(1, "b", {"n": 2}),
            plain(2, "a", {"n": 3}),
            plain(3, "b", None),
            sink_record("orders", 4, 7, Struct(ORDER, (7, Decimal("1.50"))), value_schema=ORDER),
        ]
    )
    expected = {"a": {"n": 3}, "7": {"id": 7, "amount": 1.5}}
    assert index.documents() == expected
    # Everything comes again, to another task: older versions change nothing.
    index.task(behavior_on_null_values="delete").put([plain(0, "a", {"n": 1}), plain(3, "b", None)])
    assert index.documents() == expected
    assert not index.reports.failed


@needs_server
def test_every_record_is_a_document_once(index: Index) -> None:
    records = [plain(offset, None, {"n": offset}) for offset in range(50)]
    for _ in range(2):
        index.task(key_ignore="true", batch_size="7").put(records)
    assert index.documents() == {f"orders+0+{offset}": {"n": offset} for offset in range(50)}


@needs_server
def test_fields_are_merged(index: Index) -> None:
    index.task(write_method="upsert").put([plain(0, "a", {"x": 1, "y": 1}), plain(1, "a", {"y": 2})])
    assert index.documents() == {"a": {"x": 1, "y": 2}}


@needs_server
def test_a_document_that_the_index_refuses_is_reported(index: Index) -> None:
    records = [plain(0, "a", {"n": 1}), plain(1, "b", {"n": {"no": "number"}}), plain(2, "c", {"n": 3})]
    index.task().put([*records, plain(3, "d", "text"), plain(4, None, {"n": 5})])
    assert sorted(index.documents()) == ["a", "c"]
    texts = {one.offset: str(error) for one, error in index.reports.failed}
    assert "refuses it: " in texts[1]
    assert "type" in texts[1]
    assert "HoistField" in texts[3]
    assert "key.ignore=true" in texts[4]


def test_a_server_that_is_away() -> None:
    task = ElasticsearchSinkTask()
    task.start({"connection.url": "http://127.0.0.1:9,http://127.0.0.1:10", "max.retries": "1"}, Reports())
    with pytest.raises(RetriableError, match="It is tried again"):
        task.put([plain(0, "a", {})])
    with pytest.raises(ConnectError, match=r"max\.retries=1"):
        task.put([plain(0, "a", {})])
    task.stop()


def test_lines_of_a_request() -> None:
    record = plain(5, "a", {"n": 1})
    index = Operation(record, "index", "orders", "a", 5, b'{"n":1}')
    assert index.lines(has_types=False) == (
        b'{"index":{"_index":"orders","_id":"a","version":5,"version_type":"external"}}\n{"n":1}\n'
    )
    assert b'"_type":"_doc"' in index.lines(has_types=True)
    update = Operation(record, "update", "orders", "a", None, b'{"n":1}')
    assert update.lines(has_types=False).endswith(b'\n{"doc":{"n":1},"doc_as_upsert":true}\n')
    delete = Operation(record, "delete", "orders", "a", 5, None)
    assert delete.lines(has_types=False).count(b"\n") == 1
    items = [
        {"index": {"status": 409}},
        {"update": {"status": 409, "error": {"type": "version_conflict", "reason": "another"}}},
        {"delete": {"status": 404}},
    ]
    [failed] = failures_of([index, update, delete], {"errors": True, "items": items})
    assert (failed.operation, failed.text, failed.is_busy) == (update, "version_conflict: another", True)


def test_names_of_indexes() -> None:
    assert index_of("", "Orders.CZ") == "orders.cz"
    assert index_of("shop-${topic}", "_A b") == "shop-_a-b"
    assert index_of("", "__") == "topic"


def test_settings_that_do_not_fit_are_refused() -> None:
    config = {"connection.url": "http://search:9200"}
    ElasticsearchSinkConnector().start(config)
    for settings, text in (
        ({"connection.url": "search:9200"}, "connection.url"),
        ({"connection.username": "me"}, "connection.password"),
        ({"key.ignore": "true", "behavior.on.null.values": "delete"}, "behavior.on.null.values"),
        ({"key.ignore": "true", "write.method": "upsert"}, "write.method"),
    ):
        with pytest.raises(ConfigError, match=text):
            ElasticsearchSinkConnector().start({**config, **settings})
        assert any(one.errors for one in ElasticsearchSinkConnector.check({**config, **settings}))


def test_names_of_java() -> None:
    found = find_connector("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector").connector
    assert found is ElasticsearchSinkConnector
