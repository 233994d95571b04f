"""The protocols that members of a classic group offer, and the topics in a consumer's subscription."""

from typing import NamedTuple

from moldau.core.errors import PeerError
from moldau.protocol.stored.consumer_protocol import ConsumerProtocolSubscription
from moldau.protocol.stored.framing import decode_prefix


class GroupProtocol(NamedTuple):
    """A protocol (assignor) that a member supports, with the member's metadata for it."""

    name: str
    metadata: bytes


def subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """None if the bytes are not a consumer's subscription: other kinds of members have formats of their
    own."""
    try:
        return frozenset(decode_prefix(ConsumerProtocolSubscription, metadata).topics)
    except PeerError:
        return None


def subscription_change(before: tuple[GroupProtocol, ...], after: tuple[GroupProtocol, ...]) -> str:
    """The change in words, as far as it can be read from the bytes."""
    names_before, names_after = [name for name, _ in before], [name for name, _ in after]
    if names_before != names_after:
        return f"offers {', '.join(names_after)} instead of {', '.join(names_before)}"
    changed = next((pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]), None)
    topics = changed and [subscribed_topics(protocol.metadata) for protocol in changed]
    if not topics or topics[0] is None or topics[1] is None:
        return ""
    return (
        reading_change(topics[0], topics[1])
        or "reads the same topics, with other owned partitions or metadata"
    )


def reading_change(before: frozenset[str], after: frozenset[str]) -> str:
    added, dropped = sorted(after - before), sorted(before - after)
    words = [f"now reads {', '.join(added)}"] if added else []
    words += [f"no longer reads {', '.join(dropped)}"] if dropped else []
    return "; ".join(words)
