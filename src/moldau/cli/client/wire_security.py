"""TLS and SASL for our own sockets, configured with librdkafka's properties."""

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click

from moldau.cli.client.wire_tokens import bearer_token
from moldau.cli.failures import Failure
from moldau.core.errors import ConfigError
from moldau.security.sasl.client_login import SUPPORTED, ClientLogin, client_login, token_login
from moldau.security.sasl.exchange import OAUTHBEARER
from moldau.security.tls.contexts import load_key
from moldau.security.tls.stores import key_from_file, key_from_text

PROTOCOLS = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")


@dataclass(frozen=True)
class Security:
    properties: Mapping[str, str]

    @property
    def protocol(self) -> str:
        protocol = self.properties.get("security.protocol", "plaintext").lower()
        if protocol not in PROTOCOLS:
            raise click.UsageError(f"security.protocol={protocol} is not one of {', '.join(PROTOCOLS)}.")
        return protocol

    @property
    def uses_tls(self) -> bool:
        return self.protocol.endswith("ssl")

    @property
    def uses_logins(self) -> bool:
        return self.protocol.startswith("sasl")

    @property
    def mechanism_text(self) -> str:
        """As it is set, whether this module can log in with it or not."""
        return self.properties.get("sasl.mechanism") or self.properties.get("sasl.mechanisms", "GSSAPI")

    def wrap(self, connection: socket.socket, host: str) -> socket.socket:
        if not self.uses_tls:
            return connection
        return self._tls.wrap_socket(connection, server_hostname=host)

    @property
    def mechanism(self) -> str | None:
        """None without SASL."""
        if not self.uses_logins:
            return None
        mechanism = self.mechanism_text
        if mechanism not in (*SUPPORTED, OAUTHBEARER):
            raise Failure(
                f"this command cannot log in with sasl.mechanism={mechanism}.",
                f"It connects without the client library and supports only {', '.join((*SUPPORTED, OAUTHBEARER))}.",
            )
        return mechanism

    def login(self) -> ClientLogin:
        mechanism = self.mechanism
        assert mechanism is not None
        if mechanism == OAUTHBEARER:
            return token_login(lambda: self._token)
        names = ("sasl.username", "sasl.password")
        missing = [name for name in names if name not in self.properties]
        if missing:
            raise click.UsageError(f"{' and '.join(missing)} must be set for sasl.mechanism={mechanism}.")
        return client_login(mechanism, *(self.properties[name] for name in names))

    @cached_property
    def _token(self) -> str:
        return bearer_token(self.properties)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        get = self.properties.get
        try:
            authorities = get("ssl.ca.location")
            is_folder = authorities is not None and Path(authorities).is_dir()
            context = ssl.create_default_context(
                cafile=None if is_folder else authorities,
                capath=authorities if is_folder else None,
                cadata=_lines(get("ssl.ca.pem")),
            )
            self._load_key(context)
        except (OSError, ssl.SSLError, ConfigError) as error:
            raise click.UsageError(f"The ssl.* properties are invalid: {error}.") from error
        if get("ssl.endpoint.identification.algorithm", "https").lower() == "none":
            context.check_hostname = False
        if get("enable.ssl.certificate.verification", "true").lower() == "false":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _load_key(self, context: ssl.SSLContext) -> None:
        """The certificate to show, from whichever of librdkafka's properties has it."""
        get = self.properties.get
        if certificate := get("ssl.certificate.location"):
            context.load_cert_chain(certificate, get("ssl.key.location"), get("ssl.key.password"))
        elif chain := _lines(get("ssl.certificate.pem")):
            load_key(context, key_from_text(chain, _lines(get("ssl.key.pem")), get("ssl.key.password")))
        elif store := get("ssl.keystore.location"):
            load_key(context, key_from_file(store, get("ssl.keystore.password"), None))


def _lines(pem: str | None) -> str | None:
    """In a file the lines of a PEM text may be separated by `\\n`."""
    return None if pem is None else pem.replace("\\n", "\n")
