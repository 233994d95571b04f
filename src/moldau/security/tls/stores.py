"""Keys and trusted certificates, from any of the forms that Kafka knows. The form is recognised by the content.

Blocks while it reads a file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    load_pem_private_key,
    pkcs12,
)

from moldau.core.errors import ConfigError
from moldau.security.tls import pem
from moldau.security.tls.jks import JksError, is_jks, read_jks

JCEKS_MAGIC: Final = b"\xce\xce\xce\xce"
DER_SEQUENCE: Final = 0x30


@dataclass(frozen=True, slots=True, repr=False)
class KeyMaterial:
    """A private key and its certificates. Has no text form: the key is secret."""

    key: str
    """PEM, not encrypted."""
    chain: tuple[bytes, ...]
    """Certificates in DER, the key's own first."""

    @property
    def pem(self) -> str:
        return self.key + pem.certificates_text(self.chain)

    @property
    def certificate(self) -> x509.Certificate:
        return x509.load_der_x509_certificate(self.chain[0])


@dataclass(frozen=True, slots=True)
class TrustMaterial:
    certificates: tuple[bytes, ...]
    """In DER."""
    revocation_lists: tuple[str, ...] = ()
    """In PEM. Where there are some, every certificate is looked up in them."""


def key_from_file(path: str, password: str | None, key_password: str | None) -> KeyMaterial:
    """ConfigError names the file and what to do."""
    data = _read(path, "ssl.keystore.location")
    try:
        return _key_from(data, password, key_password)
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"the key store {path} (ssl.keystore.location) cannot be used: {error}; check the file, "
            "ssl.keystore.password and ssl.key.password"
        ) from None


def key_from_text(chain: str, key: str | None, key_password: str | None) -> KeyMaterial:
    """From `ssl.keystore.certificate.chain` and `ssl.keystore.key` (KIP-651)."""
    try:
        return _key_from_pem(f"{key or ''}\n{chain}", key_password)
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"ssl.keystore.certificate.chain and ssl.keystore.key cannot be used: {error}"
        ) from None


def trust_from_file(path: str, password: str | None) -> TrustMaterial:
    """ConfigError names the file and what to do."""
    data = _read(path, "ssl.truststore.location")
    try:
        return _some(_trust_from(data, password))
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"the trust store {path} (ssl.truststore.location) cannot be used: {error}; check the file and "
            "ssl.truststore.password"
        ) from None


def trust_from_text(text: str) -> TrustMaterial:
    """From `ssl.truststore.certificates` (KIP-651)."""
    try:
        return _some(_trust_from_pem(text))
    except ValueError as error:
        raise ConfigError(f"ssl.truststore.certificates cannot be used: {error}") from None


def _read(path: str, setting: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot read {path} ({setting}): {error.strerror}; correct the path, or let this user read the file"
        ) from None


def _key_from(data: bytes, password: str | None, key_password: str | None) -> KeyMaterial:
    if is_jks(data):
        store = read_jks(data, password, key_password)
        if not store.keys:
            raise JksError("it has no private key")
        entry = store.keys[0]
        return KeyMaterial(_key_text(load_der_private_key(entry.key, None)), entry.chain)
    _refuse_jceks(data)
    if data[:1] == bytes([DER_SEQUENCE]):
        key, certificate, others = pkcs12.load_key_and_certificates(data, _secret(password))
        if key is None or certificate is None:
            raise ValueError("it has no private key with a certificate")
        chain = _chain(certificate, others)
        return KeyMaterial(_key_text(key), tuple(each.public_bytes(Encoding.DER) for each in chain))
    return _key_from_pem(data.decode(errors="replace"), key_password or password)


def _key_from_pem(text: str, key_password: str | None) -> KeyMaterial:
    key_block = pem.private_key_of(text)
    if key_block is None:
        raise ValueError("there is no private key in PEM")
    chain = tuple(pem.certificates_of(text))
    if not chain:
        raise ValueError("there is no certificate in PEM")
    is_encrypted = "ENCRYPTED" in key_block
    if is_encrypted and key_password is None:
        raise ValueError("the private key is encrypted and ssl.key.password is not set")
    key = load_pem_private_key(key_block.encode(), _secret(key_password) if is_encrypted else None)
    return KeyMaterial(_key_text(key), chain)


def _trust_from(data: bytes, password: str | None) -> TrustMaterial:
    if is_jks(data):
        return TrustMaterial(read_jks(data, password, password or "").certificates)
    _refuse_jceks(data)
    if data[:1] == bytes([DER_SEQUENCE]):
        store = pkcs12.load_pkcs12(data, _secret(password))
        found = [store.cert, *store.additional_certs] if store.cert else store.additional_certs
        return TrustMaterial(tuple(each.certificate.public_bytes(Encoding.DER) for each in found))
    return _trust_from_pem(data.decode(errors="replace"))


def _trust_from_pem(text: str) -> TrustMaterial:
    return TrustMaterial(tuple(pem.certificates_of(text)), tuple(pem.revocation_lists_of(text)))


def _some(found: TrustMaterial) -> TrustMaterial:
    if not found.certificates:
        raise ValueError("it has no certificate")
    return found


def _refuse_jceks(data: bytes) -> None:
    if data[:4] == JCEKS_MAGIC:
        raise ValueError(
            "it is a JCEKS store; convert it with `keytool -importkeystore -deststoretype PKCS12`"
        )


def _chain(certificate: x509.Certificate, others: list[x509.Certificate]) -> list[x509.Certificate]:
    """From the key's certificate upwards, as a server must send it; a PKCS12 store has them in any order."""
    chain, left = [certificate], list(others)
    while chain[-1].issuer != chain[-1].subject:
        issuer = next((each for each in left if each.subject == chain[-1].issuer), None)
        if issuer is None:
            break
        left.remove(issuer)
        chain.append(issuer)
    return chain


def _key_text(key: object) -> str:
    text: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())  # type: ignore[attr-defined]
    return text.decode()


def _secret(password: str | None) -> bytes | None:
    return None if password is None else password.encode()
