"""How many bytes each partition of a topic takes on its leader's disk.

The client library has no call for DescribeLogDirs, so the request goes over a socket of its own, in our own
codec. That works without encryption and login only; a size that is not to be had is left out.
"""

import socket
import struct
from collections.abc import Mapping, Sequence

from moldau.core.errors import PeerError
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)

API_KEY = 35
# The oldest that Kafka 4 still speaks, and newer than anything that is still in use: no need to negotiate.
API_VERSION = 1
ANSWER_BYTES_MAX = 64 * 1024 * 1024


def partition_sizes(
    topic: str, led_by: Mapping[tuple[str, int], Sequence[int]], timeout_s: float
) -> dict[int, int]:
    """Bytes by partition; `led_by` names the partitions to ask each address for."""
    sizes: dict[int, int] = {}
    for address, partitions in led_by.items():
        try:
            answer = _ask(address, topic, partitions, timeout_s)
        except (OSError, PeerError):
            continue
        for directory in answer.results:
            for part in (part for each in directory.topics if each.name == topic for part in each.partitions):
                if not part.is_future_key:
                    sizes[part.partition_index] = part.partition_size
    return sizes


def _ask(
    address: tuple[str, int], topic: str, partitions: Sequence[int], timeout_s: float
) -> DescribeLogDirsResponse:
    header = encode_request_header(RequestHeader(API_KEY, API_VERSION, 0, "moldau-cli"))
    wanted = DescribableLogDirTopic(topic=topic, partitions=partitions)
    body = encode(DescribeLogDirsRequest(topics=[wanted]), API_VERSION)
    with socket.create_connection(address, timeout_s) as connection:
        connection.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
        (size,) = struct.unpack(">i", _receive(connection, 4))
        if not 0 < size <= ANSWER_BYTES_MAX:
            raise PeerError(f"an answer of {size} bytes")
        answer = _receive(connection, size)
    _, position = decode_response_header(API_KEY, API_VERSION, answer)
    return decode(DescribeLogDirsResponse, API_VERSION, answer, position)[0]


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            raise PeerError(f"the connection ended {size - len(received)} bytes before the answer did")
        received += chunk
    return bytes(received)
