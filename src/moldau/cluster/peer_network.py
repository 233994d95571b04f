"""The network interface brokers use among themselves, and the encoding of their requests as frames."""

from typing import Protocol, TypeVar

from moldau.core.errors import PeerError
from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.spec import Request, Response

AnyResponse = TypeVar("AnyResponse", bound=Response)


class PeerChannel(Protocol):
    """One connection. After an OSError or TimeoutError it cannot be used again."""

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview: ...

    def close(self) -> None: ...


class PeerNetwork(Protocol):
    async def connect(self, broker_id: int, timeout_s: float) -> PeerChannel:
        """Connects to the broker's inter-broker listener. OSError or TimeoutError; LookupError if the broker is not
        registered."""


def request_frame(request: Request, version: int, correlation_id: int, client_id: str) -> bytes:
    header = RequestHeader(request.API_KEY, version, correlation_id, client_id)
    return encode_request_header(header) + codec.encode(request, version)


def read_answer(
    answer: type[AnyResponse], request: Request, version: int, correlation_id: int, frame: memoryview
) -> AnyResponse:
    """PeerError if the frame does not answer the request. Record fields are views of the frame."""
    found_id, position = decode_response_header(request.API_KEY, version, frame)
    if found_id != correlation_id:
        raise PeerError(f"the correlation ID of the answer is {found_id}, expected {correlation_id}")
    return codec.decode(answer, version, frame, position)[0]
