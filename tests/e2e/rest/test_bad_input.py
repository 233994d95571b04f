"""Bodies and heads that are meant to hurt: the right code, and others are served meanwhile, in bounded memory."""

import contextlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.server_process import ServerProcess
from e2e.cli.shell import Shell
from e2e.process_facts import MB, forget_peak, peak_resident_bytes
from e2e.rest.rest_client import PATIENCE_S, LocalProxy, RestClient, embedded, fresh, wait_for
from moldau.testing import LocalCluster

MEMORY_BYTES_MAX = 120 * MB
GIGABYTE = 1 << 30


class RestProcess(ServerProcess):
    """`moldau rest` as a user starts it."""

    def __init__(self, folder: Path, bootstrap: str, **settings: str) -> None:
        super().__init__(folder)
        self._bootstrap = bootstrap
        self._settings = settings

    def command(self) -> list[str]:
        moldau = str(Path(sys.executable).with_name("moldau"))
        overrides = [f"--override={name.replace('_', '.')}={value}" for name, value in self._settings.items()]
        listen = f"http://127.0.0.1:{self.port}"
        return [moldau, "rest", "-b", self._bootstrap, "--listen", listen, *overrides]

    def is_ready(self) -> bool:
        return any(line.startswith("ready http://") for line in self.log_text().splitlines())

    @property
    def client(self) -> RestClient:
        return RestClient(f"http://127.0.0.1:{self.port}")


@pytest.fixture(scope="module")
def process(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestProcess]:
    process = RestProcess(tmp_path_factory.mktemp("proxy"), cluster.bootstrap_servers)
    process.start()
    yield process
    assert process.stop() == 0
    assert "Traceback" not in process.log_text(), process.log_text()[-4000:]


@pytest.fixture
def undisturbed(process: RestProcess) -> Iterator[None]:
    """Others write and read before and after, and memory stays bounded."""
    topic = fresh("bystander")
    process.client.produce(topic, 1)
    consumer = process.client.consumer().subscribe(topic)
    forget_peak(process.pid)
    before = peak_resident_bytes(process.pid)
    yield
    process.client.produce(topic, 2)
    assert consumer.values(2) == [1, 2]
    assert consumer("DELETE", "").status == 204
    grown = peak_resident_bytes(process.pid) - before
    assert grown < MEMORY_BYTES_MAX, f"memory grew by {grown / MB:.0f} MB"


def exchange(process: RestProcess, data: bytes, *, more: bytes = b"", times: int = 0) -> bytes:
    """Sends the bytes, then others again and again until the proxy answers or closes. What it answers."""
    with socket.create_connection(("127.0.0.1", process.port), timeout=PATIENCE_S) as connection:
        connection.sendall(data)
        received = b""
        try:
            for _ in range(times):
                connection.sendall(more)
        except OSError:
            pass
        try:
            while piece := connection.recv(1 << 16):
                received += piece
        except OSError:
            pass
        return received


HEAD = b"POST /topics/t HTTP/1.1\r\nHost: x\r\nContent-Type: application/vnd.kafka.json.v2+json\r\n"


@pytest.mark.usefixtures("undisturbed")
def test_a_gigabyte_is_refused_by_its_length(process: RestProcess) -> None:
    head = HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % GIGABYTE
    answer = exchange(process, head)
    assert answer.startswith(b"HTTP/1.1 413"), answer
    assert b"request.max.bytes" in answer


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("chunked", [False, True])
def test_a_gigabyte_that_is_sent_is_not_kept(process: RestProcess, chunked: bool) -> None:
    piece = b"x" * (1 << 20)
    if chunked:
        head, piece = HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + piece + b"\r\n"
    else:
        head = HEAD + b"Content-Length: %d\r\n\r\n" % GIGABYTE
    answer = exchange(process, head, more=piece, times=1024)
    # The connection may be reset before its answer is read: it is closed while the client still sends.
    assert answer.startswith(b"HTTP/1.1 413") or answer == b""


@pytest.mark.usefixtures("undisturbed")
def test_a_body_somewhat_too_large_is_told_so(process: RestProcess) -> None:
    body = b'{"records": [{"value": "' + b"x" * (17 << 20) + b'"}]}'
    process.client("POST", "/topics/t", body, type=embedded("json")).refused(413, "16,777,216 bytes")


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /topics HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 200_000,
        b"GARBAGE\r\n\r\n",
        b"GET /topics HTTP/9.9\r\n\r\n",
        HEAD + b"Content-Length: -5\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n12345",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x00" * 1000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_request_ends_its_own_connection_only(process: RestProcess, data: bytes) -> None:
    answer = exchange(process, data, more=b"\r\n\r\n", times=1)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer


