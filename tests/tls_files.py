"""Certificates for tests: an authority, a broker's certificate and clients' certificates, as files in every form."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12
from cryptography.x509.oid import NameOID

from moldau.security.certificates.authority import Issued, common_name, create_authority, issue

PASSWORD = "geheim"
HOSTS = ("localhost", "127.0.0.1")


@dataclass(frozen=True)
class TlsFiles:
    folder: Path
    authority: Issued

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    def pem(self, name: str) -> Path:
        """The private key and the certificate of `name` in one file."""
        return self.folder / f"{name}.pem"

    def certificate(self, name: str) -> Path:
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def issue(self, name: str, *, subject: x509.Name | None = None, hosts: tuple[str, ...] = ()) -> Issued:
        """Writes the files of `name`, over those of an earlier certificate."""
        issued = issue(self.authority, subject or common_name(name), now=datetime.now(UTC), hosts=hosts)
        self.certificate(name).write_text(issued.certificate_pem)
        self.key(name).write_text(issued.key_pem)
        replacement = self.folder / f"{name}.new"
        replacement.write_text(issued.key_pem + issued.certificate_pem)
        replacement.rename(self.pem(name))
        return issued

    def broker_settings(self) -> dict[str, str]:
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.pem("broker")),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca),
        }

    def librdkafka_settings(self, client: str | None = None) -> Mapping[str, str]:
        settings = {"security.protocol": "SSL", "ssl.ca.location": str(self.ca)}
        if client is not None:
            settings["ssl.certificate.location"] = str(self.certificate(client))
            settings["ssl.key.location"] = str(self.key(client))
        return settings

    def java_settings(self, client: str | None = None) -> Mapping[str, str]:
        settings = {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca),
        }
        if client is not None:
            settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(self.pem(client))}
        return settings


def make_tls_files(folder: Path) -> TlsFiles:
    """With a certificate of the broker and one of the client alice."""
    folder.mkdir(parents=True, exist_ok=True)
    files = TlsFiles(folder, create_authority("Test CA", now=datetime.now(UTC)))
    files.ca.write_text(files.authority.certificate_pem)
    files.issue("broker", hosts=HOSTS)
    files.issue("alice", subject=alice_name())
    return files


def alice_name() -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "CZ"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Mill, Ltd."),
            x509.NameAttribute(NameOID.COMMON_NAME, "alice"),
        ]
    )


def pkcs12_store(issued: Issued, authority: Issued, password: str = PASSWORD) -> bytes:
    return pkcs12.serialize_key_and_certificates(
        b"broker",
        issued.key,  # type: ignore[arg-type]  # The library's own names of the same kinds of keys.
        issued.certificate,
        [authority.certificate],
        BestAvailableEncryption(password.encode()),
    )
