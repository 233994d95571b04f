"""Clients that do not speak the protocol, or lie in it: each is answered or closed with one line that says why.

Somebody well-behaved works on the same broker all the time and must not notice.
"""

import struct
from random import Random

import pytest

from e2e.conversation import new_topic
from e2e.hostility import API_VERSIONS, Attacked
from e2e.process_facts import MB
from e2e.samples import sample
from e2e.wire import WireClient, framed, request_bytes
from moldau.core.error_codes import ErrorCode
from moldau.protocol import codec
from moldau.protocol.messages import request_class
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest, ApiVersionsResponse
from moldau.protocol.messages.topics.create_topics import CreateTopicsRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.protocol.spec import Request

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undisturbed")]

BROKER_SETTINGS = {"auto.create.topics.enable": "false"}
MEMORY_BYTES_MAX = 32 * MB


def served_requests(client: WireClient) -> list[type[Request]]:
    answer = client.call(ApiVersionsRequest(client_software_name="e2e", client_software_version="1"), 3)
    requests = [request_class(api.api_key) for api in answer.api_keys]
    return [request for request in requests if request is not None]


def test_noise(attacked: Attacked) -> None:
    for seed in range(300):
        rng = Random(seed)
        noise = rng.randbytes(rng.randrange(1, 2000))
        attacked.bear(noise)


def test_noise_in_a_frame(attacked: Attacked) -> None:
    for seed in range(300):
        rng = Random(seed)
        attacked.bear_request(rng.randbytes(rng.randrange(200)))


def test_noise_after_a_good_header(attacked: Attacked) -> None:
    with attacked.connect() as client:
        requests = served_requests(client)
    for request in requests:
        for version in range(request.VERSIONS.low, request.VERSIONS.high + 1):
            rng = Random(f"{request.__name__} {version}")
            header = struct.pack(">hhih", request.API_KEY, version, 1, -1)
            header += b"\0" if version in request.FLEXIBLE else b""
            for _ in range(3):
                attacked.bear_request(header + rng.randbytes(rng.randrange(60)))


