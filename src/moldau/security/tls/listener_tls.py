"""TLS of one listener: the contexts for its clients and for connections to its peers on other brokers.

A changed certificate is taken over by `refresh`, for new connections; the old ones keep theirs.
"""

import ssl
from datetime import UTC, datetime
from typing import Any

from cryptography import x509

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.security.tls.contexts import TlsMaterial, client_context, server_context
from moldau.security.tls.principal_names import PrincipalNames, distinguished_name
from moldau.security.tls.tls_settings import file_states, read_material, settings_of


class ListenerTls:
    """Everything is made at once, so that what is wrong is known before the broker listens. Blocks while it reads
    files; the contexts and `principal_of` may be used on the event loop."""

    def __init__(self, listener: str, settings: BrokerSettings) -> None:
        """ConfigError names the setting or file that is wrong."""
        self.listener = listener
        self._values = settings_of(settings, listener)
        self._files = file_states(self._values)
        self._use(self._values)

    def refresh(self, settings: BrokerSettings) -> bool:
        """Takes over changed settings or files, and says whether there were any. ConfigError if they cannot be used:
        then everything stays as it was, and the same files are not tried again."""
        values = settings_of(settings, self.listener)
        files = file_states(values)
        if values == self._values and files == self._files:
            return False
        self._files = files
        if None in files:
            raise ConfigError(
                "a key or trust store is missing or cannot be read; new connections get the certificate that was "
                "loaded before"
            )
        self._use(values, self._material)
        self._values = values
        return True

    def check(self, settings: BrokerSettings) -> None:
        """ConfigError if `refresh` would refuse these settings."""
        values = settings_of(settings, self.listener)
        if values != self._values:
            material = read_material(values)
            _check_same_names(values, self._material, material)
            server_context(material)

    def principal_of(self, certificate: bytes) -> str:
        """The principal of a client certificate (DER), as `User:name`. ValueError if the rules give it none."""
        name = distinguished_name(x509.load_der_x509_certificate(certificate).subject)
        return f"User:{self._names.name_of(name)}"

    @property
    def expires_at(self) -> datetime:
        """When the first certificate of the listener's chain expires."""
        key = self._material.key
        assert key is not None, "a listener with TLS has a certificate"
        return min(_expiry(each) for each in key.chain)

    @property
    def subject(self) -> str:
        """The name in the listener's certificate."""
        key = self._material.key
        assert key is not None, "a listener with TLS has a certificate"
        return distinguished_name(key.certificate.subject)

    def _use(self, values: dict[str, Any], before: TlsMaterial | None = None) -> None:
        try:
            material = read_material(values)
            if before is not None:
                _check_same_names(values, before, material)
            server, client = server_context(material), client_context(material)
            names = PrincipalNames(values["ssl.principal.mapping.rules"])
        except ConfigError as error:
            raise ConfigError(f"listener {self.listener}: {error}") from None
        self._material = material
        self._names = names
        self.server: ssl.SSLContext = server
        self.client: ssl.SSLContext = client


def _expiry(certificate: bytes) -> datetime:
    return x509.load_der_x509_certificate(certificate).not_valid_after_utc.astimezone(UTC)


def _check_same_names(values: dict[str, Any], before: TlsMaterial, after: TlsMaterial) -> None:
    """A new certificate must have the name and the alternative names of the old one, as in Kafka: clients check
    them."""
    if before.key is None or after.key is None:
        return
    old, new = before.key.certificate, after.key.certificate
    if old.subject != new.subject and not values["ssl.allow.dn.changes"]:
        raise ConfigError(
            f"the new certificate is for {distinguished_name(new.subject)}, the one in use for "
            f"{distinguished_name(old.subject)}; use one with the same name, or set ssl.allow.dn.changes=true"
        )
    missing = _alternative_names(old) - _alternative_names(new)
    if missing and not values["ssl.allow.san.changes"]:
        raise ConfigError(
            f"the new certificate lacks the alternative names {', '.join(sorted(missing))} of the one in use; add "
            "them, or set ssl.allow.san.changes=true"
        )


def _alternative_names(certificate: x509.Certificate) -> set[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return set()
    return {str(each.value) for each in found.value}
