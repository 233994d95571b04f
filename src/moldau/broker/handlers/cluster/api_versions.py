"""ApiVersions (18), v0-4.

v3 flexible, client software, features (KIP-584)   v4 features with minimum version 0

The response header has no tagged fields in any version. A request in an unknown version gets a v0 answer with
UNSUPPORTED_VERSION and the list of APIs, so that the client can continue (KIP-511).
"""

import re
from typing import Final

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.cluster.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
SOFTWARE_SINCE: Final = 3
FEATURES: Final = {"group.version": 1, "transaction.version": 2}
"""Clients check these before they use a newer protocol: consumer groups (KIP-848), transactions v2
(KIP-890)."""
FEATURES_FROM_ZERO_SINCE: Final = 4
TELEMETRY_KEYS: Final = frozenset({71, 72})
"""Advertised only if there is a client metrics subscription: a client that sees these APIs starts to
measure."""


def handle(ctx: RequestContext, request: ApiVersionsRequest | None) -> ApiVersionsResponse:
    if request is None:
        return _answer(ctx, ErrorCode.UNSUPPORTED_VERSION)
    if ctx.version >= SOFTWARE_SINCE:
        name, version = request.client_software_name, request.client_software_version
        if not _SOFTWARE.fullmatch(name) or not _SOFTWARE.fullmatch(version):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST, api_keys=[])
        ctx.client.software_name, ctx.client.software_version = name, version
    return _answer(ctx, ErrorCode.NONE)


API = ApiSpec.of(ApiVersionsRequest, handle)


def _answer(ctx: RequestContext, code: ErrorCode) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        error_code=code,
        api_keys=[
            ApiVersion(
                api_key=spec.key, min_version=spec.advertised_min_version, max_version=spec.max_version
            )
            for spec in ctx.broker.table.specs
            if spec.is_advertised and (spec.key not in TELEMETRY_KEYS or ctx.broker.configs.client_metrics)
        ],
        # Before v4 clients fail on a feature with minimum version 0 (KAFKA-17011).
        supported_features=[
            SupportedFeatureKey(name=name, min_version=0, max_version=level)
            for name, level in FEATURES.items()
            if ctx.version >= FEATURES_FROM_ZERO_SINCE
        ],
        finalized_features_epoch=0,
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in FEATURES.items()
        ],
    )
