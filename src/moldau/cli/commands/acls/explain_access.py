"""`moldau explain access`: which rule decides, and what would have to change.

Decides here, with the rules and settings that the brokers tell: works with any Kafka whose authorizer is the standard
one.
"""

import shlex
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import click

from moldau.cli.client import config_queries
from moldau.cli.client.acl_queries import find_rules
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.key_principals import acting
from moldau.cli.commands.acls.rule_options import (
    HEADINGS,
    OPTION_OF,
    NewPrincipal,
    OperationName,
    resource_text,
    rule_cells,
    rule_text,
    rules_as_data,
    word_of,
)
from moldau.cli.commands.roles.explain_rights import explain_service_access, roles_behind
from moldau.cli.commands.roles.role_options import binding_text, bindings_as_data
from moldau.cli.failures import Failure
from moldau.cli.options import given_cluster_options, on_cluster
from moldau.cli.render.output import columns, document_option, print_json
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ConfigError
from moldau.security.access.authorizer import OPERATIONS_OF
from moldau.security.access.authorizer_settings import parse_super_users
from moldau.security.access.decision import Decision
from moldau.security.access.kafka_authorizer import KafkaAuthorizer
from moldau.security.access.model import (
    ANYONE,
    CLUSTER_NAME,
    WILDCARD,
    Caller,
    Operation,
    Pattern,
    Permission,
    ResourceKind,
    Rule,
    RuleFilter,
)
from moldau.security.access.rules import IMPLIED, Rules
from moldau.security.roles.model import BindingKind, ServiceKind, group_of

ANY_HOST: Final = "any host without rules of its own"
_KINDS: Final[dict[str, BindingKind]] = {
    **{option: kind for kind, option in OPTION_OF.items()},
    **{kind.value: kind for kind in ServiceKind},
}


class Settings(NamedTuple):
    """Of the authorizer, as a broker describes them."""

    super_users: frozenset[str] = frozenset()
    allows_without_rules: bool = False
    is_known: bool = True
    """Whether the broker tells them at all: not to everybody, and not what it does not know."""


class ResourceName(click.ParamType[tuple[BindingKind, str]]):
    """`topic:orders`, `group:shop`, `subject:orders-value`, `cluster`."""

    name = "resource"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[BindingKind, str]:
        if isinstance(value, tuple):
            return value
        option, _, name = str(value).partition(":")
        kind = _KINDS.get(option)
        if kind is ResourceKind.CLUSTER and name in ("", CLUSTER_NAME):
            return kind, CLUSTER_NAME
        if kind is None or not name:
            examples = ", ".join(f"{each}:NAME" for each in _KINDS if each != "cluster")
            self.fail(f"'{value}' is not a resource: use {examples} or cluster.", param, ctx)
        return kind, name


@click.command("access")
@click.argument("principal", metavar="USER", type=NewPrincipal(takes_groups=True))
@click.argument("operation_word", metavar="OPERATION")
@click.argument("resource", type=ResourceName())
@click.option("--host", default=None, metavar="ADDRESS", help="The IP address that the user comes from.")
@document_option
@on_cluster
def access_command(
    cluster: Cluster,
    principal: str,
    operation_word: str,
    resource: tuple[BindingKind, str],
    host: str | None,
    output: str,
) -> None:
    """Tell whether USER may do OPERATION on RESOURCE, which rule decides, and what would change it.

    \b
    moldau explain access alice read topic:orders
    moldau explain access alice alter cluster --host 10.0.0.7
    moldau explain access alice write subject:orders-value
    """
    kind, name = resource
    if (group := group_of(principal)) is not None:
        raise click.UsageError(
            f"A group does nothing itself; ask about a member. `moldau roles group list {group}` lists them."
        )
    principal = acting(cluster, principal)
    if isinstance(kind, ServiceKind):
        explain_service_access(cluster, principal, operation_word, kind, name, output)
        return
    operation = OperationName().convert(operation_word, None, None)
    if operation not in OPERATIONS_OF[kind]:
        words = ", ".join(word_of(each) for each in sorted(OPERATIONS_OF[kind]))
        raise click.UsageError(
            f"There is no operation {word_of(operation)} on {resource_text(kind, name)}: use one of {words}."
        )
    try:
        applying = find_rules(cluster, RuleFilter(kind, name, Pattern.MATCH))
    except Failure as failure:
        if failure.code != ErrorCode.SECURITY_DISABLED:
            raise
        _print_open(principal, operation, kind, name, output)
        return
    settings = _settings(cluster)
    question = Question(principal, operation, kind, name, host)
    decision = decide(question, applying, settings)
    roles = [] if decision.rule is None else roles_behind(cluster, decision.rule)
    if output == "json":
        print_json({**_as_data(question, decision, applying, settings), "roles": bindings_as_data(roles)})
        return
    click.echo(verdict_text(question, decision))
    click.echo(reason_text(question, decision, applying))
    for binding in roles:
        click.echo(f"The rule comes with a role: {binding_text(binding)}.")
    for remedy in _to_paste(remedies(question, decision, applying, settings)):
        click.echo(remedy)
    if not settings.is_known:
        click.echo("The broker does not tell super.users: a super user may do everything.")
    if applying:
        click.echo(f"\nRules about {resource_text(kind, name)}:")
        click.echo(columns(HEADINGS, [rule_cells(rule) for rule in applying]))


