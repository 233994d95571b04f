"""The files of a certificate authority and of what it issued.

    ca.pem, ca.key          the authority that signs
    trust.pem               every authority that is trusted at the moment, with their revocation lists
    NAME.pem                private key and certificate of NAME in one file: the key store of a broker or client
    NAME.crt, NAME.key      the same in two files
    authority.json          what else is known: which certificates were issued, and which of them are revoked

Private keys are readable by their owner alone. A file is replaced as a whole, so that brokers, which watch theirs,
never read half of one. Blocks.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from moldau.core.errors import ConfigError
from moldau.security.certificates.authority import (
    AUTHORITY_DAYS,
    CERTIFICATE_DAYS,
    Issued,
    KeyKind,
    common_name,
    create_authority,
    issue,
    revocation_list,
)
from moldau.security.tls import pem
from moldau.security.tls.principal_names import distinguished_name

SECRET_MODE: Final = 0o600
PUBLIC_MODE: Final = 0o644
FOLDER_MODE: Final = 0o700
STATE: Final = "authority.json"
CA: Final = "ca"
TRUST: Final = "trust.pem"
RESERVED: Final = frozenset({CA, "trust", "authority", "next-ca", "old-ca"})
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,100}")


@dataclass(slots=True)
class Revoked:
    serial: int
    at: datetime
    authority: str
    """The fingerprint of the authority that had issued it."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A certificate that was issued; its files may have been replaced since."""

    name: str
    serial: int
    subject: str
    hosts: tuple[str, ...]
    ends: datetime
    authority: str
    """The fingerprint of the authority that issued it."""


@dataclass(slots=True)
class AuthorityState:
    revoked: list[Revoked] = field(default_factory=list)
    issued: list[Recorded] = field(default_factory=list)


class CertificateFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def trust(self) -> Path:
        return self.path / TRUST

    @property
    def is_made(self) -> bool:
        return (self.path / "ca.key").exists()

    def store(self, name: str) -> Path:
        """The key store of `name`: private key and certificate, PEM."""
        return self.path / f"{name}.pem"

    def certificate_file(self, name: str) -> Path:
        return self.path / f"{name}.crt"

    def key_file(self, name: str) -> Path:
        return self.path / f"{name}.key"

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.path.glob("*.crt"))

    def create(
        self, authority_name: str, *, days: int = AUTHORITY_DAYS, kind: KeyKind = KeyKind.EC
    ) -> Issued:
        """ConfigError if there is an authority already."""
        if self.is_made:
            raise ConfigError(
                f"{self.path} has a certificate authority already; use it, or choose another folder with --folder"
            )
        self.path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        authority = create_authority(authority_name, now=_now(), days=days, kind=kind)
        self._write_authority(CA, authority)
        self._write_trust()
        return authority

    def authority(self, name: str = CA) -> Issued:
        """ConfigError if there is none."""
        certificate, key = self.path / f"{name}.pem", self.path / f"{name}.key"
        if not key.exists():
            raise ConfigError(
                f"{self.path} has no certificate authority; make one with `moldau certs init --folder {self.path}`"
            )
        return _load(certificate, key)

    def find(self, name: str) -> Issued:
        """ConfigError for a name nothing was issued for."""
        if not self.certificate_file(name).exists():
            known = ", ".join(self.names()) or "none"
            raise ConfigError(f"{self.path} has no certificate of {name}; there are: {known}")
        return _load(self.certificate_file(name), self.key_file(name))

    def issue(
        self,
        name: str,
        hosts: Sequence[str] = (),
        *,
        subject: x509.Name | None = None,
        days: int = CERTIFICATE_DAYS,
        kind: KeyKind = KeyKind.EC,
    ) -> Issued:
        """Replaces an earlier certificate of that name."""
        if not _NAME.fullmatch(name) or name in RESERVED:
            raise ConfigError(
                f"{name!r} cannot be the name of a certificate: it is the name of files; use letters, digits and . _ @ "
                f"- and none of {', '.join(sorted(RESERVED))}"
            )
        authority = self.authority()
        try:
            issued = issue(
                authority, subject or common_name(name), now=_now(), hosts=hosts, days=days, kind=kind
            )
        except ValueError as error:
            raise ConfigError(
                f"no certificate can have the subject or the hosts {', '.join(hosts)} of {name}: {error}; names "
                "of hosts have ASCII letters alone, and a country has two"
            ) from None
        self._record(name, issued.certificate)
        _write(self.key_file(name), issued.key_pem, SECRET_MODE)
        _write(self.certificate_file(name), issued.certificate_pem, PUBLIC_MODE)
        _write(self.store(name), issued.key_pem + issued.certificate_pem, SECRET_MODE)
        return issued

    def renew(self, name: str, *, days: int = CERTIFICATE_DAYS) -> Issued:
        """A new key and certificate with the names of the old one, by the authority of now."""
        old = self.find(name)
        kind = KeyKind.RSA if hasattr(old.key.public_key(), "encrypt") else KeyKind.EC
        subject = old.certificate.subject
        return self.issue(name, hosts_of(old.certificate), subject=subject, days=days, kind=kind)

    def recorded(self) -> list[Recorded]:
        """Every certificate that was issued and has not expired, in the order of issue. Of those issued before records
        were kept the ones whose files are there."""
        return self._known(self._state())

    def revocable(self, name: str) -> list[Recorded]:
        """What was issued for `name` and has not expired, replaced certificates included. ConfigError if there is
        none."""
        known = self.recorded()
        found = [each for each in known if each.name == name]
        if not found:
            names = ", ".join(sorted({each.name for each in known})) or "none"
            raise ConfigError(
                f"{self.path} has no certificate of {name} that has not expired; there are: {names}"
            )
        return found

    def revoke(self, name: str) -> list[int]:
        """Refuses every certificate of `name` from now on, wherever `trust.pem` is used: also replaced ones, whose
        files may be in use elsewhere. Returns their serial numbers."""
        found = self.revocable(name)
        state = self._state()
        revoked = {each.serial for each in state.revoked}
        state.revoked += [
            Revoked(each.serial, _now(), each.authority) for each in found if each.serial not in revoked
        ]
        self._write_state(state)
        self._write_trust()
        return [each.serial for each in found]

    def revoked_serials(self) -> set[int]:
        return {each.serial for each in self._state().revoked}

    def trusted(self) -> list[x509.Certificate]:
        """The authorities trusted at the moment, the one that signs first."""
        found = [self.authority().certificate]
        for name in ("next-ca", "old-ca"):
            path = self.path / f"{name}.pem"
            if path.exists():
                found.append(x509.load_pem_x509_certificate(path.read_bytes()))
        return found

    def begin_rotation(self, authority_name: str, *, days: int = AUTHORITY_DAYS) -> None:
        """A new authority is trusted besides the old one, and signs nothing yet."""
        self._write_authority("next-ca", create_authority(authority_name, now=_now(), days=days))
        self._write_trust()

    def switch_authority(self) -> None:
        """The new authority signs from now on: every certificate is issued again. The old one is still trusted."""
        old, new = self.authority(), self.authority("next-ca")
        _write(self.path / "old-ca.pem", old.certificate_pem, PUBLIC_MODE)
        _write(self.path / "old-ca.key", old.key_pem, SECRET_MODE)
        self._write_authority(CA, new)
        self._remove("next-ca")
        self._write_trust()
        revoked = self.revoked_serials()
        for name in self.names():
            if self.find(name).certificate.serial_number not in revoked:
                self.renew(name)

    def finish_rotation(self) -> None:
        """The old authority is no longer trusted."""
        self._remove("old-ca")
        self._write_trust()

    @property
    def rotation(self) -> str:
        """How far a change of authority has come: "", "begun" or "switched"."""
        if (self.path / "next-ca.pem").exists():
            return "begun"
        return "switched" if (self.path / "old-ca.pem").exists() else ""

    def _write_trust(self) -> None:
        texts = [each.public_bytes(Encoding.PEM).decode() for each in self.trusted()]
        state = self._state()
        if state.revoked:
            texts += self._revocation_lists(state)
        _write(self.trust, "".join(texts), PUBLIC_MODE)

    def _revocation_lists(self, state: AuthorityState) -> list[str]:
        """One list for each authority: where there are lists, a certificate without one is refused."""
        lists = []
        for name in (CA, "next-ca", "old-ca"):
            if not (self.path / f"{name}.key").exists():
                continue
            authority = self.authority(name)
            own = fingerprint(authority.certificate)
            entries = [(each.serial, each.at) for each in state.revoked if each.authority == own]
            found = revocation_list(authority, entries, now=_now())
            lists.append(found.public_bytes(Encoding.PEM).decode())
        return lists

    def _known(self, state: AuthorityState) -> list[Recorded]:
        serials = {each.serial for each in state.issued}
        unrecorded = [found for name in self.names() if (found := self._certificate(name)) is not None]
        known = [each for each in unrecorded if each.serial not in serials] + state.issued
        return [each for each in known if each.ends > _now()]

    def _certificate(self, name: str) -> Recorded | None:
        """What the file of `name` has; None if it is damaged."""
        try:
            certificate = x509.load_pem_x509_certificate(self.certificate_file(name).read_bytes())
        except ValueError:
            return None
        return self._as_record(name, certificate)

    def _as_record(self, name: str, certificate: x509.Certificate) -> Recorded:
        issuer = next((each for each in self.trusted() if each.subject == certificate.issuer), None)
        return Recorded(
            name,
            certificate.serial_number,
            distinguished_name(certificate.subject),
            tuple(hosts_of(certificate)),
            certificate.not_valid_after_utc,
            fingerprint(issuer or self.authority().certificate),
        )

    def _record(self, name: str, certificate: x509.Certificate) -> None:
        """Before the files are written: there is never a certificate that is not known."""
        state = self._state()
        state.issued = [*self._known(state), self._as_record(name, certificate)]
        self._write_state(state)

    def _write_authority(self, name: str, authority: Issued) -> None:
        _write(self.path / f"{name}.key", authority.key_pem, SECRET_MODE)
        _write(self.path / f"{name}.pem", authority.certificate_pem, PUBLIC_MODE)

    def _remove(self, name: str) -> None:
        for suffix in (".pem", ".key"):
            (self.path / f"{name}{suffix}").unlink(missing_ok=True)

    def _state(self) -> AuthorityState:
        path = self.path / STATE
        if not path.exists():
            return AuthorityState()
        try:
            found: dict[str, Any] = orjson.loads(path.read_bytes())
            return AuthorityState(
                [
                    Revoked(int(each["serial"]), datetime.fromisoformat(each["at"]), each["authority"])
                    for each in found["revoked"]
                ],
                [
                    Recorded(
                        each["name"],
                        int(each["serial"]),
                        each["subject"],
                        tuple(each["hosts"]),
                        datetime.fromisoformat(each["ends"]),
                        each["authority"],
                    )
                    for each in found.get("issued", ())
                ],
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ConfigError(
                f"{path} is damaged: it says which certificates were issued and revoked; restore it from a backup"
            ) from None

    def _write_state(self, state: AuthorityState) -> None:
        revoked = [
            {"serial": str(each.serial), "at": each.at.isoformat(), "authority": each.authority}
            for each in state.revoked
        ]
        issued = [
            {
                "name": each.name,
                "serial": str(each.serial),
                "subject": each.subject,
                "hosts": list(each.hosts),
                "ends": each.ends.isoformat(),
                "authority": each.authority,
            }
            for each in state.issued
        ]
        text = orjson.dumps({"revoked": revoked, "issued": issued}).decode()
        _write(self.path / STATE, text, PUBLIC_MODE)


def hosts_of(certificate: x509.Certificate) -> list[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(each.value) for each in found]


def fingerprint(certificate: x509.Certificate) -> str:
    from cryptography.hazmat.primitives.hashes import SHA256

    return certificate.fingerprint(SHA256()).hex()


def _load(certificate: Path, key: Path) -> Issued:
    try:
        text = certificate.read_text()
        loaded = load_pem_private_key(key.read_bytes(), None)
        return Issued(loaded, x509.load_der_x509_certificate(pem.certificates_of(text)[0]))  # type: ignore[arg-type]
    except OSError as error:
        raise ConfigError(
            f"cannot read {error.filename}: {error.strerror}; keys belong to the user who made them"
        ) from None
    except (ValueError, IndexError) as error:
        raise ConfigError(
            f"{certificate} or {key} is damaged: {error}; issue the certificate again"
        ) from None


def _write(path: Path, text: str, mode: int) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(number, "w") as file:
        file.write(text)
    temporary.replace(path)


def _now() -> datetime:
    return datetime.now(UTC)
