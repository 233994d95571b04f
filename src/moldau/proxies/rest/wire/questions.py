"""The questions: the bytes of a request, and what its answer says. Pure.

ListPartitionReassignments v0 (KIP-455), DescribeConfigs v4, IncrementalAlterConfigs v1 (KIP-339): versions that every
Kafka since 2.8 has.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from moldau.core.error_codes import ErrorCode
from moldau.proxies.rest.wire.primitives import NO_TAGS, Reader, compact_array, compact_string, int8, int32

T = TypeVar("T")

BROKER: Final = 4
"""The type of a broker among those that have settings. Without a name it means all brokers."""
DEFAULT_SOURCE: Final = 5


class KafkaRefusal(Exception):
    """The cluster answers with an error of Kafka's protocol."""

    def __init__(self, code: int, message: str | None) -> None:
        super().__init__(message or f"error {code}")
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """`read` raises KafkaRefusal and PeerError."""

    name: str
    api_key: int
    version: int
    body: bytes
    read: Callable[[Reader], T]


class Reassignment(NamedTuple):
    """A partition that moves."""

    topic: str
    partition: int
    replicas: Sequence[int]
    adding: Sequence[int]
    removing: Sequence[int]


class Setting(NamedTuple):
    """A setting, with the names that the client library gives to the fields."""

    name: str
    value: str | None
    is_read_only: bool
    is_sensitive: bool
    source: int
    synonyms: Mapping[str, "Setting"]

    @property
    def is_default(self) -> bool:
        return self.source == DEFAULT_SOURCE


class Change(NamedTuple):
    """`operation` is 0 to set, 1 to reset, 2 to append, 3 to subtract."""

    name: str
    operation: int
    value: str | None


def reassignments(
    topics: Mapping[str, Sequence[int]] | None, timeout_ms: int
) -> Question[list[Reassignment]]:
    """Those under way: of these partitions, or all."""
    asked = None
    if topics is not None:
        asked = [
            compact_string(name) + compact_array(map(int32, partitions)) + NO_TAGS
            for name, partitions in topics.items()
        ]
    body = int32(timeout_ms) + compact_array(asked) + NO_TAGS
    return Question("ListPartitionReassignments", 46, 0, body, _reassignments)


def broker_defaults() -> Question[dict[str, Setting]]:
    """The settings that were set for all brokers together."""
    resource = int8(BROKER) + compact_string("") + compact_array(None) + NO_TAGS
    with_synonyms, without_documentation = int8(1), int8(0)
    body = compact_array([resource]) + with_synonyms + without_documentation + NO_TAGS
    return Question("DescribeConfigs", 32, 4, body, _settings)


def alter_broker_defaults(changes: Sequence[Change], *, validate_only: bool) -> Question[None]:
    configs = [
        compact_string(name) + int8(operation) + compact_string(value) + NO_TAGS
        for name, operation, value in changes
    ]
    resource = int8(BROKER) + compact_string("") + compact_array(configs) + NO_TAGS
    body = compact_array([resource]) + int8(validate_only) + NO_TAGS
    return Question("IncrementalAlterConfigs", 44, 1, body, _altered)


def _reassignments(answer: Reader) -> list[Reassignment]:
    answer.int32()  # the throttle time
    _raise_refusal(answer)
    topics = answer.array(_topic)
    return [partition for topic in topics for partition in topic]


def _topic(answer: Reader) -> list[Reassignment]:
    name = answer.text()

    def partition(part: Reader) -> Reassignment:
        number = part.int32()
        replicas, adding, removing = (part.array(Reader.int32) for _ in range(3))
        part.skip_tags()
        return Reassignment(name, number, replicas, adding, removing)

    found = list(answer.array(partition))
    answer.skip_tags()
    return found


def _settings(answer: Reader) -> dict[str, Setting]:
    answer.int32()
    found: dict[str, Setting] = {}
    for configs in answer.array(_described):
        found.update((each.name, each) for each in configs)
    return found


def _described(answer: Reader) -> Sequence[Setting]:
    _raise_refusal(answer)
    answer.int8()
    answer.string()
    configs = answer.array(_setting)
    answer.skip_tags()
    return configs


def _setting(answer: Reader) -> Setting:
    name, value = answer.text(), answer.string()
    is_read_only, source, is_sensitive = answer.flag(), answer.int8(), answer.flag()
    synonyms = {each.name: each for each in answer.array(_synonym)}
    answer.int8()  # its type
    answer.string()  # its documentation
    answer.skip_tags()
    return Setting(name, value, is_read_only, is_sensitive, source, synonyms)


def _synonym(answer: Reader) -> Setting:
    name, value, source = answer.text(), answer.string(), answer.int8()
    answer.skip_tags()
    return Setting(name, value, False, False, source, {})


def _altered(answer: Reader) -> None:
    answer.int32()

    def resource(part: Reader) -> None:
        _raise_refusal(part)
        part.int8()
        part.string()
        part.skip_tags()

    answer.array(resource)


def _raise_refusal(answer: Reader) -> None:
    code, message = answer.int16(), answer.string()
    if code != ErrorCode.NONE:
        raise KafkaRefusal(code, message)
