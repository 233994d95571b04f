"""What of a produce request the client may write. Asked only if the broker has an authorizer at all."""

from typing import Final

from moldau.broker.hosting.hosted_partitions import TopicKey
from moldau.broker.produce.produce_in_progress import ProduceInProgress, rejected
from moldau.broker.topics.topic_access import forbidden_topics
from moldau.core.error_codes import ErrorCode
from moldau.protocol.fast.produce_codec import ProduceTopics
from moldau.protocol.records.batch import ATTRIBUTES_AT, HEADER_SIZE, TRANSACTIONAL_FLAG
from moldau.security.access.model import Operation, ResourceKind

_FLAGS_AT: Final = ATTRIBUTES_AT + 1
"""The lower byte of the attributes."""


def refuse_forbidden(
    request: ProduceInProgress, transactional_id: str | None, topics: ProduceTopics
) -> frozenset[TopicKey]:
    """The topics that must not be written to; their errors are in the answer already."""
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if has_transactional_records(topics) and not _may_transact(request, transactional_id):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        forbidden = frozenset(topic for topic, _ in topics)
    else:
        forbidden = forbidden_topics(request.session, Operation.WRITE, topics)
        if not forbidden:
            return forbidden
    for topic, partitions in topics:
        if topic in forbidden:
            request.produced.append((topic, [rejected(index, code) for index, _ in partitions]))
    return forbidden


def without(topics: ProduceTopics, forbidden: frozenset[TopicKey]) -> ProduceTopics:
    return [each for each in topics if each[0] not in forbidden]


def has_transactional_records(topics: ProduceTopics) -> bool:
    for _, partitions in topics:
        for _, records in partitions:
            if (
                records is not None
                and len(records) >= HEADER_SIZE
                and records[_FLAGS_AT] & TRANSACTIONAL_FLAG
            ):
                return True
    return False


def _may_transact(request: ProduceInProgress, transactional_id: str | None) -> bool:
    session = request.session
    allows = session.broker.authorizer.allows
    return transactional_id is not None and allows(
        session.client.caller, Operation.WRITE, ResourceKind.TRANSACTIONAL_ID, transactional_id
    )
