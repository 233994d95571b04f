"""Converts messages to bytes and back, for every declared class and version.

Owns the compiled encoders and decoders. Knows nothing of frames, headers and sockets.
"""

import struct
from typing import Final, TypeVar

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.protocol.decoding import Decoder, compile_decoder
from moldau.protocol.encoding import Encoder, compile_encoder
from moldau.protocol.spec import Message

_M = TypeVar("_M", bound=Message)

_decoders: Final[dict[tuple[type[Message], int], Decoder]] = {}
_encoders: Final[dict[tuple[type[Message], int], Encoder]] = {}


def decode(message: type[_M], version: int, buffer: Buffer, position: int = 0) -> tuple[_M, int]:
    """The message that starts at `position`, and the position after it. Malformed input is a PeerError.

    The buffer must end where the frame does: pass a view if more follows. Fields of records are views of it.
    """
    key = (message, version)
    decoder = _decoders.get(key) or _decoders.setdefault(key, compile_decoder(message, version))
    try:
        return decoder(buffer, position, len(buffer))
    except (IndexError, struct.error):
        raise PeerError(f"{message.__name__} v{version} ends in the middle of a field") from None
    except UnicodeDecodeError as error:
        raise PeerError(
            f"{message.__name__} v{version} has a string that is not UTF-8: {error.reason}"
        ) from None


def encode(message: Message, version: int) -> bytes:
    out = bytearray()
    encode_into(message, version, out)
    return bytes(out)


def encode_into(message: Message, version: int, out: bytearray) -> None:
    """Appends to `out`. On ValueError `out` is unchanged."""
    key = (type(message), version)
    encoder = _encoders.get(key) or _encoders.setdefault(key, compile_encoder(*key))
    start = len(out)
    try:
        encoder(message, out)
    except (ValueError, TypeError, AttributeError, struct.error) as error:
        del out[start:]
        raise ValueError(f"{type(message).__name__} v{version} cannot be encoded: {error}") from error
