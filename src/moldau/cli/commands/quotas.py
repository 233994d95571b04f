"""`moldau quotas`: how much users, clients and addresses may use of each broker (KIP-546)."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click
from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure, refused
from moldau.cli.options import KeyValue, on_cluster
from moldau.cli.render.output import bytes_text, columns, counted, output_option, print_data
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
)
from moldau.protocol.messages.security.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

KEYS = {
    "producer_byte_rate": "bytes written a second",
    "consumer_byte_rate": "bytes read a second",
    "request_percentage": "percent of a processor's time",
    "controller_mutation_rate": "partitions created or deleted a second",
    "connection_creation_rate": "connections a second",
}
BYTE_RATES = ("producer_byte_rate", "consumer_byte_rate")
KINDS = ("user", "client-id", "ip")
WORDS = {"user": "user", "client-id": "client", "ip": "address"}
UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1024, "mi": 1024**2, "gi": 1024**3}
NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", re.IGNORECASE)
EXACT, DEFAULT = 0, 1
Entity = tuple[tuple[str, str | None], ...]


class Quota(NamedTuple):
    entity: Entity
    key: str
    value: float


def of_entity(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name whose quota it is."""
    for option in (
        click.option("--any-ip", is_flag=True, help="Addresses without a quota of their own."),
        click.option("--ip", metavar="ADDRESS", help="This address."),
        click.option("--any-client", is_flag=True, help="Clients without a quota of their own."),
        click.option(
            "--client", metavar="ID", help="Clients with this client.id; with --user: of that user."
        ),
        click.option("--any-user", is_flag=True, help="Users without a quota of their own."),
        click.option("--user", metavar="NAME", help="This user."),
    ):
        function = option(function)
    return function


@click.group("quotas")
def command() -> None:
    """Manage quotas: how much users, clients and addresses may use of each broker.

    Of several quotas the most specific one is in force: that of a user with a client before that of the user, that
    before the client's. Clients that use more have to wait.
    """


@command.command("list")
@of_entity
@output_option
@on_cluster
def list_command(cluster: Cluster, output: str, **names: Any) -> None:
    """List quotas: all of them, or those of a user, a client or an address."""
    found = _quotas(cluster, _entity(names))
    if output != "table":
        print_data(
            output, [{**_as_names(each.entity), "quota": each.key, "limit": each.value} for each in found]
        )
    elif found:
        rows = [(_title(each.entity), each.key, _limit_text(each)) for each in found]
        click.echo(columns(("WHOSE", "QUOTA", "LIMIT"), rows))
    else:
        click.echo("No quotas.", err=True)


@command.command("set")
@click.argument("limits", nargs=-1, required=True, type=KeyValue(), metavar="KEY=LIMIT...")
@of_entity
@on_cluster
def set_command(cluster: Cluster, limits: Sequence[tuple[str, str]], **names: Any) -> None:
    """Set quotas, as in `moldau quotas set --client clueful producer_byte_rate=1MB`.

    KEY is producer_byte_rate, consumer_byte_rate, request_percentage (100 is one processor) or
    controller_mutation_rate, for addresses connection_creation_rate. All are limits of each broker.
    """
    entity = _required(_entity(names))
    ops = [OpData(key=key, value=_number(key, text), remove=False) for key, text in limits]
    _alter(cluster, entity, ops, "set")
    for op in ops:
        click.echo(f"{op.key} of {_title(entity)} is {_limit_text(Quota(entity, op.key, op.value))}.")


@command.command("remove")
@click.argument("keys", nargs=-1, metavar="[KEY...]")
@of_entity
@click.option("--yes", is_flag=True, help="Skip the question.")
@on_cluster
def remove(cluster: Cluster, keys: Sequence[str], yes: bool, **names: Any) -> None:
    """Remove quotas; without KEY all that the user, client or address has."""
    entity = _required(_entity(names))
    present = [each.key for each in _quotas(cluster, entity) if set(each.entity) == set(entity)]
    chosen = list(dict.fromkeys(keys)) or present
    if missing := [key for key in chosen if key not in present]:
        has = ", ".join(present) or "none"
        raise Failure(f"{_title(entity)} has no quota {', '.join(missing)}.", f"It has {has}.")
    if not chosen:
        raise Failure(f"{_title(entity)} has no quotas.", "`moldau quotas list` lists all of them.")
    if not yes:
        confirm(f"Remove {', '.join(chosen)} of {_title(entity)}?", "nothing was changed.")
    _alter(cluster, entity, [OpData(key=key, value=0.0, remove=True) for key in chosen], "remove")
    click.echo(f"Removed {counted(len(chosen), 'quota')} of {_title(entity)}.")


