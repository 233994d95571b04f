"""SCRAM credentials (RFC 5802, RFC 7677): what a server keeps in place of a password.

The text form is Kafka's: `salt=...,stored_key=...,server_key=...,iterations=4096`, with base64 for bytes. It is the
value of `SCRAM-SHA-256` or `SCRAM-SHA-512` in the settings of a user.
"""

import hashlib
import hmac
from base64 import b64decode, b64encode
from typing import Final, NamedTuple

from moldau.security.sasl.exchange import SCRAM_SHA_256, SCRAM_SHA_512

ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384
"""Kafka's bound for what is set; larger ones in the store still work."""


class ScramMechanism(NamedTuple):
    name: str
    code: int
    """On the wire, KIP-554."""
    hash_name: str

    def hashed(self, data: bytes) -> bytes:
        return hashlib.new(self.hash_name, data).digest()

    def signed(self, key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, self.hash_name)

    def salted(self, password: str, salt: bytes, iterations: int) -> bytes:
        """`Hi` of RFC 5802. Costs milliseconds, and grows with `iterations`."""
        return hashlib.pbkdf2_hmac(self.hash_name, password.encode(), salt, iterations)


MECHANISMS: Final = {
    each.name: each
    for each in (ScramMechanism(SCRAM_SHA_256, 1, "sha256"), ScramMechanism(SCRAM_SHA_512, 2, "sha512"))
}
MECHANISM_OF_CODE: Final = {each.code: each for each in MECHANISMS.values()}


class ScramCredential(NamedTuple):
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        return "<ScramCredential>"


def credential_of_password(
    mechanism: ScramMechanism, password: str, salt: bytes, iterations: int
) -> ScramCredential:
    salted = mechanism.salted(password, salt, iterations)
    return credential_of_salted(mechanism, salted, salt, iterations)


def credential_of_salted(
    mechanism: ScramMechanism, salted: bytes, salt: bytes, iterations: int
) -> ScramCredential:
    """From the salted password, which is what clients send to change a credential."""
    client_key = mechanism.signed(salted, b"Client Key")
    return ScramCredential(
        salt, mechanism.hashed(client_key), mechanism.signed(salted, b"Server Key"), iterations
    )


def credential_text(credential: ScramCredential) -> str:
    salt, stored_key, server_key, iterations = credential
    return (
        f"salt={_text(salt)},stored_key={_text(stored_key)},"
        f"server_key={_text(server_key)},iterations={iterations}"
    )


def parse_credential(text: str) -> ScramCredential | None:
    """None for a text that is no credential."""
    fields = dict(part.partition("=")[::2] for part in text.split(","))
    try:
        return ScramCredential(
            b64decode(fields["salt"], validate=True),
            b64decode(fields["stored_key"], validate=True),
            b64decode(fields["server_key"], validate=True),
            int(fields["iterations"]),
        )
    except (KeyError, ValueError):
        return None


def _text(data: bytes) -> str:
    return b64encode(data).decode()
