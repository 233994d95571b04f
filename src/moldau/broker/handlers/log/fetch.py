"""Fetch (1), v4-18.

v5 log start offset   v7 sessions (KIP-227)   v9 leader epoch (KIP-320)   v11 rack (KIP-392)
v12 flexible, last fetched epoch   v13 topic ids (KIP-516)   v15 replica state   v17 directory id
v18 high watermark

Record batches are not parsed: an answer is a list of slices of log files.
"""

from operator import itemgetter
from typing import Final

from moldau.broker.fetch.consumer_fetch import NOTHING, ConsumerFetch, framed, unread
from moldau.broker.fetch.fetch_sessions import FULL_FETCH_EPOCH, NO_SESSION, FetchSession, Wanted
from moldau.broker.fetch.follower_fetch import FollowerFetch
from moldau.broker.fetch.follower_fetch_session import FollowerFetchSession
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import ClientSession
from moldau.broker.request.throttling import quota_user
from moldau.broker.topics.topic_access import forbidden_topics, may_follow
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.fast.fetch_codec import TOPIC_IDS_FROM, FetchRequestView, decode_fetch
from moldau.protocol.messages.log.fetch import FetchRequest
from moldau.security.access.model import Operation

MANY_PARTITIONS: Final = 100
"""Of one topic in one request. Smaller requests are not checked for duplicates."""
_index_of = itemgetter(0)


def handle_frame(
    session: ClientSession, frame: memoryview, position: int, version: int, correlation_id: int
) -> list[Chunk] | None:
    asked = decode_fetch(frame, position, version)
    if asked.replica_id >= 0:
        return _serve_follower(session, version, correlation_id, asked)
    broker = session.broker
    bytes_max = min(asked.max_bytes, broker.configs.broker.fetch_max_bytes)
    if broker.quotas.is_active:
        bytes_max = min(bytes_max, _quota_bytes(session))
    bytes_min = min(asked.min_bytes, bytes_max)
    wanted, session_id, session_epoch = asked.topics, asked.session_id, asked.session_epoch
    is_full = True
    fetch_session: FetchSession | None = None
    for _, partitions in wanted:
        if len(partitions) > MANY_PARTITIONS:
            wanted = _each_once(wanted)
            break
    if session_epoch >= 0:
        try:
            fetch_session, wanted, is_full = _session(session, version, asked, wanted)
        except ApiError as error:
            return framed(version, correlation_id, error.code, NO_SESSION, [])
    elif session_id != NO_SESSION:
        broker.fetch_sessions.close(session_id)
    forbidden = NOTHING
    if session.is_guarded:
        wanted, forbidden = _divided(session, wanted)
    if len(wanted) > 1 or (wanted and len(wanted[0][1]) > 1):
        portion_bytes = session.connection.portion_bytes()
        if bytes_min <= portion_bytes < bytes_max:
            bytes_max = portion_bytes
        if session.fetch_turn and fetch_session is None:
            wanted = _rotated(wanted, session.fetch_turn)
    consumed = ConsumerFetch(
        session,
        version,
        correlation_id,
        wanted,
        bytes_min,
        bytes_max,
        asked.isolation_level,
        fetch_session,
        is_full,
        asked.rack_id if broker.selects_replicas else "",
        forbidden,
    )
    return _answer(consumed, asked.max_wait_ms if wanted else 0)


def _serve_follower(
    session: ClientSession, version: int, correlation_id: int, asked: FetchRequestView
) -> list[Chunk] | None:
    if session.is_guarded and not may_follow(session):
        return _not_followed(session, version, correlation_id, asked)
    try:
        reading = _followed(session, asked.session_id, asked.session_epoch)
        follower = (asked.replica_id, asked.replica_epoch)
        reading.ask(follower, asked.topics, asked.forgotten, session.broker.clock.monotonic_ms())
    except ApiError as error:
        return framed(version, correlation_id, error.code, NO_SESSION, [])
    fetch = FollowerFetch(
        session,
        version,
        correlation_id,
        reading,
        asked.min_bytes,
        asked.max_bytes,
        is_full=asked.session_epoch <= FULL_FETCH_EPOCH,
    )
    return _answer(fetch, asked.max_wait_ms)


