"""What brokers need of a network to talk to one another, and how a request becomes a frame."""

from typing import Protocol, TypeVar

from moldau.core.errors import PeerError
from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.spec import Request, Response

AnyResponse = TypeVar("AnyResponse", bound=Response)


class PeerChannel(Protocol):
    """One connection. OSError or TimeoutError when it breaks: then it is of no further use."""

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview: ...

    def close(self) -> None: ...


class PeerNetwork(Protocol):
    async def connect(self, broker_id: int, timeout_s: float) -> PeerChannel:
        """To the listener brokers use among themselves. OSError or TimeoutError; LookupError when the broker is not
        known to be alive."""


def request_frame(request: Request, version: int, correlation_id: int, client_id: str) -> bytes:
    header = RequestHeader(request.API_KEY, version, correlation_id, client_id)
    return encode_request_header(header) + codec.encode(request, version)


def read_answer(
    answer: type[AnyResponse], request: Request, version: int, correlation_id: int, frame: memoryview
) -> AnyResponse:
    """PeerError when it is no answer to the request. Fields of records are views of the frame."""
    found_id, position = decode_response_header(request.API_KEY, version, frame)
    if found_id != correlation_id:
        raise PeerError(f"an answer to request {found_id} came where {correlation_id} was asked")
    return codec.decode(answer, version, frame, position)[0]
