"""Checks the arguments of `suppress()` and adds its node."""

from typing import TYPE_CHECKING, Literal

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.nodes import Suppress, history_of
from moldau.pipeline.plan.stores import StoreKind, StoreSpec

if TYPE_CHECKING:
    from moldau.pipeline.streams.table import KTable


def suppress(
    table: "KTable",
    until_ms: int | None,
    records_max: int | None,
    bytes_max: int | None,
    when_full: Literal["emit", "fail"],
    name: str | None,
) -> "KTable":
    draft, where = table._draft, table._draft.here()
    if until_ms is None and table._grace_ms is None:
        raise ConfigError(f"{where}: this table has no windows that could close; give suppress() until_ms=")
    if history_of(table.node, draft.nodes) is not None:
        raise ConfigError(
            f"{where}: suppress() only knows the current rows of a table, and this one keeps its history; "
            "leave history_ms= out, or suppress a table made of it that has a store of its own"
        )
    if when_full not in ("emit", "fail"):
        raise ConfigError(f"{where}: when_full= is 'emit' or 'fail', not {when_full!r}")
    for limit, at_least in ((until_ms, 0), (records_max, 1), (bytes_max, 1)):
        if limit is not None and limit < at_least:
            raise ConfigError(f"{where}: suppress() cannot hold back until {limit}: give at least {at_least}")
    draft.need_old_values(table.node)
    fields = table._next("KTABLE-SUPPRESS", name)
    keys, values = table._keys(None, where), table._values(None, where)
    draft.add(
        Suppress(
            **fields,
            store=StoreSpec(f"{fields['name']}-store", StoreKind.BUFFER, keys, values),
            until_ms=until_ms,
            grace_ms=table._grace_ms or 0,
            records_max=records_max,
            bytes_max=bytes_max,
            when_full=when_full,
        )
    )
    return table._made(fields["name"], table.value_serde, value_sure=table._value_sure)
