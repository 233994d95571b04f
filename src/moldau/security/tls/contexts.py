"""Builds the contexts of Python's `ssl` from keys, trusted certificates and the versions allowed."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from moldau.core.errors import ConfigError
from moldau.security.tls import pem
from moldau.security.tls.cipher_names import cipher_suites
from moldau.security.tls.stores import KeyMaterial, TrustMaterial

VERSIONS: Final = {
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
CLIENT_AUTH: Final = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


@dataclass(frozen=True, slots=True)
class TlsMaterial:
    """All that a context is made of."""

    key: KeyMaterial | None
    trust: TrustMaterial | None
    protocols: tuple[str, ...]
    ciphers: tuple[str, ...]
    client_auth: str = "none"
    checks_host: bool = True


def server_context(material: TlsMaterial) -> ssl.SSLContext:
    """ConfigError if the parts do not fit together."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    _prepare(context, material)
    context.verify_mode = CLIENT_AUTH[material.client_auth]
    if context.verify_mode is not ssl.CERT_NONE and material.trust is None:
        raise ConfigError(
            f"ssl.client.auth={material.client_auth} needs the certificates that clients may come with: set "
            "ssl.truststore.location or ssl.truststore.certificates"
        )
    return context


def client_context(material: TlsMaterial) -> ssl.SSLContext:
    """For connections to other brokers. Without trusted certificates of its own it trusts the system's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = material.checks_host
    _prepare(context, material)
    if material.trust is None:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    return context


def _prepare(context: ssl.SSLContext, material: TlsMaterial) -> None:
    _limit_versions(context, material)
    if material.key is not None:
        load_key(context, material.key)
    if material.trust is not None:
        _load_trust(context, material.trust)


def _limit_versions(context: ssl.SSLContext, material: TlsMaterial) -> None:
    unknown = [name for name in material.protocols if name not in VERSIONS]
    if unknown or not material.protocols:
        raise ConfigError(
            f"ssl.enabled.protocols: {', '.join(unknown) or 'the list is empty'}; it takes TLSv1.2 and TLSv1.3"
        )
    versions = {VERSIONS[name] for name in material.protocols}
    if material.ciphers:
        suites = cipher_suites(material.ciphers)
        if suites.older:
            _set_ciphers(context, suites.older, material.ciphers)
        else:
            versions.discard(ssl.TLSVersion.TLSv1_2)
        if not suites.has_1_3:
            versions.discard(ssl.TLSVersion.TLSv1_3)
        if not versions:
            raise ConfigError(
                f"ssl.cipher.suites={','.join(material.ciphers)} has no suite for any of "
                f"ssl.enabled.protocols={','.join(material.protocols)}; add one of that version"
            )
    context.minimum_version = min(versions)
    context.maximum_version = max(versions)


def _set_ciphers(context: ssl.SSLContext, names: str, wanted: tuple[str, ...]) -> None:
    try:
        context.set_ciphers(names)
    except ssl.SSLError:
        raise ConfigError(
            f"ssl.cipher.suites={','.join(wanted)}: the TLS library of this machine has none of them"
        ) from None


def load_key(context: ssl.SSLContext, key: KeyMaterial) -> None:
    with _in_memory(key.pem) as path:
        try:
            context.load_cert_chain(path)
        except ssl.SSLError as error:
            raise ConfigError(
                f"the certificate and the private key of the key store cannot be used: {error.reason or error}; they "
                "must belong together"
            ) from None


def _load_trust(context: ssl.SSLContext, trust: TrustMaterial) -> None:
    # As in Java, a certificate in the trust store is trusted by itself, whoever issued it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    text = pem.certificates_text(trust.certificates) + "".join(trust.revocation_lists)
    if trust.revocation_lists:
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    with _in_memory(text) as path:
        try:
            context.load_verify_locations(cafile=path)
        except ssl.SSLError as error:
            raise ConfigError(f"the trust store cannot be used: {error.reason or error}") from None


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    """A file that is never on a disk: Python takes keys and revocation lists from files only."""
    number = os.memfd_create("pem", os.MFD_CLOEXEC)
    try:
        view = memoryview(text.encode())
        while view:
            view = view[os.write(number, view) :]
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)
