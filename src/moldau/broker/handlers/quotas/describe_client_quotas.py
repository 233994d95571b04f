"""DescribeClientQuotas (48), v0-1 (KIP-546).

v1 flexible
"""

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.security.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from moldau.security.access.model import Operation
from moldau.security.quotas.quota_changes import Component, quota_filter
from moldau.security.quotas.quota_keys import Entity, quota_values


def handle(ctx: RequestContext, request: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    if not ctx.may_with_cluster(Operation.DESCRIBE_CONFIGS):
        return _refused(ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."))
    try:
        wanted = quota_filter(
            [Component(each.entity_type, each.match_type, each.match) for each in request.components],
            is_strict=request.strict,
        )
    except ApiError as error:
        return _refused(error)
    quotas = ((entity, quota_values(texts)) for entity, texts in ctx.broker.security.entities.items())
    return DescribeClientQuotasResponse(
        error_message=None,
        entries=[_entry(entity, values) for entity, values in quotas if values and wanted.takes(entity)],
    )


API = ApiSpec.of(DescribeClientQuotasRequest, handle)


def _entry(entity: Entity, values: dict[str, float]) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        values=[ValueData(key=key, value=value) for key, value in sorted(values.items())],
    )


def _refused(error: ApiError) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
