"""Error answers, made from the request alone: the request is not carried out.

An answer repeats what the request names: topics, partitions, groups, keys. So this module walks the answer's
declaration along with the request, copies names and numbers, and puts the error where Kafka puts it: in the answer
itself if it has a field for one, else in each item.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Final

from moldau.broker.fetch.fetch_sessions import FULL_FETCH_EPOCH
from moldau.broker.request.api_table import API_VERSIONS_KEY, ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.fast.fetch_codec import TOPIC_IDS_FROM
from moldau.protocol.messages.groups.offset_fetch import OffsetFetchRequest
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.topics.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
)
from moldau.protocol.spec import Field, Response, fields_of

ERROR_FIELDS: Final = ("error_code", "partition_error_code")
OTHER_NAMES: Final[dict[str, Sequence[str]]] = {
    "coordinators": ("coordinator_keys",),
    "partition_index": ("partition",),
    "partition_responses": ("partition_data",),
    "partitions": ("partition_indexes",),
    "responses": ("topic_data", "topics", "topic_names", "resources"),
    "results": ("topics", "resources", "groups_names"),
    "results_by_partition": ("partitions",),
    "results_by_topic_v3_and_below": ("v3_and_below_topics",),
}
"""The name of an answer's field in the request, where they differ."""
NAMES: Final = frozenset(
    {
        "group_id",
        "index",
        "key",
        "member_id",
        "name",
        "partition",
        "partition_index",
        "resource_name",
        "resource_type",
        "topic",
        "topic_id",
        "transactional_id",
    }
)
"""Fields an answer copies from the request."""
FILLED_WITH: Final[dict[str, object]] = {
    "base_offset": -1,
    "committed_offset": -1,
    "high_watermark": -1,
    "node_id": -1,
    "port": -1,
    "records": b"",
}
"""Values Kafka sends with an error, where they differ from the declared default."""
ABOUT_WHOLE_FETCH: Final = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    }
)
ABOUT_PARTITION_OFFSETS: Final = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    }
)


def can_fail(spec: ApiSpec) -> bool:
    """Whether an error answer can be made for every version. ApiVersions is excluded: a client that gets an error
    there does not ask again."""
    versions = range(spec.min_version, spec.max_version + 1)
    return spec.key != API_VERSIONS_KEY and all(
        _has_place(spec.request.RESPONSE, spec.request, version) for version in versions
    )


def failed_answer(ctx: RequestContext, request: Any, code: ErrorCode) -> Response | None:
    """None when the request names nothing that could fail."""
    if isinstance(request, FetchRequest):
        request = _with_session_topics(ctx, request)
    elif isinstance(request, MetadataRequest):
        request = _with_every_topic(ctx, request)
    is_deep = _is_deep(request, code)
    if is_deep and isinstance(request, FetchRequest | MetadataRequest) and not request.topics:
        return None
    answer = _Failure(ctx.version, code, is_deep).answer_to(request)
    if isinstance(answer, MetadataResponse):
        return _with_brokers(ctx, answer)
    return answer


class _Failure:
    """One walk through an answer's declaration. When `is_deep`, the answer's own error is left alone as long as it
    has items that can carry one."""

    def __init__(self, version: int, code: ErrorCode, is_deep: bool) -> None:
        self._version = version
        self._code = code
        self._is_deep = is_deep
        self._places = 0

    def answer_to(self, request: Any) -> Response | None:
        answer: Response = self._made(request.RESPONSE, request)
        return answer if self._places else None

    def _made(self, structure: type[Any], asked: Any) -> Any:
        fields = _present(structure, self._version)
        values = {field.name: FILLED_WITH[field.name] for field in fields if field.name in FILLED_WITH}
        values |= _copied(fields, asked)
        error = next((field.name for field in fields if field.name in ERROR_FIELDS), None)
        if error is None or self._is_deep:
            before = self._places
            for field in fields:
                if _is_list_of_named(field) and (items := _counterpart(asked, field.name)):
                    values[field.name] = [self._made(field.of, item) for item in items]  # type: ignore[arg-type]
            if self._places > before:
                return structure(**values)
        if error is not None:
            values[error] = self._code
            self._places += 1
        return structure(**values)


def _present(structure: type[Any], version: int) -> list[Field]:
    return [field for field in fields_of(structure) if version in field.versions]