def test_other_protocols(attacked: Attacked) -> None:
    attacked.bear(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    attacked.bear(bytes.fromhex("16030100f8010000f40303") + bytes(240))  # a TLS greeting


@pytest.mark.parametrize("size", [0x7FFFFFFF, 100 * MB + 1, -1, -(2**31)])
def test_absurd_length(attacked: Attacked, size: int) -> None:
    with attacked.connect() as client:
        client.try_to_send(struct.pack(">i", size) + b"x" * 1000)
        assert client.is_closed_by_broker()
        line = attacked.the_line_about(client)
    assert str(size) in line
    assert "socket.request.max.bytes" in line


def test_a_length_is_no_allocation(attacked: Attacked) -> None:
    """Announcing bytes costs the broker nothing until they come: the fixture looks at its memory."""
    clients = [attacked.connect() for _ in range(20)]
    for client in clients:
        client.send_bytes(struct.pack(">i", 100 * MB) + b"x")
    with attacked.connect() as witness:
        served_requests(witness)  # By then all of them have been looked at.
    for client in clients:
        client.close()


@pytest.mark.parametrize("size", [0, 1, 7])
def test_frame_without_a_header(attacked: Attacked, size: int) -> None:
    with attacked.connect() as client:
        client.send_bytes(framed(bytes(size)))
        assert client.is_closed_by_broker()
        assert f"{size} bytes" in attacked.the_line_about(client)


def test_hang_up_within_a_frame(attacked: Attacked) -> None:
    frame = framed(API_VERSIONS)
    for length in range(1, len(frame)):
        attacked.bear(frame[:length])


def test_hang_up_between_frames_is_no_news(attacked: Attacked) -> None:
    with attacked.connect() as client:
        client.send_bytes(framed(API_VERSIONS))
        client.receive_frame()
        client.end_sending()
        assert client.is_closed_by_broker()
        assert not attacked.lines_about(client)


def test_one_byte_at_a_time(attacked: Attacked) -> None:
    with attacked.connect() as client:
        for byte in framed(API_VERSIONS):
            client.send_bytes(bytes([byte]))
            with attacked.connect() as other:  # Each byte is read by itself: others are served in between.
                served_requests(other)
        assert client.receive_frame()
        assert not attacked.lines_about(client)


def test_many_requests_at_once_are_answered_in_order(attacked: Attacked) -> None:
    request = MetadataRequest(topics=[])
    with attacked.connect() as client:
        client.send_bytes(b"".join(framed(request_bytes(request, 4, number)) for number in range(500)))
        for number in range(500):
            client.receive(MetadataRequest, 4, number)


@pytest.mark.parametrize("api_key", [-1, 4, 999, 32767])
def test_unknown_api(attacked: Attacked, api_key: int) -> None:
    with attacked.connect() as client:
        client.send_bytes(framed(struct.pack(">hhih", api_key, 0, 1, -1)))
        assert client.is_closed_by_broker()
        assert f"API key {api_key} " in attacked.the_line_about(client)


@pytest.mark.parametrize("version", [-1, 99])
def test_unsupported_version(attacked: Attacked, version: int) -> None:
    with attacked.connect() as client:
        client.send_bytes(framed(struct.pack(">hhih", MetadataRequest.API_KEY, version, 1, -1) + bytes(20)))
        assert client.is_closed_by_broker()
        line = attacked.the_line_about(client)
    assert f"v{version}" in line and "v0 to v13" in line


def test_api_versions_from_the_future(attacked: Attacked) -> None:
    """KIP-511: a v0 answer with error 35 and the list; the client goes on with what it learnt."""
    with attacked.connect() as client:
        client.send_bytes(framed(struct.pack(">hhih", 18, 99, 7, -1) + b"\0whatever comes in version 99"))
        frame = client.receive_frame()
        assert frame[:4] == struct.pack(">i", 7)
        answer, end = codec.decode(ApiVersionsResponse, 0, frame, 4)
        assert end == len(frame)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert {api.api_key for api in answer.api_keys} >= {0, 1, 3, 18}
        assert served_requests(client)


@pytest.mark.parametrize("which", ["lowest", "highest"])
def test_absurd_numbers_everywhere(attacked: Attacked, which: str) -> None:
    """Each request with the largest number in each place in turn: every length, count, offset and time of it."""
    with attacked.connect() as client:
        requests = served_requests(client)
    for request in requests:
        version = request.VERSIONS.low if which == "lowest" else request.VERSIONS.high
        whole = request_bytes(sample(request, version), version)
        is_compact = version in request.FLEXIBLE
        absurd, replaced = (b"\xff\xff\xff\xff\x07", 1) if is_compact else (b"\x7f\xff\xff\xff", 4)
        for position in range(8, len(whole)):
            attacked.bear_request(whole[:position] + absurd + whole[position + replaced :])


def test_cut_requests(attacked: Attacked) -> None:
    """Frames whose length is right but whose body ends early, or goes on after its end."""
    with attacked.connect() as client:
        requests = served_requests(client)
    for request in requests:
        version = request.VERSIONS.high
        whole = request_bytes(sample(request, version), version)
        for length in range(8, len(whole), 3):
            attacked.bear_request(whole[:length])
        attacked.bear_request(whole + b"more")


def test_changed_bits(attacked: Attacked) -> None:
    with attacked.connect() as client:
        requests = served_requests(client)
    for request in requests:
        version = request.VERSIONS.high
        rng = Random(request.__name__)
        for _ in range(20):
            changed = bytearray(request_bytes(sample(request, version), version))
            for _ in range(rng.randrange(1, 5)):
                changed[rng.randrange(8, len(changed))] ^= 1 << rng.randrange(8)
            attacked.bear_request(bytes(changed))


def test_absurd_partition_count(attacked: Attacked) -> None:
    with attacked.connect() as client:
        for count in (0, -2, 2**31 - 1, 50_000_000):
            request = CreateTopicsRequest(topics=[new_topic(f"huge{count}", count)], timeout_ms=1000)
            (answer,) = client.call(request).topics
            assert answer.error_code != 0, count


def test_cached_answers_to_bloated_requests(attacked: Attacked) -> None:
    """A tagged field nobody knows is allowed and ignored; it must not be kept."""
    body = codec.encode(MetadataRequest(topics=[]), 12)
    bloat = 3 * MB
    with attacked.connect() as client:
        for number in range(40):
            tag = b"\x01\x7f" + _varint(bloat) + number.to_bytes(1, "big") * bloat
            header = struct.pack(">hhihb", MetadataRequest.API_KEY, 12, number, -1, 0)
            client.send_bytes(framed(header + body[:-1] + tag))
            client.receive(MetadataRequest, 12, number)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
