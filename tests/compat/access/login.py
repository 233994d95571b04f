"""Bare frames of a user who has logged in with SASL PLAIN."""

from typing import Any, Self

from e2e.wire import TIMEOUT_S, HungUp, WireClient
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.protocol.spec import Request

PASSWORD = "swordfish"
CLOSED = "closed"


class UserWire:
    def __init__(self, port: int, user: str) -> None:
        self.user = user
        self._port = port
        self._wire: WireClient | None = None

    def call(self, request: Request, version: int) -> Any:
        if self._wire is None:
            self._wire = self._logged_in()
        return self._wire.call(request, version)

    def outcome(self, request: Request, version: int) -> Any:
        """The answer, or CLOSED where the broker closes the connection instead."""
        try:
            return self.call(request, version)
        except HungUp:
            self.close()
            return CLOSED

    def close(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()

    def _logged_in(self) -> WireClient:
        wire = WireClient(self._port, timeout_s=4 * TIMEOUT_S)
        try:
            greeting = wire.call(SaslHandshakeRequest(mechanism="PLAIN"), 1)
            assert greeting.error_code == 0, greeting
            proof = f"\0{self.user}\0{PASSWORD}".encode()
            answer = wire.call(SaslAuthenticateRequest(auth_bytes=proof), 2)
            assert answer.error_code == 0, answer
        except BaseException:
            wire.close()
            raise
        return wire

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
