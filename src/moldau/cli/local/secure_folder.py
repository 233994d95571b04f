"""The folder of `moldau up --secure`: where its files are, its users, and the settings with which they connect."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moldau.cli.client.https import NETRC_VARIABLE
from moldau.security.certificates.certificate_folder import CertificateFolder, hosts_of

PROTOCOL: Final = "SASL_SSL"
MECHANISM: Final = "SCRAM-SHA-512"
BROKER: Final = "broker"
PLATFORM: Final = "platform"
ADMIN: Final = "admin"
DEMO: Final = "demo"
USERS: Final = (BROKER, PLATFORM, ADMIN, DEMO)
SECRET_MODE: Final = 0o600
SCRAM_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True, repr=False)
class SecureFolder:
    """What `prepare` has made."""

    folder: Path
    passwords: Mapping[str, str]
    certificates: CertificateFolder

    @property
    def broker_file(self) -> Path:
        return self.folder / "broker.properties"

    @property
    def protocol(self) -> str:
        return PROTOCOL

    @property
    def broker_client(self) -> dict[str, str]:
        """With which this command connects before there are other users."""
        return self.client_settings(BROKER)

    @property
    def admin_file(self) -> Path:
        return self.client_file(ADMIN)

    @property
    def trust_file(self) -> str:
        """Absolute: whom clients trust."""
        return str(self.certificates.trust.resolve())

    @property
    def key_store(self) -> str:
        """Absolute: the certificate of the brokers and of the services beside them."""
        return str(self.certificates.store(BROKER).resolve())

    @property
    def netrc(self) -> Path:
        return self.folder / "netrc"

    @property
    def variables(self) -> str:
        """What precedes a command of `moldau` for an HTTP service: the authority, and the login of the admin."""
        return f"SSL_CERT_FILE={self.certificates.trust} {NETRC_VARIABLE}={self.netrc} "

    @property
    def mqtt_users(self) -> Path:
        return self.folder / "mqtt-users"

    @property
    def connect_login(self) -> Path:
        """With which the SQL server logs in to the Connect worker."""
        return self.folder / "connect-login.properties"

    @property
    def hosts(self) -> list[str]:
        """The names and addresses in the certificate."""
        if BROKER not in self.certificates.names():
            return []
        return hosts_of(self.certificates.find(BROKER).certificate)

    def service_file(self, name: str) -> Path:
        """The settings of `registry`, `rest`, `connect`, `sql` or `mqtt`."""
        return self.folder / f"{name}.properties"

    def client_file(self, user: str, form: str = "properties") -> Path:
        return self.folder / "clients" / f"{user}.{form}"

    def client_settings(self, user: str) -> dict[str, str]:
        """For confluent-kafka, kcat and everything else on librdkafka. Brokers log in by PLAIN, because their user must
        exist before there is a cluster to keep it; all others by SCRAM."""
        return {
            "security.protocol": PROTOCOL,
            "ssl.ca.location": self.trust_file,
            "sasl.mechanism": "PLAIN" if user == BROKER else MECHANISM,
            "sasl.username": user,
            "sasl.password": self.passwords[user],
        }

    def java_settings(self, user: str) -> dict[str, str]:
        login = f'{SCRAM_MODULE} required username="{user}" password="{self.passwords[user]}";'
        return {
            "security.protocol": PROTOCOL,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.trust_file,
            "sasl.mechanism": MECHANISM,
            "sasl.jaas.config": login,
        }


def properties_text(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}={text}\n" for name, text in settings.items())


def write_secret(path: Path, text: str) -> None:
    """Readable by its owner alone; replaces the file as a whole."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, SECRET_MODE), "w") as file:
        file.write(text)
    temporary.replace(path)