def _is_list_of_named(field: Field) -> bool:
    """Lists of items without a name do not correspond to the request."""
    return (
        field.is_array
        and isinstance(field.of, type)
        and any(each.name in NAMES for each in fields_of(field.of))
    )


def _copied(fields: Iterable[Field], asked: Any) -> dict[str, object]:
    """A request that lists bare names or numbers supplies each to the first field that takes one."""
    names = [field.name for field in fields if field.name in NAMES]
    if isinstance(asked, str | int):
        return {names[0]: asked}
    found = ((name, _counterpart(asked, name)) for name in names)
    return {name: value for name, value in found if value is not None}


def _counterpart(asked: Any, name: str) -> Any:
    for each in (name, *OTHER_NAMES.get(name, ())):
        if (value := getattr(asked, each, None)) is not None and value != []:
            return value
    return None


def _has_place(structure: type[Any], asked: type[Any] | None, version: int) -> bool:
    """The same walk over the declarations alone. `asked` is None for bare names and numbers."""
    fields = _present(structure, version)
    if any(field.name in ERROR_FIELDS for field in fields):
        return True
    lists = {} if asked is None else {each.name: each for each in _present(asked, version) if each.is_array}
    for field in filter(_is_list_of_named, fields):
        for name in (field.name, *OTHER_NAMES.get(field.name, ())):
            if name in lists:
                of = lists[name].of
                if _has_place(field.of, of if isinstance(of, type) else None, version):  # type: ignore[arg-type]
                    return True
    return False


def _is_deep(request: Any, code: ErrorCode) -> bool:
    if isinstance(request, FetchRequest):
        return code not in ABOUT_WHOLE_FETCH
    if isinstance(request, OffsetFetchRequest):
        return code in ABOUT_PARTITION_OFFSETS
    return isinstance(request, MetadataRequest) and code != ErrorCode.REBOOTSTRAP_REQUIRED


def _with_session_topics(ctx: RequestContext, request: FetchRequest) -> FetchRequest:
    """An incremental fetch names only what changed (KIP-227). The error ends the session: the client learns that from
    an answer without its id."""
    if request.session_epoch <= FULL_FETCH_EPOCH:
        return request
    sessions = ctx.broker.fetch_sessions
    now_ms = ctx.broker.clock.monotonic_ms()
    try:
        session = sessions.resume(
            request.session_id, request.session_epoch, now_ms, has_topic_ids=ctx.version >= TOPIC_IDS_FROM
        )
    except ApiError:
        return dataclasses.replace(request, topics=[])
    assert session is not None
    sessions.close(request.session_id)
    read = {(topic, partition[0]): None for topic, partitions in session.wanted() for partition in partitions}
    read |= {
        (topic.topic or topic.topic_id, partition.partition): None
        for topic in request.topics
        for partition in topic.partitions
    }
    for gone in request.forgotten_topics_data:
        for index in gone.partitions:
            read.pop((gone.topic or gone.topic_id, index), None)
    return dataclasses.replace(request, topics=[_fetch_topic(*key) for key in read])


def _fetch_topic(topic: str | bytes, partition: int) -> FetchTopic:
    named = {"topic": topic} if isinstance(topic, str) else {"topic_id": topic}
    wanted = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=0)
    return FetchTopic(**named, partitions=[wanted])


def _with_every_topic(ctx: RequestContext, request: MetadataRequest) -> MetadataRequest:
    if request.topics is None or (not request.topics and ctx.version == 0):
        every = [
            MetadataRequestTopic(name=entry.name, topic_id=entry.topic_id)
            for entry in ctx.broker.catalog.topics()
        ]
        return dataclasses.replace(request, topics=every)
    return request


def _with_brokers(ctx: RequestContext, answer: MetadataResponse) -> MetadataResponse:
    """Without brokers in the answer a client would take the cluster for lost."""
    broker = ctx.broker
    address = broker.listeners.address_for(ctx.client.connection)
    here = MetadataResponseBroker(
        node_id=broker.broker_id, host=address.host, port=address.port, rack=broker.rack
    )
    return dataclasses.replace(
        answer, brokers=[here], cluster_id=broker.cluster_id, controller_id=broker.broker_id
    )
