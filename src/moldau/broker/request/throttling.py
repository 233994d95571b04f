"""Serves the requests of clients while somebody has a quota: counts, and makes those wait who use too much.

As in Kafka the answer is sent at once and tells how long to wait; until then no further request of the connection is
served.
"""

from time import perf_counter
from typing import TYPE_CHECKING, Final

from moldau.core.chunks import Chunk
from moldau.protocol.headers import decode_request_header

if TYPE_CHECKING:
    from moldau.broker.request.client_session import Client, ClientSession

PRODUCE_KEY: Final = 0
FETCH_KEY: Final = 1


def serve_metered(session: "ClientSession", frame: memoryview) -> list[Chunk] | None:
    broker, client = session.broker, session.client
    quotas, now_ms = broker.quotas, broker.clock.monotonic_ms()
    header, _ = decode_request_header(frame)
    client.client_id = header.client_id
    user = quota_user(client)
    client_id = header.client_id or ""
    throttle_ms = 0
    # The fetches of followers are exempt: one that waited would keep writes from being committed.
    is_exempt = session.following is not None and header.api_key == FETCH_KEY
    if not is_exempt:
        throttle_ms = quotas.wait_for_work_ms(user, client_id, now_ms)
        if header.api_key == PRODUCE_KEY:
            throttle_ms = max(throttle_ms, quotas.produced(user, client_id, len(frame), now_ms))
    session.throttle_ms = throttle_ms
    if throttle_ms:
        session.connection.rest(throttle_ms / 1000)
    began = perf_counter()
    answer = session.dispatch(frame)
    if not is_exempt:
        quotas.worked(user, client_id, perf_counter() - began, now_ms)
    return answer


def quota_user(client: "Client") -> str:
    """The name by which quotas know the user: the principal without its type."""
    return client.principal.partition(":")[2]
