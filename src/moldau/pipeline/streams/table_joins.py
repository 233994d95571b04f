"""The joins of a table: with a table of the same keys, or by a foreign key."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import JoinKind, TableJoin
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.foreign_key import join_on_foreign_key

if TYPE_CHECKING:
    from moldau.pipeline.streams.table import KTable


@dataclass(frozen=True, slots=True)
class Joining:
    """What every join of a table has."""

    kind: JoinKind
    joiner: Callable[..., Any]
    value_serde: Serde | None
    store: str | None
    name: str | None
    where: Location


def join(
    left: "KTable[Any, Any]",
    right: "KTable[Any, Any]",
    joining: Joining,
    foreign_key: Callable[[Any], Any] | None,
) -> "KTable[Any, Any]":
    from moldau.pipeline.streams.table import KTable

    draft, where, kind = left._draft, joining.where, joining.kind
    if not isinstance(right, KTable):
        raise ConfigError(
            f"{where}: a table is joined with a table, not with {type(right).__name__}: swap the sides "
            "(stream.join(table)), or turn the stream into a table with to_table()"
        )
    draft.check_builder(right, where)
    if foreign_key is not None:
        return join_on_foreign_key(left, right, joining, foreign_key)
    right._check_same_key(left, where)
    node_name = draft.name("KTABLE-JOIN", joining.name)
    sources = left._copartition(right)
    if kind is not JoinKind.INNER:
        draft.need_old_values(left.node)
    if kind is JoinKind.OUTER:
        draft.need_old_values(right.node)
    draft.need_values(left.node)
    draft.need_values(right.node)
    serde: Serde = joining.value_serde or draft.value_serde
    draft.add(
        TableJoin(
            name=node_name,
            parents=(left.node, right.node),
            where=where,
            store=left._store(joining.store, serde, where),
            kind=kind,
            joiner=joining.joiner,
        )
    )
    keys, sure = left._keys(None, where), joining.value_serde is not None
    return KTable(draft, node_name, keys, serde, sources, value_sure=sure, grace_ms=left._grace_ms)
