"""TLS and SASL for our own sockets, configured with librdkafka's properties."""

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import click

from moldau.cli.failures import Failure
from moldau.security.sasl.client_login import SUPPORTED, ClientLogin, client_login

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

    def wrap(self, connection: socket.socket, host: str) -> socket.socket:
        if not self.protocol.endswith("ssl"):
            return connection
        return self._tls.wrap_socket(connection, server_hostname=host)

    @property
    def mechanism(self) -> str | None:
        """None without SASL."""
        if not self.protocol.startswith("sasl"):
            return None
        mechanism = self.properties.get("sasl.mechanism") or self.properties.get("sasl.mechanisms", "GSSAPI")
        if mechanism not in SUPPORTED:
            raise Failure(
                f"this command cannot log in with sasl.mechanism={mechanism}.",
                f"It connects without the client library and supports only {', '.join(SUPPORTED)}.",
            )
        return mechanism

    def login(self) -> ClientLogin:
        mechanism = self.mechanism
        assert mechanism is not None
        names = ("sasl.username", "sasl.password")
        missing = [name for name in names if name not in self.properties]
        if missing:
            raise click.UsageError(f"{' and '.join(missing)} must be set for sasl.mechanism={mechanism}.")
        return client_login(mechanism, *(self.properties[name] for name in names))

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        get = self.properties.get
        try:
            context = ssl.create_default_context(cafile=get("ssl.ca.location"))
            if certificate := get("ssl.certificate.location"):
                context.load_cert_chain(certificate, get("ssl.key.location"), get("ssl.key.password"))
        except (OSError, ssl.SSLError) as error:
            raise click.UsageError(f"The ssl.* properties are invalid: {error}.") from error
        if get("ssl.endpoint.identification.algorithm", "https").lower() == "none":
            context.check_hostname = False
        if get("enable.ssl.certificate.verification", "true").lower() == "false":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context
