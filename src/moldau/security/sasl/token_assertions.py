"""Assertions (RFC 7523): signed statements for which an identity provider gives tokens, in place of a secret.

One is read from a file as it is, or signed with a private key: `sasl.oauthbearer.assertion.*`. Files are read each
time, so that keys can be replaced while the broker runs.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.security.sasl.token_claims import MS_PER_S

GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
KEY_FILE: Final = "sasl.oauthbearer.assertion.private.key.file"
TEMPLATE_FILE: Final = "sasl.oauthbearer.assertion.template.file"


class Assertion(NamedTuple):
    """What the settings say. Equal ones give the same tokens."""

    file: str | None
    """A ready assertion; all else has no effect then."""
    key_file: str | None
    passphrase: str | None
    template_file: str | None
    algorithm: str
    issuer: str | None
    subject: str | None
    audience: str | None
    life_s: int
    valid_before_s: int
    """How long before now its life begins, as clocks differ."""
    has_id: bool

    def __repr__(self) -> str:
        return "<Assertion>"

    @property
    def is_set(self) -> bool:
        return bool(self.file or self.key_file)

    def check(self) -> None:
        """ConfigError for a file that is not there."""
        for path in (self.file, self.key_file, self.template_file):
            if path and not Path(path).is_file():
                raise ConfigError(
                    f"sasl.oauthbearer.assertion.*: there is no file {path}; correct the setting"
                )

    def text(self, now_ms: int, new_id: Callable[[], str]) -> str:
        """OSError or ValueError if it cannot be made."""
        if self.file:
            return Path(self.file).read_text(encoding="utf-8").strip()
        assert self.key_file is not None, "nothing to assert with"
        template = _template(self.template_file)
        now_s = now_ms // MS_PER_S
        claims = template.get("payload", {}) | {
            "iat": now_s,
            "exp": now_s + self.life_s,
            "nbf": now_s - self.valid_before_s,
        }
        named = {"iss": self.issuer, "sub": self.subject, "aud": self.audience}
        claims |= {name: value for name, value in named.items() if value}
        if self.has_id:
            claims["jti"] = new_id()
        header = {"typ": "JWT", **template.get("header", {}), "alg": self.algorithm.upper()}
        return _signed(header, claims, self.key_file, self.passphrase)


def _template(path: str | None) -> dict[str, dict[str, Any]]:
    """Header and payload to begin with."""
    if not path:
        return {}
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not all(
        isinstance(content.get(name, {}), dict) for name in ("header", "payload")
    ):
        raise ValueError(f"{TEMPLATE_FILE}: {path} is not a JSON object with the objects header and payload")
    return content


def _signed(header: dict[str, Any], claims: dict[str, Any], key_file: str, passphrase: str | None) -> str:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, RSAKey

    algorithm: str = header["alg"]
    kind = RSAKey if algorithm.startswith("RS") else ECKey
    try:
        key = kind.import_key(Path(key_file).read_bytes(), password=passphrase)
        return jwt.encode(header, claims, key, algorithms=[algorithm])
    except (JoseError, ValueError, TypeError) as error:
        # The text of the error could have parts of the key in it.
        raise ValueError(
            f"{KEY_FILE}: {key_file} has no key for {algorithm}, or another passphrase ({type(error).__name__})"
        ) from None
