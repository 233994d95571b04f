"""What HttpSink and ElasticsearchSink say about requests that fail: the settings of the connector, and no secrets."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from connect_kit import Reports, sink_record
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, RetriableError, SinkTask
from moldau.pipeline.connect.connectors.elasticsearch.sink import (
    ElasticsearchSinkConnector,
    ElasticsearchSinkTask,
)
from moldau.pipeline.connect.connectors.http.sink import HttpSinkConnector, HttpSinkTask

RECORD = sink_record("orders", 0, "k", {"id": 1})
KINDS = [
    (HttpSinkTask, "http.url", "http.ssl.ca"),
    (ElasticsearchSinkTask, "connection.url", "elastic.https.ssl.ca"),
]


@pytest.fixture
def port() -> Iterator[int]:
    """A server that knows no TLS: it closes connections."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    listener.accept()[0].close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def failure(kind: type[SinkTask], config: dict[str, str]) -> ConnectError:
    """Of a record that is put."""
    task, reports = kind(), Reports()
    task.start(config, reports)
    try:
        task.put([RECORD])
    except ConnectError as failed:
        return failed
    finally:
        task.stop()
    [(_, refused)] = reports.failed
    return ConnectError(str(refused))


@pytest.mark.parametrize(("kind", "url", "ca"), KINDS)
def test_certificates(kind: type[SinkTask], url: str, ca: str, port: int, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    failed = failure(kind, {url: f"https://127.0.0.1:{port}", ca: missing})
    assert not isinstance(failed, RetriableError)
    assert missing in str(failed) and f"Check {ca} and" in str(failed)
    failed = failure(kind, {url: "https://[::1"})
    assert f"Check {url} and {ca}" in str(failed)


@pytest.mark.parametrize(("kind", "url", "ca"), KINDS)
@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "bad host", "[::1"])
def test_secrets_in_addresses(kind: type[SinkTask], url: str, ca: str, host: str, port: int) -> None:
    address = f"http://user:secret-word@{host.format(port=port)}/orders"
    for text in (address, f"{address}?key=other-secret"):
        said = str(failure(kind, {url: text}))
        assert "secret" not in said and "[hidden]@" in said


def test_secrets_of_a_template() -> None:
    address = "http://user:secret-word@127.0.0.1/${note}?key=other-secret"
    said = str(failure(HttpSinkTask, {"http.url": address}))
    assert said == "http://[hidden]@127.0.0.1/${note} needs note, which is missing or null"


@pytest.mark.parametrize(
    "address", ["ftp://user:secret@host", "user:secret@host", "http://${key}:secret@host"]
)
def test_addresses_that_cannot_be(address: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^Invalid value \[hidden\]@host for configuration http.url"
    ) as wrong:
        HttpSinkConnector().start({"http.url": address})
    assert "secret" not in str(wrong.value)
    with pytest.raises(ConfigError, match=r"^Invalid value \[hidden\]@host for configuration connection.url"):
        ElasticsearchSinkConnector().start({"connection.url": address})
