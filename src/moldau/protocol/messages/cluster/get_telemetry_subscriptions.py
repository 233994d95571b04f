"""GetTelemetrySubscriptions: the metrics a broker requests from a client (KIP-714)."""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    request,
    response,
    structure,
    uuid,
)


@request(71, versions="0", flexible="0+")
@structure
class GetTelemetrySubscriptionsRequest(Request):
    client_instance_id: bytes = uuid()


@response(GetTelemetrySubscriptionsRequest)
@structure
class GetTelemetrySubscriptionsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    client_instance_id: bytes = uuid()
    subscription_id: int = int32()
    accepted_compression_types: Sequence[int] = array("int8")
    push_interval_ms: int = int32()
    telemetry_max_bytes: int = int32()
    delta_temporality: bool = bool8()
    requested_metrics: Sequence[str] = array("string")
