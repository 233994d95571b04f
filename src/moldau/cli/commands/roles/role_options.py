"""Arguments and options of `moldau roles`, and grants as text."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click

from moldau.cli.commands.acls.rule_options import resource_text
from moldau.cli.options import complete_group, complete_topic
from moldau.security.access.model import CLUSTER_NAME, WILDCARD, Pattern, ResourceKind
from moldau.security.roles.model import (
    CLUSTER_ROLES,
    KINDS,
    Binding,
    BindingKind,
    Role,
    ServiceKind,
    kind_word,
    make_binding,
    parse_role,
)

CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])

HEADINGS: Final = ("PRINCIPAL", "ROLE", "RESOURCE", "NAME", "PATTERN")


class RoleName(click.ParamType[Role]):
    """`DeveloperRead`; `developer-read` means the same."""

    name = "role"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Role:
        try:
            return parse_role(str(value))
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


def complete_role(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return [role.value for role in Role if role.value.lower().startswith(incomplete.lower())]


def scope_options(function: CommandFunction) -> CommandFunction:
    """Adds an option for each kind of resource. The command receives them as `chosen_scopes` takes them."""
    options = [
        click.option("--topic", multiple=True, metavar="NAME", shell_complete=complete_topic,
                     help="A topic; '*' is every topic. Repeatable, as the others are."),
        click.option("--group", multiple=True, metavar="NAME", shell_complete=complete_group,
                     help="A consumer group."),
        click.option("--transactional-id", multiple=True, metavar="ID", help="A transactional ID."),
        click.option("--subject", multiple=True, metavar="NAME", help="A subject of the schema registry."),
        click.option("--connector", multiple=True, metavar="NAME", help="A connector."),
        click.option("--sql", multiple=True, metavar="NAME", help="A SQL server, by its service id."),
        click.option("--cluster", "whole_cluster", is_flag=True, help="The cluster as a whole."),
        click.option("--prefixed", is_flag=True, help="The names are the beginnings of names."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


Scope = tuple[BindingKind, str, Pattern]


def chosen_scopes(options: dict[str, Any]) -> list[Scope]:
    """Takes the options of `scope_options` out of the arguments of a command."""
    pattern = Pattern.PREFIXED if options.pop("prefixed") else Pattern.LITERAL
    scopes: list[Scope] = []
    for kind in KINDS:
        if kind is ResourceKind.CLUSTER:
            scopes += [(kind, CLUSTER_NAME, Pattern.LITERAL)] * options.pop("whole_cluster")
        else:
            scopes += [(kind, name, pattern) for name in options.pop(kind_word(kind).replace("-", "_"))]
    return list(dict.fromkeys(scopes))


def bindings_of(principals: Sequence[str], role: Role, scopes: Sequence[Scope]) -> list[Binding]:
    """UsageError if the role cannot be granted on one of them. Cluster roles need no resource named."""
    if not scopes and role in CLUSTER_ROLES:
        scopes = [(ResourceKind.CLUSTER, CLUSTER_NAME, Pattern.LITERAL)]
    if not scopes:
        raise click.UsageError(
            f"{role} on which resource? Pass --topic, --group, --transactional-id, --subject, --connector or --sql."
        )
    try:
        return [
            make_binding(principal, role, kind, name, pattern)
            for principal in dict.fromkeys(principals)
            for kind, name, pattern in scopes
        ]
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error


def scope_text(kind: BindingKind, name: str, pattern: Pattern = Pattern.LITERAL) -> str:
    """For sentences: `subject 'orders-value'`."""
    if not isinstance(kind, ServiceKind):
        return resource_text(kind, name, pattern)
    noun = "SQL server" if kind is ServiceKind.SQL else kind_word(kind)
    if pattern is Pattern.PREFIXED:
        return f"every {noun} whose name starts with '{name}'"
    return f"every {noun}" if name == WILDCARD else f"{noun} '{name}'"


def binding_text(binding: Binding) -> str:
    """A sentence's part: `User:alice has the role DeveloperRead on topic 'orders'`."""
    return f"{binding.principal} has the role {binding.role} on {scope_of(binding)}"


def scope_of(binding: Binding) -> str:
    """On what the role is granted, for sentences."""
    return scope_text(binding.kind, binding.name, binding.pattern)


def binding_cells(binding: Binding) -> tuple[str, ...]:
    return (
        binding.principal,
        binding.role.value,
        kind_word(binding.kind),
        binding.name,
        binding.pattern.name.lower(),
    )


def bindings_as_data(bindings: Iterable[Binding]) -> list[dict[str, str]]:
    """With the words of the records."""
    return [
        {
            "principal": binding.principal,
            "role": binding.role.value,
            "resource_type": kind_word(binding.kind).upper().replace("-", "_"),
            "resource_name": binding.name,
            "pattern_type": binding.pattern.name,
        }
        for binding in bindings
    ]
