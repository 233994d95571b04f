"""`moldau certs issue`, `renew`, `revoke` and `export`: one certificate."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from cryptography import x509

from moldau.cli.commands.certs.folder_option import days_option, folder_option, told
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.render.output import counted
from moldau.security.certificates.authority import CERTIFICATE_DAYS, KeyKind
from moldau.security.certificates.certificate_folder import CertificateFolder
from moldau.security.certificates.export import StoreKind, key_store, trust_store
from moldau.security.tls.principal_names import distinguished_name

TRUST = "trust"
SECRET_MODE = 0o600


@click.command("issue")
@click.argument("name")
@click.option(
    "--host", "hosts", multiple=True, help="A host name or IP address that clients connect to. Repeatable."
)
@click.option(
    "--subject", help="The whole distinguished name, as in `CN=alice,O=Mill,C=CZ`. Default: CN=NAME."
)
@click.option(
    "--key",
    "kind",
    type=click.Choice([each.value for each in KeyKind]),
    default=KeyKind.EC.value,
    show_default=True,
    help="The kind of its key.",
)
@days_option(CERTIFICATE_DAYS)
@folder_option
def issue(folder: Path, name: str, hosts: Sequence[str], subject: str | None, kind: str, days: int) -> None:
    """Issue a certificate for the broker, service or user NAME.

    A server needs at least one --host: its clients compare it with the address they connect to. A certificate without
    hosts is for a client. Replaces an earlier certificate of that name.
    """
    with told():
        issued = CertificateFolder(folder).issue(
            name, hosts, subject=_subject(subject), days=days, kind=KeyKind(kind)
        )
    _tell(folder, name, issued.certificate)


@click.command("renew")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@days_option(CERTIFICATE_DAYS)
@folder_option
def renew(folder: Path, names: Sequence[str], days: int) -> None:
    """Issue certificates again, with new keys and the same names."""
    for name in names:
        with told():
            issued = CertificateFolder(folder).renew(name, days=days)
        _tell(folder, name, issued.certificate)


@click.command("revoke")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Skip the question.")
@folder_option
def revoke(folder: Path, name: str, yes: bool) -> None:
    """Refuse every certificate of NAME from now on, also those that were replaced.

    Their numbers go into the revocation list in trust.pem. Brokers that use this file refuse new connections with them
    within seconds; connections that are open stay open.
    """
    certificates = CertificateFolder(folder)
    with told():
        count = counted(len(certificates.revocable(name)), "certificate")
        if not yes:
            confirm(f"Revoke {count} of {name}?", f"what was issued for {name} was not revoked.")
        serials = certificates.revoke(name)
    for serial in serials:
        click.echo(
            f"The certificate of {name} with the number {serial:x} is revoked in {folder / 'trust.pem'}."
        )


@click.command("export")
@click.argument("name")
@click.option(
    "--format",
    "kind",
    type=click.Choice([each.value for each in StoreKind]),
    default=StoreKind.PKCS12.value,
    show_default=True,
    help="The form of the store.",
)
@click.option(
    "--to", "target", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The new file."
)
@click.option(
    "--password-file",
    type=click.File("r"),
    help="A file with the password on its first line; - for the standard input. Default: the password is asked for.",
)
@folder_option
def export(folder: Path, name: str, kind: str, target: Path, password_file: Any) -> None:
    """Write the key store of NAME, or with `trust` as NAME the trust store, for other programs."""
    certificates, form = CertificateFolder(folder), StoreKind(kind)
    now_ms = int(time.time() * 1000)
    with told():
        if name != TRUST:
            certificates.find(name)
        password = "" if form is StoreKind.PEM else _password(password_file)
        if name == TRUST:
            data = trust_store(form, certificates.trusted(), password, now_ms=now_ms)
        else:
            authority = certificates.authority().certificate
            data = key_store(form, name, certificates.find(name), authority, password, now_ms=now_ms)
    try:
        number = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, SECRET_MODE)
        with open(number, "wb") as file:
            # The file may have been there, readable for others.
            os.fchmod(number, SECRET_MODE)
            file.write(data)
    except OSError as error:
        raise Failure(f"cannot write {target}: {error.strerror}.", "Choose another file with --to.") from None
    click.echo(f"{target} is a {'trust' if name == TRUST else 'key'} store in {kind.upper()}.")


def _password(file: Any) -> str:
    if file is not None:
        return str(file.readline().rstrip("\r\n"))
    if not sys.stdin.isatty():
        raise Failure(
            "a store of this form has a password, none was given, and there is nobody to ask.",
            "Pass --password-file FILE, --password-file - to read the standard input, or --format pem for a store "
            "without a password.",
        )
    return str(click.prompt("Password of the store", hide_input=True, confirmation_prompt=True, err=True))


def _subject(text: str | None) -> x509.Name | None:
    if text is None:
        return None
    try:
        return x509.Name.from_rfc4514_string(text)
    except ValueError:
        raise click.UsageError(
            f"--subject {text!r} is not a distinguished name, for example CN=alice,O=Mill,C=CZ."
        ) from None


def _tell(folder: Path, name: str, certificate: x509.Certificate) -> None:
    until = f"{certificate.not_valid_after_utc:%Y-%m-%d}"
    click.echo(f"{folder / f'{name}.pem'}: {distinguished_name(certificate.subject)}, valid until {until}.")
