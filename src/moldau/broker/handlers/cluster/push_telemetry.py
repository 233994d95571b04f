"""PushTelemetry (72), v0: metrics sent by a client (KIP-714).

They are accepted and dropped: nothing reads them yet.
"""

from moldau.broker.configs.client_metrics import ACCEPTED_COMPRESSION, UNCOMPRESSED, subscription_for
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TOPIC_ID_ZERO
from moldau.protocol.messages.cluster.push_telemetry import PushTelemetryRequest, PushTelemetryResponse


def handle(ctx: RequestContext, request: PushTelemetryRequest) -> PushTelemetryResponse:
    return PushTelemetryResponse(error_code=_check(ctx, request))


API = ApiSpec.of(PushTelemetryRequest, handle)


def _check(ctx: RequestContext, request: PushTelemetryRequest) -> ErrorCode:
    if request.client_instance_id == TOPIC_ID_ZERO:
        return ErrorCode.INVALID_REQUEST
    subscription = subscription_for(ctx.broker.configs, ctx.client, request.client_instance_id)
    if request.subscription_id != subscription.subscription_id:
        return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    if request.compression_type not in (UNCOMPRESSED, *ACCEPTED_COMPRESSION):
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    if len(request.metrics) > ctx.broker.configs.broker.telemetry_max_bytes:
        return ErrorCode.TELEMETRY_TOO_LARGE
    return ErrorCode.NONE
