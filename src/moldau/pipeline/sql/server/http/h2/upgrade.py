"""How a connection begins: HTTP/2 at once, or an HTTP/1.1 request that asks for it (RFC 7540, 3.2). Pure."""

import re
from dataclasses import dataclass
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SWITCHING: Final = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
"""In small letters: there are clients that compare so."""
BODY_BYTES_MAX: Final = 1 << 20
"""A request with a larger body stays HTTP/1.1, as the client must expect."""
HEAD_END: Final = b"\r\n\r\n"

_HOP_BY_HOP: Final = frozenset(
    {b"connection", b"upgrade", b"http2-settings", b"keep-alive", b"proxy-connection"}
)
_OFFER: Final = re.compile(rb"^(?:connection|upgrade|http2-settings):[^\n]*\n", re.I | re.M)


@dataclass(frozen=True, slots=True)
class UpgradeRequest:
    settings: bytes
    """The value of HTTP2-Settings."""
    method: bytes
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body_size: int
    body_start: int
    """Where the body begins in what was received."""

    def body(self, received: bytes) -> bytes | None:
        """None while it is not there as a whole."""
        end = self.body_start + self.body_size
        return received[self.body_start : end] if len(received) >= end else None

    def rest(self, received: bytes) -> bytes:
        return received[self.body_start + self.body_size :]


def upgrade_request(received: bytes) -> UpgradeRequest | None:
    """Of bytes with a complete head. None: the request is answered as HTTP/1.1."""
    head, _, _ = received.partition(HEAD_END)
    line, *lines = head.split(b"\r\n")
    words = line.split(b" ")
    headers = [
        (name.strip().lower(), value.strip()) for name, _, value in (one.partition(b":") for one in lines)
    ]
    found = dict(headers)
    offered = {token.strip().lower() for token in found.get(b"upgrade", b"").split(b",")}
    size = found.get(b"content-length", b"0")
    if (
        len(words) != 3
        or b"h2c" not in offered
        or b"http2-settings" not in found
        or b"transfer-encoding" in found
        or b"expect" in found
        or not size.isdigit()
        or len(size) > 9
        or int(size) > BODY_BYTES_MAX
    ):
        return None
    kept = tuple((name, value) for name, value in headers if name not in _HOP_BY_HOP)
    return UpgradeRequest(
        found[b"http2-settings"], words[0], words[1], kept, int(size), len(head) + len(HEAD_END)
    )


def without_offer(received: bytes) -> bytes:
    """The same request without asking for HTTP/2; one that asks for a websocket is left alone."""
    head, end, body = received.partition(HEAD_END)
    if b"h2c" not in head.lower():
        return received
    return _OFFER.sub(b"", head + b"\r\n").removesuffix(b"\r\n") + end + body
