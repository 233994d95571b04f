"""The users who are kept in the cluster: what a SCRAM login is checked against, and a PLAIN login if that is wanted.

Some of them are API keys, which log in as their account.
"""

import hmac
from collections.abc import Callable, Mapping

from moldau.security.credentials.api_key import parse_api_key
from moldau.security.credentials.scram_credential import (
    ITERATIONS_MIN,
    MECHANISMS,
    ScramMechanism,
    credential_of_password,
    parse_credential,
)
from moldau.security.sasl.exchange import Login
from moldau.security.sasl.scram import Known

UserSettings = Callable[[str], Mapping[str, str]]
"""The settings of a user, among them the SCRAM credentials by mechanism. Empty for a user without any."""


class StoredUsers:
    """Called on several threads."""

    def __init__(self, settings: UserSettings, now_ms: Callable[[], int]) -> None:
        self._settings = settings
        self._now_ms = now_ms

    def known(self, user: str, mechanism: ScramMechanism) -> Known | None:
        """What a SCRAM login is checked against. LoginRefused for an API key that has ended."""
        text = self._settings(user).get(mechanism.name)
        credential = None if text is None else parse_credential(text)
        return None if credential is None else Known(credential, self._login(user))

    def check(self, user: str, password: str) -> Login | None:
        """A password in clear text. Takes some milliseconds, and as long for a user who does not exist as for a wrong
        password. LoginRefused for an API key that has ended."""
        texts = self._settings(user)
        if any(_matches(mechanism, texts.get(mechanism.name), password) for mechanism in MECHANISMS.values()):
            return self._login(user)
        return None

    def has(self, user: str) -> bool:
        """Whether the user can log in by some mechanism."""
        texts = self._settings(user)
        return any(name in texts for name in MECHANISMS)

    def _login(self, user: str) -> Login:
        key = parse_api_key(user)
        return Login(user) if key is None else key.login(self._now_ms())


def _matches(mechanism: ScramMechanism, text: str | None, password: str) -> bool:
    credential = None if text is None else parse_credential(text)
    if credential is None or credential.iterations < ITERATIONS_MIN:
        mechanism.salted(password, b"", ITERATIONS_MIN)  # So that time does not tell whether the user exists.
        return False
    given = credential_of_password(mechanism, password, credential.salt, credential.iterations)
    return hmac.compare_digest(given.stored_key, credential.stored_key)
