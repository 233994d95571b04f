"""`moldau certs init`, `list`, `verify` and `rotate`: the authority itself, and all it issued at a glance."""

from datetime import UTC, datetime
from pathlib import Path

import click

from moldau.cli.commands.certs.folder_option import days_option, folder_option, told
from moldau.cli.failures import Failure
from moldau.cli.render.output import columns, counted, output_option, print_data
from moldau.security.certificates.authority import AUTHORITY_DAYS, KeyKind
from moldau.security.certificates.certificate_folder import CertificateFolder
from moldau.security.certificates.inspection import Described, describe

AUTHORITY_NAME = "Moldau CA"


@click.command("init")
@click.option("--name", default=AUTHORITY_NAME, show_default=True, help="The common name of the authority.")
@click.option(
    "--key",
    "kind",
    type=click.Choice([each.value for each in KeyKind]),
    default=KeyKind.EC.value,
    show_default=True,
    help="The kind of its key.",
)
@days_option(AUTHORITY_DAYS)
@folder_option
def init(folder: Path, name: str, kind: str, days: int) -> None:
    """Make a certificate authority."""
    with told():
        CertificateFolder(folder).create(name, days=days, kind=KeyKind(kind))
    click.echo(f"The authority {name} is in {folder}. Clients and brokers trust {folder / 'trust.pem'}.")
    click.echo(f"Keep {folder / 'ca.key'} secret: it can issue certificates.")


@click.command("list")
@output_option
@folder_option
def list_command(folder: Path, output: str) -> None:
    """List the certificates: whose they are, for which hosts, and until when they are valid.

    With those that were replaced and have not expired.
    """
    with told():
        found = list(describe(CertificateFolder(folder)))
    if output != "table":
        print_data(output, [_as_data(each) for each in found])
        return
    rows = [
        (each.name, each.subject, " ".join(each.hosts), f"{each.expires_at:%Y-%m-%d}", each.status)
        for each in found
    ]
    click.echo(columns(("NAME", "SUBJECT", "HOSTS", "VALID UNTIL", "STATUS"), rows))


@click.command("verify")
@folder_option
def verify(folder: Path) -> None:
    """Check every certificate: its authority, its key, its time, whether it is revoked.

    Exits with 1 if one is not valid. Certificates that were replaced do not count.
    """
    with told():
        found = [each for each in describe(CertificateFolder(folder)) if not each.is_replaced]
    faulty = [each for each in found if each.status != "valid"]
    for each in faulty:
        click.echo(f"{each.name}: {each.status} (valid until {each.expires_at:%Y-%m-%d})")
    if faulty:
        raise Failure(
            f"{counted(len(faulty), 'certificate')} of {len(found)} need attention.",
            "Replace them with `moldau certs renew NAME`, the authority with `moldau certs rotate`; remove the files "
            "of a NAME that is no longer wanted.",
        )
    click.echo(f"All {len(found)} certificates are valid.")


@click.command("rotate")
@folder_option
def rotate(folder: Path) -> None:
    """Replace the authority, in three steps, so that no connection fails. Each call takes the next step.

    The first makes a new authority, which is trusted besides the old one. The second issues all certificates again. The
    third ends the trust in the old one. Between two steps, give everyone the files that have changed; brokers take them
    over within seconds.
    """
    certificates = CertificateFolder(folder)
    trust = folder / "trust.pem"
    with told():
        step = certificates.rotation
        if step == "":
            certificates.begin_rotation(f"{AUTHORITY_NAME} {datetime.now(UTC):%Y-%m-%d %H:%M}")
            click.echo(f"Step 1 of 3: {trust} now trusts a new authority, too.")
            click.echo("Give it to every broker, service and client, then call `moldau certs rotate` again.")
        elif step == "begun":
            certificates.switch_authority()
            click.echo(f"Step 2 of 3: all certificates in {folder} are issued by the new authority.")
            click.echo("Give everyone their new files, then call `moldau certs rotate` again.")
        else:
            certificates.finish_rotation()
            click.echo(f"Step 3 of 3: {trust} no longer trusts the old authority. Give it to everyone.")


def _as_data(each: Described) -> dict[str, object]:
    return {
        "name": each.name,
        "subject": each.subject,
        "hosts": " ".join(each.hosts),
        "valid_until": each.expires_at.isoformat(),
        "status": each.status,
        "number": f"{each.serial:x}",
    }
