"""Connections under TLS: frames arrive as the client sent them, answers from memory and files reach it, and what is no
TLS is turned away."""

import asyncio
import logging
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moldau.core.chunks import Chunk, FileSlice
from moldau.core.settings.listeners import SecurityProtocol
from moldau.core.settings.static_layer import static_layer
from moldau.net.connection import Connection
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners
from moldau.security.tls.listener_tls import ListenerTls
from moldau.storage.os_files import OsFiles
from tls_files import TlsFiles, make_tls_files

WAIT_S = 60
LIMITS = ConnectionLimits(
    64 << 20, idle_ms_max=600_000, connections_max=100, connections_per_ip_max=100, handshake_ms_max=60_000
)
LENGTH = struct.Struct(">i")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return make_tls_files(tmp_path_factory.mktemp("tls"))


class Echo:
    """Answers each frame with itself."""

    def __init__(self, connection: Connection, sessions: list["Echo"]) -> None:
        self.connection = connection
        self.is_closed = asyncio.Event()
        sessions.append(self)

    def on_frame(self, frame: memoryview) -> list[Chunk] | None:
        return [LENGTH.pack(len(frame)), bytes(frame)]

    def closed(self) -> None:
        self.is_closed.set()


class Server:
    def __init__(self, listeners: Listeners, port: int, tls: ListenerTls, sessions: list[Echo]) -> None:
        self.listeners = listeners
        self.port = port
        self.tls = tls
        self.sessions = sessions

    async def connect(
        self, context: ssl.SSLContext | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(WAIT_S):
            return await asyncio.open_connection("127.0.0.1", self.port, ssl=context, limit=1 << 20)


@asynccontextmanager
async def serving(
    files: TlsFiles,
    properties: str = "",
    limits: ConnectionLimits = LIMITS,
    session: Callable[[Connection, list[Echo]], Echo] = Echo,
) -> AsyncIterator[Server]:
    text = "".join(f"{key}={value}\n" for key, value in files.broker_settings().items())
    settings = static_layer(f"listeners=SSL://127.0.0.1:0\n{text}{properties}").settings()
    tls = ListenerTls("SSL", settings)
    sessions: list[Echo] = []
    loop = asyncio.get_running_loop()
    listeners = Listeners(
        loop,
        lambda: limits,
        lambda connection: session(connection, sessions),
        backlog=100,
        send_buffer_bytes=-1,
        identities={"SSL": tls},
    )
    try:
        bound = listeners.listen(Endpoint("SSL", "127.0.0.1", 0, SecurityProtocol.SSL))
        yield Server(listeners, bound.port, tls, sessions)
    finally:
        listeners.close()


def trusting(files: TlsFiles, client: str | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(files.ca))
    if client is not None:
        context.load_cert_chain(files.pem(client))
    return context


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> bytes:
    async with asyncio.timeout(WAIT_S):
        writer.write(LENGTH.pack(len(body)) + body)
        (size,) = LENGTH.unpack(await reader.readexactly(4))
        return await reader.readexactly(size)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_frames_of_every_size_come_back(files: TlsFiles, version: ssl.TLSVersion) -> None:
    context = trusting(files)
    context.minimum_version = context.maximum_version = version
    async with serving(files) as server:
        reader, writer = await server.connect(context)
        for size in (1, 3, 16_384, 262_140, 262_144, 3_000_001, 7):
            body = bytes(range(256)) * (size // 256 + 1)
            assert await exchange(reader, writer, body[:size]) == body[:size]
        for byte in LENGTH.pack(3) + b"abc":
            writer.write(bytes([byte]))
            await writer.drain()
        assert await reader.readexactly(7) == LENGTH.pack(3) + b"abc"
        many = b"".join(LENGTH.pack(5) + b"%05d" % number for number in range(20_000))
        writer.write(many)
        async with asyncio.timeout(WAIT_S):
            assert await reader.readexactly(len(many)) == many
        assert server.sessions[0].connection.tls_principal is None
        assert server.sessions[0].connection.protocol is SecurityProtocol.SSL
        writer.close()


async def test_answers_from_files(files: TlsFiles, tmp_path: Path) -> None:
    path = tmp_path / "log"
    data = bytes(range(256)) * 20_000
    path.write_bytes(data)
    file = OsFiles().open(str(path))

    class FromFile(Echo):
        def on_frame(self, frame: memoryview) -> list[Chunk]:
            return [LENGTH.pack(len(data) + 2), b"<", FileSlice(file, 0, len(data)), b">"]

    async with serving(files, session=FromFile) as server:
        reader, writer = await server.connect(trusting(files))
        for _ in range(3):
            assert await exchange(reader, writer, b"?") == b"<" + data + b">"
        writer.close()


async def test_what_was_sent_before_the_goodbye_is_served(files: TlsFiles) -> None:
    async with serving(files) as server:
        reader, writer = await server.connect(trusting(files))
        writer.write((LENGTH.pack(2) + b"hi") * 3)
        writer.close()
        async with asyncio.timeout(WAIT_S):
            await server.sessions[0].is_closed.wait()
        del reader


async def test_a_client_certificate_gives_the_principal(files: TlsFiles) -> None:
    rules = "ssl.client.auth=required\nssl.principal.mapping.rules=RULE:^CN=(.*?),O=.*$/$1/U,DEFAULT\n"
    async with serving(files, rules) as server:
        reader, writer = await server.connect(trusting(files, "alice"))
        assert await exchange(reader, writer, b"hello") == b"hello"
        assert server.sessions[0].connection.tls_principal == "User:ALICE"
        writer.close()
    async with serving(files, "ssl.client.auth=requested\n") as server:
        reader, writer = await server.connect(trusting(files, "alice"))
        await exchange(reader, writer, b"hello")
        assert server.sessions[0].connection.tls_principal == r"User:CN=alice,O=Mill\, Ltd.,C=CZ"
        writer.close()


async def refused(server: Server, context: ssl.SSLContext | None, data: bytes) -> None:
    """Connects, sends, and waits for the end."""
    try:
        reader, writer = await server.connect(context)
    except OSError:
        return
    try:
        async with asyncio.timeout(WAIT_S):
            writer.write(data)
            while await reader.read(1000):
                pass
    except OSError:
        pass
    finally:
        writer.close()


async def test_the_reason_of_a_refusal_is_one_line(
    files: TlsFiles, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "moldau.net")
    stranger = make_tls_files(tmp_path)
    unmapped = "ssl.client.auth=required\nssl.principal.mapping.rules=RULE:^CN=bob$/bob/\n"
    required = "ssl.client.auth=required\n"
    nobody = trusting(files)
    nobody.load_cert_chain(stranger.pem("alice"))
    cases: list[tuple[str, ssl.SSLContext | None, bytes, str]] = [
        ("", None, LENGTH.pack(20) + bytes(20), "security.protocol=SSL"),
        ("", None, b"\x16\x03\x01\x00\x05hello" + bytes(20), "handshake failed"),
        ("", trusting(stranger), b"x", "TLS handshake"),
        (required, trusting(files), b"x", "the client has no certificate"),
        (required, nobody, b"x", "certificate is refused"),
        (unmapped, trusting(files, "alice"), b"x", "ssl.principal.mapping.rules"),
    ]
    for properties, context, data, reason in cases:
        caplog.clear()
        async with serving(files, properties) as server:
            await refused(server, context, data)
            async with asyncio.timeout(WAIT_S):
                await server.sessions[0].is_closed.wait()
        lines = [record.getMessage() for record in caplog.records]
        assert len(lines) == 1 and reason in lines[0], f"{reason}: {lines}"


async def test_a_handshake_that_stops_is_cut_off(files: TlsFiles) -> None:
    limits = ConnectionLimits(1 << 20, 600_000, 100, 100, handshake_ms_max=50)
    async with serving(files, limits=limits) as server:
        for beginning in (b"", b"\x16\x03\x01\x02\x00"):
            reader, writer = await server.connect(None)
            writer.write(beginning)
            async with asyncio.timeout(WAIT_S):
                assert await reader.read() == b""
            writer.close()
        assert server.listeners.connections == []


async def test_a_changed_certificate_is_for_new_connections(files: TlsFiles) -> None:
    async with serving(files) as server:
        reader, writer = await server.connect(trusting(files))
        before = writer.get_extra_info("ssl_object").getpeercert()["serialNumber"]
        files.issue("broker", hosts=("localhost", "127.0.0.1"))
        settings = static_layer(
            "listeners=SSL://127.0.0.1:0\n"
            + "".join(f"{key}={value}\n" for key, value in files.broker_settings().items())
        ).settings()
        assert server.tls.refresh(settings)
        assert not server.tls.refresh(settings)
        assert await exchange(reader, writer, b"still") == b"still"
        _, later = await server.connect(trusting(files))
        assert later.get_extra_info("ssl_object").getpeercert()["serialNumber"] != before
        writer.close()
        later.close()
