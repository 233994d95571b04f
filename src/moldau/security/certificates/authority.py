"""Issues certificates: a self-signed authority, certificates of servers and of clients, revocation lists."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CLOCK_SKEW: Final = timedelta(hours=1)
"""A certificate is valid from this long ago: the clocks of two machines differ."""
AUTHORITY_DAYS: Final = 3650
CERTIFICATE_DAYS: Final = 397
RSA_BITS: Final = 2048


class KeyKind(Enum):
    EC = "ec"
    RSA = "rsa"


@dataclass(frozen=True, slots=True, repr=False)
class Issued:
    """A private key with its certificate. Has no text form: the key is secret."""

    key: CertificateIssuerPrivateKeyTypes
    certificate: x509.Certificate

    @property
    def key_pem(self) -> str:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()


def create_authority(
    name: str, *, now: datetime, days: int = AUTHORITY_DAYS, kind: KeyKind = KeyKind.EC
) -> Issued:
    key = _new_key(kind)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    key_id = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = (
        _builder(subject, subject, now, days)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(key_id, critical=False)
    )
    return Issued(key, builder.sign(key, hashes.SHA256()))


def issue(
    authority: Issued,
    subject: x509.Name,
    *,
    now: datetime,
    hosts: Sequence[str] = (),
    days: int = CERTIFICATE_DAYS,
    kind: KeyKind = KeyKind.EC,
) -> Issued:
    """A certificate for `subject`, which may be a server and a client: brokers are both. It ends with its authority at
    the latest."""
    key = _new_key(kind)
    ca = authority.certificate
    builder = (
        _builder(subject, ca.subject, now, days, latest=ca.not_valid_after_utc)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
            critical=False,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_authority_key_id(ca), critical=False)
    )
    if hosts:
        names = x509.SubjectAlternativeName([alternative_name(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return Issued(key, builder.sign(authority.key, hashes.SHA256()))


def revocation_list(
    authority: Issued, revoked: Iterable[tuple[int, datetime]], *, now: datetime, days: int = AUTHORITY_DAYS
) -> x509.CertificateRevocationList:
    """`revoked`: serial numbers with the time of their revocation."""
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.certificate.subject)
        .last_update(now - CLOCK_SKEW)
        .next_update(min(now + timedelta(days=days), authority.certificate.not_valid_after_utc))
        .add_extension(_authority_key_id(authority.certificate), critical=False)
        .add_extension(x509.CRLNumber(int(now.timestamp())), critical=False)
    )
    for serial, at in revoked:
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(at).build()
        builder = builder.add_revoked_certificate(entry)
    return builder.sign(authority.key, hashes.SHA256())


def alternative_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _new_key(kind: KeyKind) -> ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey:
    if kind is KeyKind.RSA:
        return rsa.generate_private_key(65_537, RSA_BITS)
    return ec.generate_private_key(ec.SECP256R1())


def _builder(
    subject: x509.Name, issuer: x509.Name, now: datetime, days: int, *, latest: datetime | None = None
) -> x509.CertificateBuilder:
    ends = now.astimezone(UTC) + timedelta(days=days)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now.astimezone(UTC) - CLOCK_SKEW)
        .not_valid_after(ends if latest is None else min(ends, latest))
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs_certificates,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _authority_key_id(authority: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    found = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(found.value)
