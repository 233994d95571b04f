"""Clients that misbehave around TLS: plain bytes, broken and unfinished handshakes, by the thousand.

A well-behaved client works on the plain listener all the time, and others come and go over TLS.
"""

import contextlib
import os
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from compat.server_process import wait_until
from e2e.hostility import API_VERSIONS, Attacked
from e2e.process_facts import MB, open_files, resident_bytes
from e2e.wire import WireClient, framed
from tls_files import TlsFiles, make_tls_files

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undisturbed")]

BROKER_SETTINGS: dict[str, str] = {}
MEMORY_BYTES_MAX = 160 * MB
STUCK = int(os.environ.get("MOLDAU_STUCK_HANDSHAKES", "300"))
"""2,000 before a release."""
HANDSHAKE_MS = 4000
# The beginning of a ClientHello that announces 512 bytes.
BEGINNING = bytes.fromhex("1603010200010001fc0303") + bytes(100)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return make_tls_files(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory, files: TlsFiles) -> Iterator[Attacked]:
    """A broker with a plain listener and one with TLS."""
    folder: Path = tmp_path_factory.mktemp("attacked")
    attacked = Attacked(folder, BROKER_SETTINGS)
    attacked.broker._settings |= {
        "listeners": f"PLAINTEXT://127.0.0.1:{attacked.port},SSL://127.0.0.1:0",
        "socket.connection.setup.timeout.ms": str(HANDSHAKE_MS),
        **files.broker_settings(),
    }
    with attacked.broker:
        yield attacked


@pytest.fixture(scope="module")
def tls_port(attacked: Attacked) -> int:
    (line,) = [line for line in attacked.broker.log_text().splitlines() if line.startswith("ready")]
    return int(line.rpartition(":")[2])


@contextlib.contextmanager
def well_behaved(port: int, files: TlsFiles) -> Iterator[ssl.SSLSocket]:
    context = ssl.create_default_context(cafile=str(files.ca))
    with (
        socket.create_connection(("127.0.0.1", port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        yield secured


def asks(secured: ssl.SSLSocket) -> None:
    secured.sendall(framed(API_VERSIONS))
    assert secured.recv(4)


def hello_of(files: TlsFiles) -> bytes:
    """A whole ClientHello."""
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=str(files.ca))
    hello = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        hello.do_handshake()
    return outgoing.read()


def bear(attacked: Attacked, port: int, data: bytes, reason: str) -> None:
    """The client is closed, with one line about it."""
    with WireClient(port, timeout_s=60) as client:
        client.try_to_send(data)
        client.end_sending()
        with contextlib.suppress(OSError):
            while client.socket.recv(10_000):
                pass
        lines: list[str] = []

        def is_logged() -> bool:
            lines.extend(attacked.lines_about(client))
            return bool(lines)

        wait_until(is_logged, "it is logged")
    assert len(lines) == 1, lines
    assert reason in lines[0], lines


def test_plain_bytes_to_tls(attacked: Attacked, tls_port: int) -> None:
    bear(attacked, tls_port, framed(API_VERSIONS), "security.protocol=SSL")
    bear(attacked, tls_port, b"GET / HTTP/1.1\r\n\r\n", "security.protocol=SSL")


def test_tls_to_a_plain_listener(attacked: Attacked, files: TlsFiles) -> None:
    bear(attacked, attacked.port, hello_of(files), "these are the first bytes of TLS")


def test_noise_in_a_handshake(attacked: Attacked, tls_port: int, files: TlsFiles) -> None:
    hello = hello_of(files)
    for seed in range(60):
        rng = Random(seed)
        damaged = bytearray(hello)
        for _ in range(rng.randrange(1, 20)):
            damaged[rng.randrange(1, len(damaged))] = rng.randrange(256)
        bear(attacked, tls_port, bytes(damaged), "TLS handshake")
    for seed in range(60):
        bear(attacked, tls_port, b"\x16" + Random(seed).randbytes(2000), "TLS handshake")


def test_half_a_handshake(attacked: Attacked, tls_port: int, files: TlsFiles) -> None:
    hello = hello_of(files)
    for length in range(1, len(hello), len(hello) // 40):
        bear(attacked, tls_port, hello[:length], "in the middle of the TLS handshake")
    bear(attacked, tls_port, hello, "in the middle of the TLS handshake")


def test_noise_after_the_handshake(attacked: Attacked, tls_port: int, files: TlsFiles) -> None:
    for seed in range(20):
        with well_behaved(tls_port, files) as secured:
            asks(secured)
            behind = socket.socket(fileno=os.dup(secured.fileno()))
            with behind, contextlib.suppress(OSError):
                behind.sendall(b"\x17\x03\x03\x00\x40" + Random(seed).randbytes(64))
                while behind.recv(10_000):
                    pass
    wait_until(
        lambda: attacked.broker.log_text().count("cannot be decrypted") >= 20, "each of them is logged"
    )
    attacked.new_lines()


def test_older_versions_are_refused(attacked: Attacked, tls_port: int) -> None:
    # A ClientHello of TLS 1.0 without extensions: no downgrade gets below TLS 1.2.
    old = bytes.fromhex("0301") + bytes(32) + b"\0" + bytes.fromhex("0004c013c014") + b"\x01\0"
    message = b"\x01" + len(old).to_bytes(3, "big") + old
    bear(
        attacked,
        tls_port,
        b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message,
        "ssl.enabled.protocols",
    )


def test_many_handshakes_that_stop(attacked: Attacked, tls_port: int, files: TlsFiles) -> None:
    """They are cut off in time; meanwhile others get in, and nothing is left of them."""
    before = open_files(attacked.pid), resident_bytes(attacked.pid)
    hello = hello_of(files)
    with contextlib.ExitStack() as stack:
        stuck = []
        for number in range(STUCK):
            client = socket.create_connection(("127.0.0.1", tls_port), timeout=60)
            stack.callback(client.close)
            with contextlib.suppress(OSError):
                client.sendall((b"", BEGINNING, hello)[number % 3])
            stuck.append(client)
            if number % 100 == 0:
                with well_behaved(tls_port, files) as secured:
                    asks(secured)
        for client in stuck:
            with contextlib.suppress(ConnectionError):
                while client.recv(10_000):
                    pass
        with well_behaved(tls_port, files) as secured:
            asks(secured)
    wait_until(lambda: open_files(attacked.pid) <= before[0] + 4, "nothing of them is open")
    lines = [line for line in attacked.new_lines() if "was not done within" in line]
    assert len(lines) == STUCK
    assert resident_bytes(attacked.pid) - before[1] < MEMORY_BYTES_MAX
