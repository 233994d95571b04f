"""DescribeClientQuotas: the quotas that match a filter (KIP-546).

v1 flexible.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    float64,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class ComponentData:
    entity_type: str = string()
    match_type: int = int8()
    """0 this name, 1 the default, 2 any name."""
    match: str | None = string(nullable="0+")


@request(48, versions="0-1", flexible="1+")
@structure
class DescribeClientQuotasRequest(Request):
    components: Sequence[ComponentData] = array(ComponentData)
    strict: bool = bool8()


@structure
class EntityData:
    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")


@structure
class ValueData:
    key: str = string()
    value: float = float64()


@structure
class EntryData:
    entity: Sequence[EntityData] = array(EntityData)
    values: Sequence[ValueData] = array(ValueData)


@response(DescribeClientQuotasRequest)
@structure
class DescribeClientQuotasResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    entries: Sequence[EntryData] | None = array(EntryData, nullable="0+")
