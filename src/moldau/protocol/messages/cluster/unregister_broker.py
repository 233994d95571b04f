"""UnregisterBroker: removes the registration of a broker that will not return (KIP-500).

Not served by Moldau, whose registrations expire. Declared so that messages of Kafka's clients can
be decoded.
"""

from moldau.protocol.spec import Request, Response, int16, int32, request, response, string, structure


@request(64, versions="0", flexible="0+")
@structure
class UnregisterBrokerRequest(Request):
    broker_id: int = int32()


@response(UnregisterBrokerRequest)
@structure
class UnregisterBrokerResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
