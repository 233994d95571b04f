"""`moldau roles`: one module per command, the topic that keeps grants, and what a change of them does.

Only `main.py` imports it, and `explain access` for its question about services. Start with `role_changes.py`.
"""

import click

from moldau.cli.commands.roles.describe_roles import describe
from moldau.cli.commands.roles.grant_roles import grant, revoke
from moldau.cli.commands.roles.list_roles import list_roles
from moldau.cli.commands.roles.role_groups import groups
from moldau.cli.commands.roles.sync_roles import sync


@click.group("roles")
def command() -> None:
    """Grant roles to users and groups, on the cluster and on single resources.

    A role on topics, consumer groups, transactional ids or the cluster is a set of access rules, which this command
    adds and removes: it works with any Kafka, and a rule that denies still wins. Roles on subjects, connectors and SQL
    are for the HTTP services with authorization.enabled=true.

    `moldau roles describe` tells what each role allows.
    """


for each in (list_roles, describe, grant, revoke, groups, sync):
    command.add_command(each)
