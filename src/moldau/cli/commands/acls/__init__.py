"""`moldau acls`: one module per command, and what they share: options that name rules, rules as text.

Only `main.py` imports it, and `explain` for its question about access. Start with `list_acls.py`.
"""

import click

from moldau.cli.commands.acls.add_acls import add
from moldau.cli.commands.acls.list_acls import list_acls
from moldau.cli.commands.acls.remove_acls import remove


@click.group("acls")
def command() -> None:
    """Show and change who may do what: access rules, which Kafka calls ACLs.

    A rule allows or denies a principal an operation on a resource. What no rule allows is denied, and a rule that
    denies wins over all that allow. `moldau explain access` tells which rule decides.
    """


for each in (add, list_acls, remove):
    command.add_command(each)
