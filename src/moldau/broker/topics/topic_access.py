"""Which of the topics of a request the client may not read or write.

For Produce and Fetch, which name topics by name or by id. They ask only if the broker has an authorizer at all.
"""

from collections.abc import Sequence
from typing import Final

from moldau.broker.hosting.hosted_partitions import TopicKey
from moldau.broker.request.client_session import ClientSession
from moldau.core.ids import TopicId
from moldau.security.access.model import CLUSTER_NAME, Operation, ResourceKind

_TOPIC: Final = ResourceKind.TOPIC
NONE_FORBIDDEN: Final[frozenset[TopicKey]] = frozenset()


def forbidden_topics(
    session: ClientSession, operation: Operation, topics: Sequence[tuple[TopicKey, object]]
) -> frozenset[TopicKey]:
    """An id that no topic has is not forbidden: the answer to it says so."""
    broker = session.broker
    caller = session.client.caller
    allows = broker.authorizer.allows
    forbidden: frozenset[TopicKey] = NONE_FORBIDDEN
    for topic, _ in topics:
        if isinstance(topic, str):
            name = topic
        else:
            entry = broker.catalog.find_by_id(TopicId(topic))
            if entry is None:
                continue
            name = entry.name
        if not allows(caller, operation, _TOPIC, name):
            forbidden |= {topic}
    return forbidden


def may_follow(session: ClientSession) -> bool:
    """Whether it may read as a replica does."""
    caller = session.client.caller
    allows = session.broker.authorizer.allows
    return allows(caller, Operation.CLUSTER_ACTION, ResourceKind.CLUSTER, CLUSTER_NAME)
