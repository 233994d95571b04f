"""The headers of requests and responses.

Request header: v1 has API key, version, correlation id and client id; v2 adds tagged fields (KIP-482). The
client id keeps its two-byte length even in v2, so that a request in any version can be read far enough to be
answered. Response header: v0 has the correlation id; v1 adds tagged fields. The API and its version determine
the header version.
"""

import struct
from typing import Final, NamedTuple

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.protocol.messages import request_class
from moldau.protocol.varints import read_unsigned_varint

API_VERSIONS_KEY: Final = 18
HEADER_TAGS_MAX: Final = 100

_START: Final = struct.Struct(">hhih")
_CORRELATION_ID: Final = struct.Struct(">i")


class RequestHeader(NamedTuple):
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def request_header_version(api_key: int, api_version: int) -> int:
    """An unknown API counts as one with header v1, the start of every header."""
    request = request_class(api_key)
    return 2 if request is not None and api_version in request.FLEXIBLE else 1


def response_header_version(api_key: int, api_version: int) -> int:
    """ApiVersions stays at v0: clients read that answer before they know the broker's versions (KIP-511)."""
    if api_key == API_VERSIONS_KEY:
        return 0
    return request_header_version(api_key, api_version) - 1


def decode_request_header(buffer: Buffer, position: int = 0) -> tuple[RequestHeader, int]:
    try:
        api_key, api_version, correlation_id, size = _START.unpack_from(buffer, position)
        position += 10
        client_id = None
        if size >= 0:
            end = position + size
            if end > len(buffer):
                raise PeerError(
                    f"a request header claims a client id of {size} bytes past the end of its frame"
                )
            client_id = str(buffer[position:end], "utf-8")
            position = end
        if request_header_version(api_key, api_version) == 2:
            position = _skip_tags(buffer, position)
    except (struct.error, IndexError):
        raise PeerError(f"a request of {len(buffer)} bytes ends within its header") from None
    except UnicodeDecodeError:
        raise PeerError("the client id in a request header is not UTF-8") from None
    return RequestHeader(api_key, api_version, correlation_id, client_id), position


def encode_request_header(header: RequestHeader) -> bytes:
    client_id = b"" if header.client_id is None else header.client_id.encode()
    size = -1 if header.client_id is None else len(client_id)
    tags = b"\0" if request_header_version(header.api_key, header.api_version) == 2 else b""
    return _START.pack(header.api_key, header.api_version, header.correlation_id, size) + client_id + tags


def decode_response_header(
    api_key: int, api_version: int, buffer: Buffer, position: int = 0
) -> tuple[int, int]:
    """The correlation id and the position of the body."""
    try:
        correlation_id: int = _CORRELATION_ID.unpack_from(buffer, position)[0]
        position += 4
        if response_header_version(api_key, api_version) == 1:
            position = _skip_tags(buffer, position)
    except (struct.error, IndexError):
        raise PeerError(f"a response of {len(buffer)} bytes ends within its header") from None
    return correlation_id, position


def encode_response_header(api_key: int, api_version: int, correlation_id: int) -> bytes:
    tags = b"\0" if response_header_version(api_key, api_version) == 1 else b""
    return _CORRELATION_ID.pack(correlation_id) + tags


def _skip_tags(buffer: Buffer, position: int) -> int:
    count, position = read_unsigned_varint(buffer, position)
    if count > HEADER_TAGS_MAX:
        raise PeerError(f"a header claims {count} tagged fields; at most {HEADER_TAGS_MAX} are allowed")
    for _ in range(count):
        _, position = read_unsigned_varint(buffer, position)
        size, position = read_unsigned_varint(buffer, position)
        position += size
    if position > len(buffer):
        raise PeerError("a tagged field of a header reaches past the end of its frame")
    return position
