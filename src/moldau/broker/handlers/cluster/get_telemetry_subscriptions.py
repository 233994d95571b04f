"""GetTelemetrySubscriptions (71), v0: the metrics this broker requests from a client (KIP-714).

None are requested until a client metrics resource is configured.
"""

import uuid

from moldau.broker.configs.client_metrics import ACCEPTED_COMPRESSION, subscription_for
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.ids import TOPIC_ID_ZERO
from moldau.protocol.messages.cluster.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)


def handle(
    ctx: RequestContext, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    instance_id = request.client_instance_id
    if instance_id == TOPIC_ID_ZERO:
        instance_id = uuid.uuid4().bytes
    subscription = subscription_for(ctx.broker.configs, ctx.client, instance_id)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=subscription.subscription_id,
        accepted_compression_types=ACCEPTED_COMPRESSION,
        push_interval_ms=subscription.interval_ms,
        telemetry_max_bytes=ctx.broker.configs.broker.telemetry_max_bytes,
        delta_temporality=True,
        requested_metrics=subscription.metrics,
    )


API = ApiSpec.of(GetTelemetrySubscriptionsRequest, handle)
