"""Produce (0), v3-13; advertised from v0, because otherwise librdkafka disables compression (KAFKA-18659).

v5 log start offset   v8 record errors (KIP-467)   v9 flexible   v11, v12 transactions v2 (KIP-890)
v13 topic ids (KIP-516)

`broker/produce/` appends the batches and answers.
"""

from collections.abc import Awaitable

from moldau.broker.produce.appending import append_all
from moldau.broker.produce.produce_in_progress import ProduceInProgress
from moldau.broker.produce.txn_check import outside_transaction
from moldau.broker.produce.write_access import has_transactional_records, refuse_forbidden, without
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import ClientSession
from moldau.broker.topics.topic_access import NONE_FORBIDDEN
from moldau.broker.transactions.txn_membership import Refused
from moldau.core.chunks import Chunk
from moldau.protocol.fast.produce_codec import ProduceTopics, decode_produce
from moldau.protocol.messages.log.produce import ProduceRequest


def handle_frame(
    session: ClientSession, frame: memoryview, position: int, version: int, correlation_id: int
) -> list[Chunk] | None:
    transactional_id, acks, timeout_ms, topics = decode_produce(frame, position, version)
    now_ms = session.broker.clock.now_ms()
    request = ProduceInProgress(session, version, correlation_id, acks, timeout_ms, now_ms)
    forbidden = NONE_FORBIDDEN
    if session.is_guarded:
        forbidden = refuse_forbidden(request, transactional_id, topics)
        if forbidden:
            topics = without(topics, forbidden)
        if transactional_id is not None and not has_transactional_records(topics):
            transactional_id = None
    if transactional_id is None:
        return append_all(request, topics, None)
    outside = outside_transaction(session, version, transactional_id, topics)
    if isinstance(outside, Awaitable):
        # The frame's buffer is reused before the coordinator answers.
        copy = memoryview(bytearray(frame))
        topics = without(decode_produce(copy, position, version)[3], forbidden)
        session.broker.scheduler.spawn(_append_later(request, topics, outside))
        return None
    return append_all(request, topics, outside)


API = ApiSpec.of(ProduceRequest, handle_frame=handle_frame, advertised_min_version=0)


async def _append_later(
    request: ProduceInProgress, topics: ProduceTopics, outside: Awaitable[Refused]
) -> None:
    answer = append_all(request, topics, await outside)
    if answer is not None:
        request.session.connection.reply(answer)