def _not_followed(
    session: ClientSession, version: int, correlation_id: int, asked: FetchRequestView
) -> list[Chunk] | None:
    """The answer to a client that may not read as a replica does. A session it had before ends. It waits as if there
    was nothing to read: a follower would ask again at once, and for ever."""
    if session.following is not None:
        session.following.close()
        session.following = None
    if asked.session_epoch > FULL_FETCH_EPOCH:
        return framed(version, correlation_id, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, NO_SESSION, [])
    answer = framed(version, correlation_id, ErrorCode.NONE, NO_SESSION, unread(asked.topics))
    if asked.max_wait_ms <= 0:
        return answer

    def send() -> None:
        session.on_disconnect = None
        session.connection.reply(answer)

    session.on_disconnect = session.broker.scheduler.call_later(asked.max_wait_ms, send).cancel
    return None


def _quota_bytes(session: ClientSession) -> int:
    client = session.client
    return session.broker.quotas.fetch_bytes_max(quota_user(client), client.client_id or "")


def _session(
    session: ClientSession, version: int, asked: FetchRequestView, wanted: Wanted
) -> tuple[FetchSession | None, Wanted, bool]:
    """The client's session, if it has one, all partitions it asks for, and whether the answer must name each of
    them."""
    sessions, now_ms = session.broker.fetch_sessions, session.broker.clock.monotonic_ms()
    has_topic_ids = version >= TOPIC_IDS_FROM
    found = sessions.resume(asked.session_id, asked.session_epoch, now_ms, has_topic_ids=has_topic_ids)
    if found is not None:
        sessions.update(found, wanted, asked.forgotten)
        return found, found.wanted(), False
    if not _all_hosted(session, wanted):
        return None, wanted, True
    return sessions.open(wanted, now_ms, has_topic_ids=has_topic_ids), wanted, True


def _divided(session: ClientSession, wanted: Wanted) -> tuple[Wanted, Wanted]:
    """What the client may read, and what not."""
    forbidden = forbidden_topics(session, Operation.READ, wanted)
    if not forbidden:
        return wanted, NOTHING
    return (
        [each for each in wanted if each[0] not in forbidden],
        [each for each in wanted if each[0] in forbidden],
    )


def _followed(session: ClientSession, session_id: int, session_epoch: int) -> FollowerFetchSession:
    """The session of the follower on this connection, a new one if the follower starts over."""
    if session_epoch > FULL_FETCH_EPOCH:
        if session.following is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        session.following.resume(session_id, session_epoch)
        return session.following
    if session.following is not None:
        session.following.close()
    is_kept = session_epoch == FULL_FETCH_EPOCH
    session.following = FollowerFetchSession(session.broker.parked_fetches, is_kept=is_kept)
    return session.following


def _answer(fetch: ConsumerFetch | FollowerFetch, wait_ms: int) -> list[Chunk] | None:
    """None when there is less than requested: the answer follows when there is more, or at the timeout."""
    answer = fetch.read(is_final=wait_ms <= 0)
    if answer is None:
        fetch.park(wait_ms)
    return answer


API = ApiSpec.of(FetchRequest, handle_frame=handle_frame)


def _each_once(wanted: Wanted) -> Wanted:
    """A partition named twice is read once, from the offset named last."""
    return [
        (topic, partitions)
        if len(set(map(_index_of, partitions))) == len(partitions)
        else (topic, list({_index_of(partition): partition for partition in partitions}.values()))
        for topic, partitions in wanted
    ]


def _rotated(wanted: Wanted, turn: int) -> Wanted:
    """The same partitions, starting at position `turn`, so that the first ones do not starve the others."""
    turn %= sum(len(partitions) for _, partitions in wanted)
    for place, (topic, partitions) in enumerate(wanted):
        if turn < len(partitions):
            first, last = (topic, partitions[turn:]), (topic, partitions[:turn])
            return [first, *wanted[place + 1 :], *wanted[:place], last]
        turn -= len(partitions)
    return wanted


def _all_hosted(session: ClientSession, wanted: Wanted) -> bool:
    """A session for partitions that are not hosted here would cost memory and save nothing."""
    find = session.broker.partitions.find
    return all(find(topic, each[0]) is not None for topic, partitions in wanted for each in partitions)
