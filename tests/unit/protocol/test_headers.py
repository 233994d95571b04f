"""Headers: which version goes with which request, and reading hostile ones."""

import pytest

from moldau.core.errors import PeerError
from moldau.protocol.headers import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
    request_header_version,
    response_header_version,
)


@pytest.mark.parametrize(
    ("api_key", "api_version", "request_version", "response_version"),
    [
        (0, 8, 1, 0),
        (0, 9, 2, 1),
        (1, 11, 1, 0),
        (1, 12, 2, 1),
        (18, 2, 1, 0),
        (18, 3, 2, 0),
        (18, 4, 2, 0),
        (17, 1, 1, 0),
    ],
)
def test_versions(api_key: int, api_version: int, request_version: int, response_version: int) -> None:
    assert request_header_version(api_key, api_version) == request_version
    assert response_header_version(api_key, api_version) == response_version


def test_the_client_id_has_an_old_length_even_in_a_flexible_header() -> None:
    frame = bytes.fromhex("0012 0003 00000007 0003 61c3a9 00")
    header = RequestHeader(api_key=18, api_version=3, correlation_id=7, client_id="aé")
    assert encode_request_header(header) == frame
    assert decode_request_header(memoryview(b"xx" + frame + b"body"), 2) == (header, 2 + len(frame))


def test_no_client_id_in_an_old_header() -> None:
    frame = bytes.fromhex("0003 0001 00000007 ffff")
    header = RequestHeader(api_key=3, api_version=1, correlation_id=7, client_id=None)
    assert encode_request_header(header) == frame
    assert decode_request_header(frame) == (header, 10)


def test_tagged_fields_in_a_header_are_skipped() -> None:
    frame = bytes.fromhex("0000 0009 00000007 0000 02 00 01 ff 64 00")
    assert decode_request_header(frame + b"body") == (RequestHeader(0, 9, 7, ""), len(frame))
    answer = bytes.fromhex("00000007 01 05 02 ffff")
    assert decode_response_header(0, 9, answer + b"body") == (7, len(answer))


def test_an_unknown_api_can_be_read_far_enough_to_be_named() -> None:
    header, position = decode_request_header(bytes.fromhex("7fff 0000 00000001 ffff"))
    assert (header.api_key, position) == (0x7FFF, 10)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "0003 0001 00000007 ff",
        "0003 0001 00000007 0004 61",
        "0003 0001 00000007 0001 ff",
        "0000 0009 00000007 ffff",
        "0000 0009 00000007 ffff ffffffff0f",
        "0000 0009 00000007 ffff 01 00 05 61",
        "0000 0009 00000007 ffff ffffffffff",
    ],
)
def test_a_broken_header_is_the_peers_fault(frame: str) -> None:
    with pytest.raises(PeerError):
        decode_request_header(bytes.fromhex(frame))


def test_response_headers() -> None:
    assert encode_response_header(0, 9, 7) == bytes.fromhex("00000007 00")
    assert encode_response_header(18, 3, 7) == bytes.fromhex("00000007")
    assert decode_response_header(18, 3, bytes.fromhex("00000007 0000")) == (7, 4)
    with pytest.raises(PeerError):
        decode_response_header(0, 9, bytes.fromhex("00000007"))