class Question(NamedTuple):
    principal: str
    operation: Operation
    kind: ResourceKind
    name: str
    host: str | None


def verdict_text(question: Question, decision: Decision) -> str:
    principal, operation, kind, name, host = question
    may = "may" if decision.is_allowed else "may not"
    where = "" if host is None else f" from {host}"
    return f"{principal} {may} {word_of(operation)} {resource_text(kind, name)}{where}."


def reason_text(question: Question, decision: Decision, applying: Sequence[Rule]) -> str:
    rule = decision.rule
    if rule is None:
        if decision.is_allowed:
            return (
                "It is a super user: no rule is asked."
                if decision.otherwise == "SuperUser"
                else "There is no rule about it, and allow.everyone.if.no.acl.found=true allows it."
            )
        return "No rule allows it." if applying else "There is no rule about it."
    text = f"Decided by a rule: {rule_text(rule)}."
    if rule.permission is Permission.DENY:
        return f"{text} It wins over every rule that allows."
    if rule.operation not in (question.operation, Operation.ALL):
        return f"{text} Who may {word_of(rule.operation)} may {word_of(question.operation)} too."
    return text


def remedies(
    question: Question, decision: Decision, applying: Sequence[Rule], settings: Settings
) -> list[str]:
    """What to do to be allowed, as commands."""
    principal, operation, kind, name, host = question
    found = []
    if host is None and decision.otherwise != "SuperUser":
        hosts = sorted({rule.host for rule in applying if _is_about(rule, question)} - {WILDCARD})
        if hosts:
            found.append(f"There are rules for single addresses ({', '.join(hosts)}): --host asks for one.")
    rest = list(applying)
    while (rule := decision.rule) is not None and not decision.is_allowed:
        found.append(f"To allow it: {removal(rule)}")
        rest.remove(rule)
        decision = decide(question, rest, settings)
    if not decision.is_allowed:
        where = "" if host is None else f" --host {host}"
        added = f"{shlex.quote(principal)} {_option(kind, name)} --operation {word_of(operation)}{where}"
        found.append(f"To allow it: moldau acls add {added}")
    return found


def _to_paste(found: Sequence[str]) -> list[str]:
    """With the cluster that this command was given: a remedy with a command ends with it."""
    at = given_cluster_options()
    return [f"{remedy}{at}" if ": moldau " in remedy else remedy for remedy in found]


def decide(question: Question, applying: Sequence[Rule], settings: Settings) -> Decision:
    principal, operation, kind, name, host = question
    authorizer = KafkaAuthorizer(
        Rules(applying),
        super_users=settings.super_users,
        allows_without_rules=settings.allows_without_rules,
    )
    return authorizer.decide(Caller(principal, host or ANY_HOST), operation, kind, name)


def _option(kind: ResourceKind, name: str) -> str:
    return "--cluster" if kind is ResourceKind.CLUSTER else f"--{OPTION_OF[kind]} {shlex.quote(name)}"


def removal(rule: Rule) -> str:
    """The command that removes this rule."""
    option = (
        "--cluster"
        if rule.kind is ResourceKind.CLUSTER
        else f"--{OPTION_OF[rule.kind]} {shlex.quote(rule.name)}"
    )
    parts = ["moldau acls remove", shlex.quote(rule.principal), option]
    parts += ["--prefixed"] * (rule.pattern is Pattern.PREFIXED)
    parts += [f"--operation {word_of(rule.operation)}"]
    parts += ["--deny" if rule.permission is Permission.DENY else "--allow"]
    parts += [f"--host {rule.host}"] * (rule.host != WILDCARD)
    return " ".join(parts)


def _is_about(rule: Rule, question: Question) -> bool:
    is_theirs = rule.principal in (question.principal, ANYONE)
    named = {rule.operation, IMPLIED.get(rule.operation, rule.operation)}
    return is_theirs and (rule.operation is Operation.ALL or question.operation in named)


def _settings(cluster: Cluster) -> Settings:
    broker = config_queries.Resource("broker", str(min(cluster.wire.brokers)))
    try:
        [described] = config_queries.describe(cluster, [broker]).values()
    except Failure as failure:
        if failure.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            raise
        return Settings(is_known=False)
    values = {setting.name: setting for setting in described}
    users = values.get("super.users")
    everyone = values.get("allow.everyone.if.no.acl.found")
    try:
        super_users = parse_super_users(users.value or "") if users else frozenset()
    except ConfigError:
        super_users = frozenset()
    is_known = users is not None and not users.sensitive
    return Settings(super_users, everyone is not None and everyone.value == "true", is_known)


def _print_open(principal: str, operation: Operation, kind: ResourceKind, name: str, output: str) -> None:
    if output == "json":
        print_json({"allowed": True, "reason": "NoAuthorizer", "rule": None, "rules": []})
        return
    click.echo(verdict_text(Question(principal, operation, kind, name, None), Decision(True, None)))
    click.echo("The brokers have no authorizer: everybody may do everything. authorizer.class.name sets one.")


def _as_data(
    question: Question, decision: Decision, applying: Sequence[Rule], settings: Settings
) -> dict[str, object]:
    rule = decision.rule
    return {
        "allowed": decision.is_allowed,
        "reason": decision.otherwise or "Rule",
        "rule": None if rule is None else rules_as_data([rule])[0],
        "rules": rules_as_data(applying),
        "remedies": _to_paste(remedies(question, decision, applying, settings)),
        "super_users_known": settings.is_known,
    }
