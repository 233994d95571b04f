"""SASL OAUTHBEARER on the server (RFC 7628, KIP-255).

A refused token is answered with a JSON text, to which the client answers with one byte, and then the login fails.
"""

import json
import re
from collections.abc import Callable
from typing import Final

from moldau.security.sasl.exchange import Login, LoginRefused, shown
from moldau.security.sasl.token_claims import TokenRefused

CheckToken = Callable[[str], Login]
"""TokenRefused if the token is not a login."""
_NAME: Final = r"(?:[^\x00=,]|=2C|=3D)+"
_MESSAGE: Final = re.compile(rf"n,(?:a=({_NAME}))?,\x01((?:[A-Za-z]+=[^\x00\x01]*\x01)+)\x01")
_CREDENTIAL: Final = re.compile(r"([A-Za-z]+) +([-_.+/=a-zA-Z0-9]+)")


class OAuthBearerExchange:
    def __init__(self, check: CheckToken, *, is_slow: bool) -> None:
        self._check = check
        self._told: str | None = None
        self._is_slow = is_slow
        self.login: Login | None = None
        self.problem: str | None = None

    def is_slow(self, message: bytes) -> bool:
        return self._is_slow

    def answer(self, message: bytes) -> bytes:
        if self.problem is not None:
            raise LoginRefused(self.problem, told=self._told)
        wanted, token = _parsed(message)
        try:
            login = self._check(token)
        except TokenRefused as refusal:
            self.problem = str(refusal)
            self._told = _json_text(refusal)
            return self._told.encode()
        if wanted and wanted != login.user:
            raise LoginRefused(f"the token of user {shown(login.user)} is used to act as {shown(wanted)}")
        self.login = login
        return b""


def _parsed(message: bytes) -> tuple[str, str]:
    """As whom the client wants to act, and its token."""
    try:
        match = _MESSAGE.fullmatch(message.decode())
    except UnicodeDecodeError:
        match = None
    if match is None:
        raise LoginRefused("the OAUTHBEARER message has not the form `n,,^Aauth=Bearer TOKEN^A^A`")
    pairs = dict(pair.partition("=")[::2] for pair in match[2].split("\x01") if pair)
    credential = _CREDENTIAL.fullmatch(pairs.get("auth", ""))
    if credential is None or credential[1].lower() != "bearer":
        raise LoginRefused("the OAUTHBEARER message has no bearer token")
    wanted = (match[1] or "").replace("=2C", ",").replace("=3D", "=")
    return wanted, credential[2]


def _json_text(refusal: TokenRefused) -> str:
    if refusal.missing_scope is None:
        return json.dumps({"status": "invalid_token"}, separators=(",", ":"))
    return json.dumps({"status": "insufficient_scope", "scope": refusal.missing_scope})