@pytest.mark.usefixtures("undisturbed")
def test_deep_json_and_broken_text(process: RestProcess) -> None:
    rest = process.client
    deep = b'{"records":[{"value":' + b"[" * 500_000 + b"]" * 500_000 + b"}]}"
    rest("POST", "/topics/t", deep, type=embedded("json")).refused(400, "not JSON")
    broken = b'{"records":[{"value":"\xff\xfe"}]}'
    rest("POST", "/topics/t", broken, type=embedded("json")).refused(400, "not JSON")
    cluster = rest.ok("GET", "/v3/clusters")["data"][0]["cluster_id"]
    stream = b'{"value":{"type":"JSON","data":' + b"[" * 500_000 + b"]" * 500_000 + b"}}"
    rest("POST", f"/v3/clusters/{cluster}/topics/t/records", stream).refused(400, "not JSON")


@pytest.mark.usefixtures("undisturbed")
def test_names_with_nul_and_other_rubbish(process: RestProcess) -> None:
    rest = process.client
    body = {"records": [{"value": 1}]}
    for name in ("a%00b", "%2e%2e%2f", "%ff", "%20", "x" * 300, "%E2%82%AC"):
        rest("POST", f"/topics/{name}", body, type=embedded("json")).refused(40401, "no name of a topic")
        rest("GET", f"/topics/{name}").refused(40401)
        cluster = rest.ok("GET", "/v3/clusters")["data"][0]["cluster_id"]
        rest("POST", f"/v3/clusters/{cluster}/topics/{name}/records", {"value": None}).refused(40401)
        rest("GET", f"/v3/clusters/{cluster}/topics/{name}/configs").refused(40401)
    rest("POST", "/consumers/a%00b", {}).refused(42204, "group")
    consumer = rest.consumer()
    consumer("POST", "/subscription", {"topics": ["a\0b"]}).refused(422)
    consumer("POST", "/subscription", {"topic_pattern": "^(\0"}).refused(422)
    place = {"topic": "a\0b", "partition": 0}
    consumer("POST", "/assignments", {"partitions": [place]}).refused(422)
    consumer("POST", "/offsets", {"offsets": [place | {"offset": 1}]}).refused(422)
    assert consumer("DELETE", "").status == 204


@pytest.mark.usefixtures("undisturbed")
def test_a_thousand_connections_that_say_nothing(process: RestProcess) -> None:
    held = [socket.create_connection(("127.0.0.1", process.port)) for _ in range(500)]
    try:
        assert process.client.ok("GET", "/") == {}
    finally:
        for each in held:
            each.close()


def test_a_body_that_does_not_come_is_not_waited_for(cluster: LocalCluster) -> None:
    with LocalProxy(cluster.bootstrap_servers, request_timeout_ms="200") as rest:
        host, port = rest.address.split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as slow:
            slow.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
            received = b""
            while piece := slow.recv(1 << 16):
                received += piece
        assert received.startswith(b"HTTP/1.1 408") and b"not complete within 0.2 s" in received


def test_more_connections_than_allowed_are_refused(cluster: LocalCluster) -> None:
    with LocalProxy(cluster.bootstrap_servers, connections_max="2") as rest, contextlib.ExitStack() as stack:
        host, port = rest.address.split(":")
        for _ in range(2):
            held = stack.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE_S))
            held.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert held.recv(100).startswith(b"HTTP/1.1 200")
        assert rest("GET", "/").status == 503
        stack.close()
        wait_for(lambda: rest("GET", "/").status == 200)


def test_a_proxy_without_kafka_says_so_and_ends_well(tmp_path: Path) -> None:
    settings = {"client_timeout_ms": "500", "producer_delivery_timeout_ms": "500", "producer_linger_ms": "1"}
    settings["producer_request_timeout_ms"] = "400"
    process = RestProcess(tmp_path, "127.0.0.1:1", **settings)
    with process:
        process.client("GET", "/topics").refused(
            50003, "does not reach the Kafka cluster", "bootstrap.servers"
        )
        process.client("GET", "/brokers").refused(50003)
        reply = process.client("POST", "/topics/t", {"records": [{"value": 1}]}, type=embedded("json"))
        assert reply.json["offsets"][0]["error_code"] == 50003
        process.client("GET", "/health").refused(50003)
        text = process.log_text()
    assert "Traceback" not in text, text[-4000:]


def test_a_proxy_that_cannot_start_says_why(
    process: RestProcess, cluster: LocalCluster, tmp_path: Path
) -> None:
    shell = Shell(cluster.bootstrap_servers)
    listen = ("-b", cluster.bootstrap_servers, "--listen", f"http://127.0.0.1:{process.port}")
    assert "cannot listen on" in shell.run("rest", *listen, code=2)
    free = ("--listen", "http://127.0.0.1:0")
    said = shell.run("rest", *free, "--override", "consumer.thread=3", code=2)
    assert "the Kafka client rejects its settings" in said and '"thread"' in said
    said = shell.run("rest", *free, "--override", "connection.max=3", code=2)
    assert "unknown setting connection.max; did you mean connections.max?" in said
    said = shell.run("rest", *free, "--override", "connections.max=many", code=2)
    assert "it takes a whole number" in said
    said = shell.run("rest", "--config", str(tmp_path / "none"), code=2)
    assert "cannot read the configuration file" in said
