"""API keys: users whose names say for which account they log in, and until when. Pure.

A key is a SCRAM user of the cluster named `ACCOUNT+ID` or `ACCOUNT+ID+YYYYMMDD`, so that it can be made, listed and
removed at any Kafka cluster. The ID has a fixed form: a user named `bob+test` is no key of bob. A Moldau broker knows a
client that has logged in with a key as its account, and refuses the key after its last day, which ends at midnight UTC.
"""

import re
import secrets
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from moldau.security.sasl.exchange import Login, LoginRefused, shown

SEPARATOR: Final = "+"
ID_CHARS: Final = 16
ID_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
SECRET_BYTES: Final = 36
ACCOUNT_CHARS_MAX: Final = 100
DAY_MS: Final = 86_400_000
_DAY: Final = "%Y%m%d"
_MS_PER_S: Final = 1000
_NAME: Final = re.compile(rf"([^+]+)\+([{ID_ALPHABET}]{{{ID_CHARS}}})(?:\+([0-9]{{8}}))?")
_ACCOUNT: Final = re.compile(rf"[A-Za-z0-9._@-]{{1,{ACCOUNT_CHARS_MAX}}}")


class ApiKey(NamedTuple):
    account: str
    key_id: str
    last_day: date | None = None
    """None: it has no end."""

    @property
    def name(self) -> str:
        """With which clients log in."""
        parts = [self.account, self.key_id]
        if self.last_day is not None:
            parts.append(f"{self.last_day:{_DAY}}")
        return SEPARATOR.join(parts)

    @property
    def expires_ms(self) -> int | None:
        """The end of its last day."""
        if self.last_day is None:
            return None
        begins = datetime(self.last_day.year, self.last_day.month, self.last_day.day, tzinfo=UTC)
        return int(begins.timestamp() * _MS_PER_S) + DAY_MS

    def is_expired(self, now_ms: int) -> bool:
        return self.expires_ms is not None and self.expires_ms <= now_ms

    def login(self, now_ms: int) -> Login:
        """As whom a client logs in with it. LoginRefused after its last day."""
        if self.is_expired(now_ms):
            raise LoginRefused(f"the API key {shown(self.name)} ended on {self.last_day}; create another one")
        return Login(self.account, self.expires_ms, is_by_token=True, key=self.name)


def new_key(account: str, last_day: date | None = None) -> tuple[ApiKey, str]:
    """A key and its secret. `is_account_name` must hold for the account."""
    key_id = "".join(secrets.choice(ID_ALPHABET) for _ in range(ID_CHARS))
    return ApiKey(account, key_id, last_day), secrets.token_urlsafe(SECRET_BYTES)


def is_account_name(text: str) -> bool:
    """Letters, digits, `.`, `_`, `@` and `-`."""
    return _ACCOUNT.fullmatch(text) is not None


def parse_api_key(user: str) -> ApiKey | None:
    """None for the name of any other user."""
    match = _NAME.fullmatch(user)
    if match is None:
        return None
    account, key_id, day = match.groups()
    if day is None:
        return ApiKey(account, key_id)
    try:
        return ApiKey(account, key_id, datetime.strptime(day, _DAY).replace(tzinfo=UTC).date())
    except ValueError:
        return None


def account_of(user: str) -> str:
    """The account of a key, and any other user as it is: the name in the principal of one who has logged in."""
    key = parse_api_key(user)
    return user if key is None else key.account
