"""Sizes asked of a broker that is none."""

import socket
import struct
import threading

import pytest

from moldau.cli.client.log_sizes import partition_sizes
from moldau.cli.client.wire import Address, Wire
from moldau.cli.client.wire_security import Security
from moldau.core.ids import TopicPartition


def sizes_at(address: tuple[str, int]) -> dict[TopicPartition, int]:
    wire = Wire("nobody", Security({}), timeout_s=5)
    return partition_sizes(wire, {TopicPartition("orders", number): Address(*address) for number in (0, 1)})


@pytest.mark.parametrize(
    "answer",
    [b"", b"HT", b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack(">i", -5), struct.pack(">iiq", 12, 0, -1)],
)
def test_a_size_that_is_not_to_be_had_is_left_out(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def serve() -> None:
            connection, _ = stranger.accept()
            # What asks again, whether this is TLS, need not wait.
            stranger.close()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        address = stranger.getsockname()
        server = threading.Thread(target=serve)
        server.start()
        assert sizes_at(address) == {}
        server.join(5)


def test_a_broker_that_is_gone_is_passed_over() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert sizes_at(bound.getsockname()) == {}
