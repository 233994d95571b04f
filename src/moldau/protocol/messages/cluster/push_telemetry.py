"""PushTelemetry: metrics from a client, as OpenTelemetry data (KIP-714)."""

from moldau.protocol.spec import (
    Request,
    Response,
    bool8,
    bytestring,
    int8,
    int16,
    int32,
    request,
    response,
    structure,
    uuid,
)


@request(72, versions="0", flexible="0+")
@structure
class PushTelemetryRequest(Request):
    client_instance_id: bytes = uuid()
    subscription_id: int = int32()
    terminating: bool = bool8()
    compression_type: int = int8()
    metrics: bytes = bytestring()


@response(PushTelemetryRequest)
@structure
class PushTelemetryResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
