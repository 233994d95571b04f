"""What is wrong with the certificates of a folder, and for how long they are valid."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from moldau.security.certificates.authority import Issued
from moldau.security.certificates.certificate_folder import CertificateFolder, hosts_of
from moldau.security.tls.principal_names import distinguished_name

RENEW_BEFORE: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Described:
    name: str
    subject: str
    hosts: tuple[str, ...]
    expires_at: datetime
    status: str
    """`valid`, or what is wrong."""
    serial: int
    is_replaced: bool = False
    """It was issued, but its files are those of another one by now, or are gone."""


def describe(folder: CertificateFolder) -> Iterator[Described]:
    """The authorities first, then what they issued, with what was replaced and has not expired."""
    now = datetime.now(UTC)
    trusted = folder.trusted()
    for number, authority in enumerate(trusted):
        name = "ca" if number == 0 else f"ca ({folder.rotation})"
        yield _described(name, authority, now, [])
    revoked, recorded = folder.revoked_serials(), folder.recorded()
    in_files = set()
    for name in folder.names():
        issued = folder.find(name)
        in_files.add(issued.certificate.serial_number)
        faults = (
            ["revoked"] if issued.certificate.serial_number in revoked else list(_faults(issued, trusted))
        )
        yield _described(name, issued.certificate, now, faults)
    for each in recorded:
        if each.serial not in in_files:
            status = "replaced, revoked" if each.serial in revoked else "replaced, not revoked"
            yield Described(
                each.name, each.subject, each.hosts, each.ends, status, each.serial, is_replaced=True
            )


def _described(name: str, certificate: x509.Certificate, now: datetime, faults: list[str]) -> Described:
    ends = certificate.not_valid_after_utc
    if ends <= now:
        faults = [*faults, "expired"]
    elif ends - now < RENEW_BEFORE:
        faults = [*faults, f"expires in {(ends - now).days} days"]
    if certificate.not_valid_before_utc > now:
        faults = [*faults, "not valid yet"]
    return Described(
        name,
        distinguished_name(certificate.subject),
        tuple(hosts_of(certificate)),
        ends,
        ", ".join(faults) or "valid",
        certificate.serial_number,
    )


def _faults(issued: Issued, trusted: list[x509.Certificate]) -> Iterator[str]:
    if not any(_is_issued_by(issued.certificate, authority) for authority in trusted):
        yield "issued by an authority that is not trusted"
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if issued.key.public_key().public_bytes(*form) != issued.certificate.public_key().public_bytes(*form):
        yield "the private key belongs to another certificate"


def _is_issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
