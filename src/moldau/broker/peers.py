"""The other brokers of the cluster, as far as one broker asks another for something."""

from typing import Protocol, TypeVar

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.spec import Request, Response

AnyResponse = TypeVar("AnyResponse", bound=Response)


class Peers(Protocol):
    async def ask(
        self, broker_id: int, request: Request, version: int, answer: type[AnyResponse]
    ) -> AnyResponse:
        """ApiError(BROKER_NOT_AVAILABLE) when it cannot be reached or does not answer in time: then it is not known
        whether it did what was asked."""


class NoPeers:
    """For a broker that stands alone."""

    async def ask(
        self, broker_id: int, request: Request, version: int, answer: type[AnyResponse]
    ) -> AnyResponse:
        raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE, f"broker {broker_id} is not known here")
