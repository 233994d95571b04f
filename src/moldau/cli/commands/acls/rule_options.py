"""Options that name resources and operations, and rules as text."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import click

from moldau.cli.options import complete_group, complete_topic
from moldau.security.access.model import (
    CLUSTER_NAME,
    WILDCARD,
    Operation,
    Pattern,
    Permission,
    Resource,
    ResourceKind,
    Rule,
)
from moldau.security.access.rule_words import parse_word

CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])

OPTION_OF: Final = {
    ResourceKind.TOPIC: "topic",
    ResourceKind.GROUP: "group",
    ResourceKind.CLUSTER: "cluster",
    ResourceKind.TRANSACTIONAL_ID: "transactional-id",
    ResourceKind.DELEGATION_TOKEN: "delegation-token",
    ResourceKind.USER: "user-principal",
}
"""The option that names a resource of the kind; also the kind in `topic:orders`."""
_KINDS: Final = ("User", "Group")
HEADINGS: Final = ("PRINCIPAL", "HOST", "PERMISSION", "OPERATION", "RESOURCE", "NAME", "PATTERN")


class Principal(click.ParamType[str]):
    """`User:alice`; `alice` means the same."""

    name = "principal"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not text:
            self.fail("a principal is not empty.", param, ctx)
        return text if ":" in text else f"User:{text}"


class NewPrincipal(Principal):
    """For rules and roles to be made: it must be able to match somebody. Its kind is `User` or `Group`, and case
    matters; kinds of a cluster's own are taken as they are."""

    def __init__(self, *, takes_groups: bool) -> None:
        self._takes_groups = takes_groups

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        kind, _, name = text.partition(":")
        if not name:
            self.fail(f"'{text}' names nobody: write {kind or 'User'}:NAME.", param, ctx)
        meant = kind.capitalize()
        if meant in _KINDS and kind != meant:
            self.fail(f"'{text}' would match nobody, since case matters: write {meant}:{name}.", param, ctx)
        if kind == "Group" and not self._takes_groups:
            self.fail(
                f"'{text}' would match nobody: access rules are about users. Grant the group a role: "
                f"moldau roles grant {shlex.quote(text)} ROLE.",
                param,
                ctx,
            )
        return text


class OperationName(click.ParamType[Operation]):
    name = "operation"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Operation:
        if isinstance(value, Operation):
            return value
        try:
            operation = parse_word(Operation, str(value))
        except ValueError:
            words = ", ".join(word_of(each) for each in Operation if each > Operation.ANY)
            self.fail(f"'{value}' is not an operation: use one of {words}.", param, ctx)
        return operation


class Chosen(NamedTuple):
    """What the options name."""

    resources: Sequence[tuple[ResourceKind, str]]
    is_prefixed: bool

    @property
    def pattern(self) -> Pattern:
        return Pattern.PREFIXED if self.is_prefixed else Pattern.LITERAL

    def names(self, kind: ResourceKind) -> list[str]:
        return [name for each, name in self.resources if each is kind]

    def patterns(self) -> list[Resource]:
        """The cluster has one name; what is prefixed are the others."""
        return [
            Resource(kind, Pattern.LITERAL if kind is ResourceKind.CLUSTER else self.pattern, name)
            for kind, name in self.resources
        ]


def resource_options(function: CommandFunction) -> CommandFunction:
    """Adds an option for each kind of resource. The command receives `topic`, `group` and so on: see `chosen`."""
    options = [
        click.option("--topic", multiple=True, metavar="NAME", shell_complete=complete_topic,
                     help="A topic; '*' is every topic. Repeatable."),
        click.option("--group", multiple=True, metavar="NAME", shell_complete=complete_group,
                     help="A consumer group; '*' is every group. Repeatable."),
        click.option("--transactional-id", multiple=True, metavar="ID", help="A transactional ID. Repeatable."),
        click.option("--cluster", "whole_cluster", is_flag=True, help="The cluster as a whole."),
        click.option("--delegation-token", multiple=True, metavar="ID", help="A delegation token. Repeatable."),
        click.option("--user-principal", multiple=True, metavar="USER",
                     help="A user whose delegation tokens are meant. Repeatable."),
        click.option("--prefixed", is_flag=True, help="The names are the beginnings of names."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def chosen(options: dict[str, Any]) -> Chosen:
    """Takes the options of `resource_options` out of the arguments of a command."""
    resources: list[tuple[ResourceKind, str]] = []
    for kind, option in OPTION_OF.items():
        if kind is ResourceKind.CLUSTER:
            resources += [(kind, CLUSTER_NAME)] * options.pop("whole_cluster")
        else:
            resources += [(kind, name) for name in options.pop(option.replace("-", "_"))]
    if any(not name for _, name in resources):
        raise click.UsageError("The name of a resource is not empty; '*' is all of them.")
    return Chosen(resources, options.pop("prefixed"))


operation_option = click.option(
    "--operation",
    "operations",
    type=OperationName(),
    multiple=True,
    metavar="OPERATION",
    help="read, write, create, delete, alter, describe, describe-configs, alter-configs, cluster-action, "
    "idempotent-write, all and others. Repeatable.",
)


def word_of(word: Operation | ResourceKind | Pattern | Permission) -> str:
    """As commands take and print it: `describe-configs`."""
    return word.name.lower().replace("_", "-")


def rule_cells(rule: Rule) -> tuple[str, ...]:
    return (
        rule.principal,
        rule.host,
        word_of(rule.permission),
        word_of(rule.operation),
        OPTION_OF.get(rule.kind, word_of(rule.kind)),
        rule.name,
        word_of(rule.pattern),
    )


def rules_as_data(rules: Iterable[Rule]) -> list[dict[str, str]]:
    """With Kafka's words."""
    return [
        {
            "principal": rule.principal,
            "host": rule.host,
            "permission": rule.permission.name,
            "operation": rule.operation.name,
            "resource_type": rule.kind.name,
            "resource_name": rule.name,
            "pattern_type": rule.pattern.name,
        }
        for rule in rules
    ]


def resource_text(kind: ResourceKind, name: str, pattern: Pattern = Pattern.LITERAL) -> str:
    """For sentences: `topic 'orders'`."""
    if kind is ResourceKind.CLUSTER:
        return "the cluster"
    noun = OPTION_OF.get(kind, word_of(kind)).replace("-", " ")
    if pattern is Pattern.PREFIXED:
        return f"every {noun} whose name starts with '{name}'"
    return f"every {noun}" if name == WILDCARD else f"{noun} '{name}'"


def rule_text(rule: Rule) -> str:
    """A sentence's part: `User:alice is allowed read on topic 'orders'`."""
    allowed = "allowed" if rule.permission is Permission.ALLOW else "denied"
    host = "" if rule.host == WILDCARD else f" from {rule.host}"
    what = resource_text(rule.kind, rule.name, rule.pattern)
    return f"{rule.principal} is {allowed} {word_of(rule.operation)} on {what}{host}"
