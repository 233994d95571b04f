"""`moldau acls list`."""

from collections.abc import Sequence
from typing import Any

import click

from moldau.cli.client.acl_queries import find_rules
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.rule_options import (
    HEADINGS,
    Chosen,
    Principal,
    chosen,
    resource_options,
    rule_cells,
    rules_as_data,
)
from moldau.cli.options import on_cluster
from moldau.cli.render.output import columns, output_option, print_data
from moldau.security.access.model import Pattern, ResourceKind, Rule, RuleFilter


@click.command("list")
@click.argument("principals", metavar="[PRINCIPAL]...", type=Principal(), nargs=-1)
@resource_options
@click.option("--applying", is_flag=True, help="Include wildcards and prefixes that the names match.")
@output_option
@on_cluster
def list_acls(
    cluster: Cluster, principals: Sequence[str], applying: bool, output: str, **resources: Any
) -> None:
    """List rules: all, or those of PRINCIPAL, or those about resources.

    \b
    moldau acls list alice
    moldau acls list --topic orders --applying
    """
    named = chosen(resources)
    if applying and not named.resources:
        raise click.UsageError("Rules that apply to what? Pass --topic, --group or another resource.")
    found = rules_about(cluster, named, principals, is_applying=applying)
    if output != "table":
        print_data(output, rules_as_data(found))
    elif found:
        click.echo(columns(HEADINGS, [rule_cells(rule) for rule in found]))
    else:
        click.echo("No rules." if not (principals or named.resources) else "No such rules.", err=True)


def rules_about(
    cluster: Cluster, named: Chosen, principals: Sequence[str], *, is_applying: bool = False
) -> list[Rule]:
    """The rules about any of the resources and for any of the principals; none named means all."""
    filters = [
        RuleFilter(resource.kind, resource.name, Pattern.MATCH if is_applying else resource.pattern)
        for resource in named.patterns()
    ] or [RuleFilter(ResourceKind.ANY, None, Pattern.PREFIXED if named.is_prefixed else Pattern.ANY)]
    found = {rule for each in filters for rule in find_rules(cluster, each)}
    return sorted(
        (rule for rule in found if not principals or rule.principal in principals),
        key=lambda rule: (rule.kind, rule.name, rule),
    )
