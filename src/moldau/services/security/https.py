"""The TLS context of a service's listener. A changed key store is taken over by new connections."""

import logging
import ssl
from collections.abc import Mapping
from typing import Any

from cryptography import x509

from moldau.core.errors import ConfigError
from moldau.security.tls.contexts import client_context, load_key, server_context
from moldau.security.tls.principal_names import PrincipalNames, distinguished_name
from moldau.security.tls.tls_settings import file_states, read_material

log = logging.getLogger("moldau.services")


class Https:
    """Made at once, so that what is wrong is known before the service listens."""

    def __init__(self, values: Mapping[str, Any], protocols: list[str]) -> None:
        """`values` of `security_values`. `protocols` are offered to clients, the best first. Raises ConfigError."""
        self._values = {
            **values,
            "ssl.client.auth": values["ssl.client.authentication"].lower(),
            "ssl.endpoint.identification.algorithm": "",
        }
        material = read_material(self._values)
        if material.key is None:
            raise ConfigError(
                "listeners: https needs a certificate: set ssl.keystore.location (PEM, PKCS12 or JKS), or "
                "ssl.keystore.certificate.chain and ssl.keystore.key"
            )
        self.context: ssl.SSLContext = server_context(material)
        self.context.set_alpn_protocols(protocols)
        self._names = PrincipalNames(values["ssl.principal.mapping.rules"])
        self._files = file_states(self._values)
        self._to_others: ssl.SSLContext | None = None

    def to_others(self) -> ssl.SSLContext:
        """For connections to other instances of the service: it trusts whom the trust store names, and shows the
        listener's own certificate where it is asked for one. Raises ConfigError. Blocks the first time."""
        found = self._to_others
        if found is None:
            values = {**self._values, "ssl.endpoint.identification.algorithm": "https"}
            found = self._to_others = client_context(read_material(values))
        return found

    def principal_of(self, certificate: bytes) -> str:
        """Of a client's certificate (DER), as `User:name`. ValueError if the rules give it none."""
        return f"User:{self._names.name_of(distinguished_name(x509.load_der_x509_certificate(certificate).subject))}"

    def refresh(self) -> None:
        """Takes over a key store that was replaced. One that cannot be used is logged, and the old one stays. Blocks
        while it reads."""
        files = file_states(self._values)
        if files == self._files:
            return
        self._files = files
        self._to_others = None
        try:
            key = read_material(self._values).key
            if None in files or key is None:
                raise ConfigError("a key or trust store is missing or cannot be read")
            load_key(self.context, key)
        except ConfigError as error:
            log.error("new connections get the certificate that was loaded before: %s", error)
        else:
            log.info("new connections get the certificate of the changed key store")
