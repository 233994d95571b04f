"""SASL PLAIN on the server (RFC 4616)."""

import hmac
from collections.abc import Callable, Mapping
from typing import Final

from moldau.security.sasl.exchange import Login, LoginRefused, shown

PARTS: Final = 3
CheckUser = Callable[[str, str], Login | None]
"""Takes a user and a password. None for a user who does not exist or has another password."""


class PlainExchange:
    """The one message of the client, `[authzid] NUL user NUL password`, is answered with nothing."""

    problem: str | None = None

    def __init__(self, check: CheckUser, is_slow: Callable[[str], bool] = lambda user: False) -> None:
        """`is_slow` says of which users the check may block."""
        self._check = check
        self._is_slow = is_slow
        self.login: Login | None = None

    def is_slow(self, message: bytes) -> bool:
        parts = message.split(b"\0")
        return len(parts) == PARTS and self._is_slow(parts[1].decode(errors="replace"))

    def answer(self, message: bytes) -> bytes:
        try:
            parts = message.decode().split("\0")
        except UnicodeDecodeError:
            raise LoginRefused("the PLAIN message is not UTF-8") from None
        if len(parts) != PARTS:
            raise LoginRefused(
                "the PLAIN message is not `[authzid] NUL user NUL password`",
                told=f"Invalid SASL/PLAIN response: expected {PARTS} tokens, got {len(parts)}",
            )
        wanted, user, password = parts
        for name, value in (("username", user), ("password", password)):
            if not value:
                raise LoginRefused(
                    f"the PLAIN message has no {name}", told=f"Authentication failed: {name} not specified"
                )
        login = self._check(user, password)
        if login is None:
            raise LoginRefused(
                f"user {shown(user)} does not exist or has another password",
                told="Authentication failed: Invalid username or password",
            )
        check_wanted(wanted, user)
        self.login = login
        return b""


def check_wanted(wanted: str, user: str) -> None:
    """A client may say as whom it wants to act. Nobody may act as another user."""
    if wanted and wanted != user:
        raise LoginRefused(
            f"user {shown(user)} asks to act as {shown(wanted)}",
            told="Authentication failed: Client requested an authorization id that is different from username",
        )


def check_against(passwords: Mapping[str, str]) -> CheckUser:
    """Checks against passwords by user. Takes as long for a user who does not exist."""

    def check(user: str, password: str) -> Login | None:
        known = passwords.get(user)
        is_same = hmac.compare_digest((known or "").encode(), password.encode())
        return Login(user) if is_same and known is not None else None

    return check
