"""TLS, logins and rules of access for a `LocalCluster`: its certificates, its users, and the settings of clients."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_bytes
from typing import Final

from moldau.broker.broker import Broker
from moldau.coordination.security.entity_nodes import user_entity
from moldau.security.certificates.certificate_folder import CertificateFolder
from moldau.security.credentials.scram_credential import (
    ITERATIONS_MIN,
    credential_of_password,
    credential_text,
)
from moldau.security.credentials.scram_credential import MECHANISMS as SCRAM

PROTOCOLS: Final = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
BROKER_USER: Final = "broker"
BROKER_PASSWORD: Final = "broker-secret"  # noqa: S105 of a cluster for tests
SALT_BYTES: Final = 16
HOSTS: Final = ("127.0.0.1", "localhost")


@dataclass(frozen=True, kw_only=True)
class Security:
    """What a cluster asks of its clients.

    `users` log in with their passwords by PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; with SSL they have certificates, whose
    principals are `User:CN=<name>`. With `acls` all is refused that no rule allows, except to `super_users`.
    """

    protocol: str = "SASL_SSL"
    users: Mapping[str, str] = field(default_factory=lambda: {"admin": "admin-secret"})
    mechanism: str = "SCRAM-SHA-512"
    """With which `client_settings` log in."""
    acls: bool = False
    super_users: tuple[str, ...] = ("admin",)

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise ValueError(f"protocol={self.protocol!r} is not one of {', '.join(PROTOCOLS)}")
        if self.mechanism not in MECHANISMS:
            raise ValueError(f"mechanism={self.mechanism!r} is not one of {', '.join(MECHANISMS)}")

    @property
    def has_tls(self) -> bool:
        return self.protocol.endswith("SSL")

    @property
    def has_sasl(self) -> bool:
        return self.protocol.startswith("SASL")


class SecuredCluster:
    """The files of one running cluster, and the settings that follow from them."""

    def __init__(self, security: Security) -> None:
        self.security = security
        self._temporary = tempfile.TemporaryDirectory(prefix="moldau-tls-", ignore_cleanup_errors=True)
        self.certificates = CertificateFolder(Path(self._temporary.name))
        if security.has_tls:
            self.certificates.create("Moldau test kit")
            self.certificates.issue(BROKER_USER, HOSTS)
            if not security.has_sasl:
                for user in security.users:
                    self.certificates.issue(user)

    def close(self) -> None:
        self._temporary.cleanup()

    def broker_settings(self) -> dict[str, str]:
        security = self.security
        settings = {"security.inter.broker.protocol": security.protocol}
        if security.has_tls:
            settings |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": str(self.certificates.store(BROKER_USER)),
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(self.certificates.trust),
                "ssl.client.auth": "none" if security.has_sasl else "required",
            }
        if security.has_sasl:
            settings |= self._login_settings()
        if security.acls:
            supers = [self.principal(user) for user in (*security.super_users, BROKER_USER)]
            settings |= {"authorizer.class.name": "acl", "super.users": ";".join(supers)}
        return settings

    async def add_users(self, broker: Broker) -> None:
        """Writes the users' SCRAM credentials, which are kept in the cluster."""
        if not self.security.has_sasl:
            return
        for user, password in self.security.users.items():
            texts = {
                mechanism.name: credential_text(
                    credential_of_password(mechanism, password, token_bytes(SALT_BYTES), ITERATIONS_MIN)
                )
                for mechanism in SCRAM.values()
            }
            await broker.security.write_entity(user_entity(user), partial(_added, texts))

    def principal(self, user: str) -> str:
        """As rules of access name the user."""
        return f"User:{user}" if self.security.has_sasl else f"User:CN={user}"

    def client_settings(self, user: str | None, mechanism: str | None) -> dict[str, str]:
        security = self.security
        name = next(iter(security.users)) if user is None else user
        if name not in security.users:
            raise LookupError(f"there is no user {name}: the users are {', '.join(security.users)}")
        settings = {"security.protocol": security.protocol}
        if security.has_tls:
            settings["ssl.ca.location"] = str(self.certificates.trust)
        if security.has_sasl:
            settings |= {
                "sasl.mechanism": mechanism or security.mechanism,
                "sasl.username": name,
                "sasl.password": security.users[name],
            }
        else:
            settings |= {
                "ssl.certificate.location": str(self.certificates.certificate_file(name)),
                "ssl.key.location": str(self.certificates.key_file(name)),
            }
        return settings

    def _login_settings(self) -> dict[str, str]:
        listener = self.security.protocol.lower()
        users = {**self.security.users, BROKER_USER: BROKER_PASSWORD}
        known = " ".join(f"user_{name}={_quoted(password)}" for name, password in users.items())
        module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        own = f'username="{BROKER_USER}" password="{BROKER_PASSWORD}"'
        return {
            "sasl.enabled.mechanisms": ",".join(MECHANISMS),
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            f"listener.name.{listener}.plain.sasl.jaas.config": f"{module} {own} {known};",
        }


def _added(texts: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    return {**present, **texts}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
