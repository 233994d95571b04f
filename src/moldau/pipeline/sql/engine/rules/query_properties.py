"""What the properties of a query say of its run."""

from collections.abc import Mapping

from moldau.pipeline.plan.nodes import OffsetReset
from moldau.pipeline.plan.topology import Guarantee
from moldau.pipeline.sql.engine.server_properties import canonical_name


def guarantee_of(properties: Mapping[str, str]) -> Guarantee:
    said = _property(properties, "processing.guarantee")
    return Guarantee.AT_LEAST_ONCE if said == "at_least_once" else Guarantee.EXACTLY_ONCE


def offset_reset_of(properties: Mapping[str, str]) -> OffsetReset:
    """As in ksqlDB, a query reads what comes from now on, unless it is told otherwise."""
    said = _property(properties, "auto.offset.reset")
    return OffsetReset.EARLIEST if said == "earliest" else OffsetReset.LATEST


def _property(properties: Mapping[str, str], name: str) -> str | None:
    """By its short name, or with the prefix that Kafka Streams' settings have in ksqlDB."""
    found = {canonical_name(given): value for given, value in properties.items()}.get(name)
    return None if found is None else found.lower()
