"""AlterClientQuotas: sets and removes quotas (KIP-546).

v1 flexible.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    float64,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class EntityData:
    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")
    """None is the default of this entity type."""


@structure
class OpData:
    key: str = string()
    value: float = float64()
    remove: bool = bool8()


@structure
class EntryData:
    entity: Sequence[EntityData] = array(EntityData)
    ops: Sequence[OpData] = array(OpData)


@request(49, versions="0-1", flexible="1+")
@structure
class AlterClientQuotasRequest(Request):
    entries: Sequence[EntryData] = array(EntryData)
    validate_only: bool = bool8()


@structure
class EntryResult:
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    entity: Sequence[EntityData] = array(EntityData)


@response(AlterClientQuotasRequest)
@structure
class AlterClientQuotasResponse(Response):
    throttle_time_ms: int = int32(default=0)
    entries: Sequence[EntryResult] = array(EntryResult)
