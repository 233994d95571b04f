"""`moldau roles sync`."""

import click

from moldau.cli.client.acl_queries import add_rules
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.rule_options import rule_text
from moldau.cli.commands.roles.role_changes import missing_rules
from moldau.cli.options import on_cluster
from moldau.cli.render.output import counted


@click.command("sync")
@click.option("--dry-run", is_flag=True, help="Print what is missing; change nothing.")
@on_cluster
def sync(cluster: Cluster, dry_run: bool) -> None:
    """Add the access rules that roles need and the brokers do not have.

    After somebody has removed rules by hand, after an interrupted command, or when the brokers got an authorizer later
    than the roles were granted. Rules that no role needs are left alone: anybody may have added them.
    """
    missing = missing_rules(cluster)
    for rule in missing:
        click.echo(f"{rule_text(rule)}.")
    if dry_run:
        click.echo(f"{counted(len(missing), 'access rule')} missing.")
        return
    if missing:
        add_rules(cluster, missing)
    click.echo(f"{counted(len(missing), 'access rule')} added.")