def _entity(names: dict[str, Any]) -> Entity:
    parts: list[tuple[str, str | None]] = []
    for kind, option in (("user", "user"), ("client-id", "client"), ("ip", "ip")):
        name, is_any = names[option], names[f"any_{option}"]
        if name is not None and is_any:
            raise click.UsageError(f"--{option} and --any-{option} exclude each other.")
        if name is not None or is_any:
            parts.append((kind, name))
    if len(parts) > 1 and parts[-1][0] == "ip":
        raise click.UsageError("An address has quotas of its own: use neither --user nor --client with it.")
    return tuple(parts)


def _required(entity: Entity) -> Entity:
    if not entity:
        raise click.UsageError(
            "Whose quota? Give --user, --client or --ip, or --any-user, --any-client or --any-ip."
        )
    return entity


def _quotas(cluster: Cluster, entity: Entity) -> list[Quota]:
    components = [
        ComponentData(entity_type=kind, match_type=DEFAULT if name is None else EXACT, match=name)
        for kind, name in entity
    ]
    request = DescribeClientQuotasRequest(components=components, strict=False)
    answer = cluster.wire.ask(cluster.wire.any_broker(), request, DescribeClientQuotasResponse, "list quotas")
    if answer.error_code:
        raise refused(KafkaError(answer.error_code, answer.error_message), "list quotas")
    found = [
        Quota(_ordered([(part.entity_type, part.entity_name) for part in entry.entity]), each.key, each.value)
        for entry in answer.entries or ()
        for each in entry.values
    ]
    return sorted(found, key=lambda quota: (_title(quota.entity), quota.key))


def _ordered(parts: list[tuple[str, str | None]]) -> Entity:
    return tuple(sorted(parts, key=lambda part: KINDS.index(part[0])))


def _alter(cluster: Cluster, entity: Entity, ops: Sequence[OpData], verb: str) -> None:
    entry = EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity], ops=ops
    )
    doing = f"{verb} quotas of {_title(entity)}"
    request = AlterClientQuotasRequest(entries=[entry], validate_only=False)
    answer = cluster.wire.ask(cluster.wire.any_broker(), request, AlterClientQuotasResponse, doing)
    for result in answer.entries:
        if result.error_code == ErrorCode.INVALID_REQUEST:
            raise Failure(f"cannot {doing}: {result.error_message}.", None, ErrorCode.INVALID_REQUEST)
        if result.error_code:
            raise refused(KafkaError(result.error_code, result.error_message), doing)


def _number(key: str, text: str) -> float:
    if key not in KEYS:
        raise Failure(f"there is no quota '{key}'.", f"The quotas are {', '.join(KEYS)}.")
    found = NUMBER.fullmatch(text.strip())
    if found is None or (found[2] and key not in BYTE_RATES):
        example = "5000000, 5MB or 5MiB" if key in BYTE_RATES else "12.5"
        raise Failure(f"'{text}' is no limit for {key}.", f"Write it as {example}: {KEYS[key]}.")
    return float(found[1]) * UNITS[(found[2] or "").lower()]


def _title(entity: Entity) -> str:
    return " with ".join(
        f"any {WORDS[kind]}" if name is None else f"{WORDS[kind]} {name}" for kind, name in entity
    )


def _as_names(entity: Entity) -> dict[str, str | None]:
    """A default is written as `<default>`, as Kafka's tools write it."""
    names = dict(entity)
    return {WORDS[kind]: None if kind not in names else names[kind] or "<default>" for kind in KINDS}


def _limit_text(quota: Quota) -> str:
    if quota.key in BYTE_RATES:
        return f"{bytes_text(quota.value)}/s"
    return f"{quota.value:g}{' %' if quota.key == 'request_percentage' else '/s'}"
