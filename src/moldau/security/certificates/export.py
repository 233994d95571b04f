"""Key and trust stores in the forms that other programs take: PKCS12 and JKS for Java, PEM for all others."""

from collections.abc import Sequence
from enum import Enum
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from moldau.core.errors import ConfigError
from moldau.security.certificates.authority import Issued
from moldau.security.tls.jks import JksKey, write_jks

PASSWORD_CHARS_MIN: Final = 6
"""Java's keytool opens no store with a shorter password."""


class StoreKind(Enum):
    PEM = "pem"
    PKCS12 = "pkcs12"
    JKS = "jks"


def key_store(
    kind: StoreKind, name: str, issued: Issued, authority: x509.Certificate, password: str, *, now_ms: int
) -> bytes:
    """The private key with its chain. The password protects PKCS12 and JKS; a PEM store is not encrypted."""
    if kind is StoreKind.PEM:
        return f"{issued.key_pem}{issued.certificate_pem}".encode()
    _check(password)
    if kind is StoreKind.PKCS12:
        return pkcs12.serialize_key_and_certificates(
            name.encode(),
            issued.key,  # type: ignore[arg-type]  # The library's other name of the same kinds of keys.
            issued.certificate,
            [authority],
            BestAvailableEncryption(password.encode()),
        )
    key = issued.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    chain = (_der(issued.certificate), _der(authority))
    return write_jks(password, keys=[JksKey(name, key, chain)], now_ms=now_ms)


def trust_store(
    kind: StoreKind, authorities: Sequence[x509.Certificate], password: str, *, now_ms: int
) -> bytes:
    """The authorities to trust."""
    if kind is StoreKind.PEM:
        return b"".join(each.public_bytes(Encoding.PEM) for each in authorities)
    _check(password)
    if kind is StoreKind.JKS:
        return write_jks(password, certificates=[_der(each) for each in authorities], now_ms=now_ms)
    # Java takes a certificate in a PKCS12 store for trusted only with an attribute of its own.
    serialize = getattr(pkcs12, "serialize_java_truststore", None)
    if serialize is None:
        raise ConfigError(
            "this version of the package cryptography cannot write trust stores in PKCS12; update it, or use JKS or PEM"
        )
    entries = [
        pkcs12.PKCS12Certificate(each, f"ca-{number}".encode()) for number, each in enumerate(authorities)
    ]
    data: bytes = serialize(entries, BestAvailableEncryption(password.encode()))
    return data


def _check(password: str) -> None:
    if len(password) < PASSWORD_CHARS_MIN:
        raise ConfigError(
            f"the password of a store has at least {PASSWORD_CHARS_MIN} characters: Java opens no other"
        )


def _der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.DER)
