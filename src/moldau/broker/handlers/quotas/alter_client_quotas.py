"""AlterClientQuotas (49), v0-1 (KIP-546): sets and removes quotas of users, clients and addresses.

v1 flexible

Each entity succeeds or fails on its own. An entity that is named twice fails the second time.
"""

from collections.abc import Mapping

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.coordination.security.entity_nodes import EntityPart
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.security.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    EntryResult,
)
from moldau.security.access.model import Operation
from moldau.security.quotas.quota_changes import checked_entity, checked_values
from moldau.security.quotas.quota_keys import Entity


async def handle(ctx: RequestContext, request: AlterClientQuotasRequest) -> AlterClientQuotasResponse:
    if not ctx.may_with_cluster(Operation.ALTER_CONFIGS):
        error = ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
        return AlterClientQuotasResponse(entries=[_result(entry, error) for entry in request.entries])
    results = []
    done: set[Entity] = set()
    for entry in request.entries:
        try:
            await _alter(ctx, entry, done, validate_only=request.validate_only)
        except ApiError as error:
            results.append(_result(entry, error))
        else:
            results.append(_result(entry))
    return AlterClientQuotasResponse(entries=results)


API = ApiSpec.of(AlterClientQuotasRequest, handle)


async def _alter(ctx: RequestContext, entry: EntryData, done: set[Entity], *, validate_only: bool) -> None:
    entity = checked_entity([(each.entity_type, each.entity_name) for each in entry.entity])
    values = checked_values(entity, [(each.key, None if each.remove else each.value) for each in entry.ops])
    if entity in done:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Ignoring duplicate entity {dict(entity)}")
    done.add(entity)
    if validate_only:
        return

    def edit(present: Mapping[str, str]) -> Mapping[str, str]:
        texts = {**present, **values}
        return {key: text for key, text in texts.items() if text is not None}

    await ctx.broker.security.write_entity(tuple(EntityPart(kind, name) for kind, name in entity), edit)


def _result(entry: EntryData, error: ApiError | None = None) -> EntryResult:
    return EntryResult(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
        entity=[
            EntityData(entity_type=each.entity_type, entity_name=each.entity_name) for each in entry.entity
        ],
    )
