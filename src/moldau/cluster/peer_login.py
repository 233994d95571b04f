"""The login of this broker at another one: the client's side of SASL, on a connection that was just opened.

Where the other broker limits the life of a login (KIP-368), it is renewed before it ends.
"""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Final, TypeVar

from moldau.cluster.peer_network import PeerChannel, read_answer, request_frame
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import PeerError
from moldau.protocol.messages.security.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from moldau.protocol.spec import Request, Response
from moldau.security.sasl.client_login import ClientLogin

HANDSHAKE_VERSION: Final = 1
AUTHENTICATE_VERSION: Final = 2
RENEWED_AFTER: Final = 0.85
"""The share of a login's life after which it is renewed, as Kafka's clients do."""

AnyResponse = TypeVar("AnyResponse", bound=Response)
BeginLogin = Callable[[], ClientLogin]


class LoggedInChannel:
    """A connection under a login. `log_in` must have returned before anything else is sent."""

    def __init__(self, channel: PeerChannel, mechanism: str, begin: BeginLogin, client_id: str) -> None:
        self._channel = channel
        self._mechanism = mechanism
        self._begin = begin
        self._client_id = client_id
        self._correlation_ids = count(1)
        self._renew_at_s: float | None = None

    async def log_in(self, timeout_s: float) -> None:
        """PeerError if the other broker refuses the login or cannot prove that it knows the password, or if this one
        has neither token nor ticket."""
        handshake = SaslHandshakeRequest(mechanism=self._mechanism)
        chosen = await self._ask(handshake, HANDSHAKE_VERSION, SaslHandshakeResponse, timeout_s)
        if chosen.error_code:
            raise PeerError(
                f"the other broker has no {self._mechanism} ({ErrorCode(chosen.error_code).name}), it offers "
                f"{', '.join(chosen.mechanisms)}; sasl.mechanism.inter.broker.protocol must be the same on all brokers"
            )
        exchange = self._begin()
        lifetime_ms = 0
        message = await _step(exchange, None, timeout_s)
        while message is not None:
            request = SaslAuthenticateRequest(auth_bytes=message)
            answer = await self._ask(request, AUTHENTICATE_VERSION, SaslAuthenticateResponse, timeout_s)
            if answer.error_code:
                raise PeerError(
                    f"the other broker refuses the login of this one: {answer.error_message}; check "
                    f"sasl.jaas.config for {self._mechanism}, with which brokers log in"
                )
            lifetime_ms = answer.session_lifetime_ms
            message = await _step(exchange, bytes(answer.auth_bytes), timeout_s)
        now_s = asyncio.get_running_loop().time()
        self._renew_at_s = now_s + lifetime_ms / 1000 * RENEWED_AFTER if lifetime_ms > 0 else None

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview:
        if self._renew_at_s is not None and asyncio.get_running_loop().time() >= self._renew_at_s:
            await self.log_in(timeout_s)
        return await self._channel.exchange(frame, timeout_s)

    def close(self) -> None:
        self._channel.close()

    async def _ask(
        self, request: Request, version: int, answer: type[AnyResponse], timeout_s: float
    ) -> AnyResponse:
        correlation_id = next(self._correlation_ids)
        frame = request_frame(request, version, correlation_id, self._client_id)
        answered = await self._channel.exchange(frame, timeout_s)
        return read_answer(answer, request, version, correlation_id, answered)


async def _step(exchange: ClientLogin, answer: bytes | None, timeout_s: float) -> bytes | None:
    """The next message, None at the end. On a thread: passwords take time, tokens and tickets come over the network."""
    async with asyncio.timeout(timeout_s):
        return await asyncio.to_thread(_next_message, exchange, answer)


def _next_message(exchange: ClientLogin, answer: bytes | None) -> bytes | None:
    try:
        return next(exchange) if answer is None else exchange.send(answer)
    except StopIteration:
        return None
