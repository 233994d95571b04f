"""`socket.send.buffer.bytes` applies to the sockets of clients on other machines."""

import asyncio
import os
import socket

import pytest

from moldau.net.connection import Chunk, Connection
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners

SEND_BUFFER_BYTES = 48 << 10
ANOTHER_HOST = "127.0.0.2"
LIMITS = ConnectionLimits(1 << 20, idle_ms_max=60_000, connections_max=10, connections_per_ip_max=10)


class Silent:
    def on_frame(self, _: memoryview) -> list[Chunk] | None:
        return None

    def closed(self) -> None: ...


async def accepted_send_buffer_bytes(setting: int, client_host: str = ANOTHER_HOST) -> int:
    """What the socket of a client that has just come has."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[Connection] = loop.create_future()

    def open_session(connection: Connection) -> Silent:
        came.set_result(connection)
        return Silent()

    listeners = Listeners(loop, lambda: LIMITS, open_session, backlog=1, send_buffer_bytes=setting)
    try:
        endpoint = listeners.listen(Endpoint("PLAINTEXT", "127.0.0.1", 0))
        with socket.create_connection((endpoint.host, endpoint.port), source_address=(client_host, 0)):
            connection = await came
            with socket.socket(fileno=os.dup(connection.file_number)) as sock:
                return sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    finally:
        listeners.close()


@pytest.mark.parametrize("setting", [SEND_BUFFER_BYTES, 2 * SEND_BUFFER_BYTES])
def test_a_set_size_is_given_to_every_socket(setting: int) -> None:
    assert asyncio.run(accepted_send_buffer_bytes(setting)) == 2 * setting  # Linux counts its own needs too.


def test_minus_one_and_a_client_on_this_machine_leave_it_to_the_system() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), source_address=(ANOTHER_HOST, 0)),
        server.accept()[0] as untouched,
    ):
        expected = untouched.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    assert asyncio.run(accepted_send_buffer_bytes(-1)) == expected
    assert asyncio.run(accepted_send_buffer_bytes(SEND_BUFFER_BYTES, "127.0.0.1")) != 2 * SEND_BUFFER_BYTES
