"""The port through which a broker sends requests to other brokers of the cluster."""

from typing import Protocol, TypeVar

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.spec import Request, Response

AnyResponse = TypeVar("AnyResponse", bound=Response)


class Peers(Protocol):
    async def ask(
        self, broker_id: int, request: Request, version: int, answer: type[AnyResponse]
    ) -> AnyResponse:
        """ApiError(BROKER_NOT_AVAILABLE) when the broker cannot be reached or does not answer in time. It may
        have carried out the request nevertheless."""


class NoPeers:
    """For a standalone broker."""

    async def ask(
        self, broker_id: int, request: Request, version: int, answer: type[AnyResponse]
    ) -> AnyResponse:
        raise ApiError(
            ErrorCode.BROKER_NOT_AVAILABLE, f"broker {broker_id} is unknown: this broker stands alone"
        )
