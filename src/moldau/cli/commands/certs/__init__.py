"""`moldau certs`: a certificate authority in a folder, and the certificates it issues.

Only `main.py` imports it. Start with `authority.py`; `issuing.py` has what concerns one certificate.
"""

import click

from moldau.cli.commands.certs.authority import init, list_command, rotate, verify
from moldau.cli.commands.certs.issuing import export, issue, renew, revoke


@click.group("certs")
def command() -> None:
    """Issue certificates for brokers, services and clients, with an authority of your own.

    A folder holds the authority and all that it issued. Brokers read their files from it or from copies, and take over
    what changes without a restart.
    """


for each in (init, issue, renew, rotate, revoke, list_command, verify, export):
    command.add_command(each)
