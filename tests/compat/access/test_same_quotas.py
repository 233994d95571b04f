"""Quotas of clients beside Apache Kafka: what can be set, what is described, how long clients have to wait."""

from typing import Any

import pytest

from access_requests import made, record_batch
from compat.access.login import UserWire
from compat.access.sides import TOPIC, Side
from compat.server_process import wait_until
from moldau.protocol.messages.log.produce import ProduceRequest
from moldau.protocol.messages.security.alter_client_quotas import AlterClientQuotasRequest
from moldau.protocol.messages.security.describe_client_quotas import DescribeClientQuotasRequest
from moldau.protocol.messages.topics.create_topics import CreateTopicsRequest

pytestmark = pytest.mark.java

Entity = tuple[tuple[str, str | None], ...]
USER, ANY_USER, CLIENT, ANY_CLIENT = (
    ("user", "alice"),
    ("user", None),
    ("client-id", "app"),
    ("client-id", None),
)
ADDRESS, ANY_ADDRESS = ("ip", "192.0.2.1"), ("ip", None)
ENTITIES: list[Entity] = [
    (), (USER,), (ANY_USER,), (CLIENT,), (ANY_CLIENT,), (ADDRESS,), (ANY_ADDRESS,), (USER, CLIENT), (CLIENT, USER),
    (ANY_USER, ANY_CLIENT), (USER, ANY_CLIENT), (USER, ADDRESS), (CLIENT, ADDRESS), (("user", ""),), (("group", "g"),),
    (("", "a"),), (("user", "a b=c/d%*"),), (("client-id", "äöü"),),
]  # fmt: skip
KEYS = (
    "producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
    "connection_creation_rate", "burst", "",
)  # fmt: skip
VALUES = (1.0, 1024.0, 0.5, 0.0, -1.0, 1e10, 1e20, 2.0**31, 1.0000000001)
MATCHES = (
    (0, "alice"),
    (0, "app"),
    (0, None),
    (0, "nobody"),
    (1, None),
    (1, "alice"),
    (2, None),
    (2, "alice"),
    (3, None),
)


WHO = "everything"
OF_WHO = (("user", WHO),)


def wait_until_in_force(side: Side) -> None:
    wait_until(lambda: described(side, [("user", 0, WHO)], strict=True) != {}, "the quota is in force")


def altered(
    side: Side, entity: Entity, ops: list[tuple[str, float | None]], *, validate_only: bool
) -> list[int]:
    entry = {
        "entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity],
        "ops": [{"key": key, "value": value or 0.0, "remove": value is None} for key, value in ops],
    }
    request = made(AlterClientQuotasRequest, 1, {"entries": [entry], "validate_only": validate_only})
    return [each.error_code for each in side.admin.call(request, 1).entries]


def described(side: Side, components: list[tuple[str, int, str | None]], *, strict: bool) -> Any:
    body = {
        "components": [
            {"entity_type": kind, "match_type": how, "match": name} for kind, how, name in components
        ],
        "strict": strict,
    }
    answer = side.admin.call(made(DescribeClientQuotasRequest, 1, body), 1)
    if answer.error_code:
        return answer.error_code
    return {
        frozenset((each.entity_type, each.entity_name) for each in entry.entity): {
            each.key: each.value for each in entry.values
        }
        for entry in answer.entries
    }


def test_what_can_be_set(sides: tuple[Side, Side]) -> None:
    different = {}
    for entity in ENTITIES:
        for key in KEYS:
            for value in (*VALUES, None):
                found, wanted = (altered(side, entity, [(key, value)], validate_only=True) for side in sides)
                if found != wanted:
                    different[entity, key, value] = found, wanted
    assert different == {}


def test_what_is_described(sides: tuple[Side, Side]) -> None:
    ours, theirs = sides
    kept: list[tuple[Entity, str, float]] = [
        ((USER,), "producer_byte_rate", 1024.0), ((USER,), "request_percentage", 12.5),
        ((ANY_USER,), "consumer_byte_rate", 2048.0),
        ((CLIENT,), "producer_byte_rate", 3.0), ((ANY_CLIENT,), "controller_mutation_rate", 0.5),
        ((USER, CLIENT), "consumer_byte_rate", 7.0), ((ANY_USER, ANY_CLIENT), "producer_byte_rate", 8.0),
        ((ADDRESS,), "connection_creation_rate", 9.0), ((ANY_ADDRESS,), "connection_creation_rate", 10.0),
        ((("user", "a b=c/d%*"),), "producer_byte_rate", 11.0),
    ]  # fmt: skip
    for side in sides:
        for entity, key, value in kept:
            assert altered(side, entity, [(key, value)], validate_only=False) == [0]
    wait_until(lambda: len(described(theirs, [], strict=False)) == 9, "Kafka has taken over all of them")
    different = {}
    filters: list[list[tuple[str, int, str | None]]] = [[]]
    for kind in ("user", "client-id", "ip", "group", ""):
        filters += [[(kind, how, name)] for how, name in MATCHES]
    for other in ("client-id", "user", "ip"):
        filters += [[("user", *user), (other, *name)] for user in MATCHES for name in MATCHES]
    for components in filters:
        for strict in (False, True):
            found, wanted = (described(side, components, strict=strict) for side in sides)
            if found != wanted:
                different[tuple(components), strict] = found, wanted
    for side in sides:
        for entity, key, _ in kept:
            altered(side, entity, [(key, None)], validate_only=False)
    assert different == {}
    assert described(ours, [], strict=False) == {}


def test_creating_above_the_quota(sides: tuple[Side, Side]) -> None:
    """The bucket has 11 tokens and fills by one a second: the time that the requests take is seen in the answers."""
    answers = []
    for side in sides:
        assert altered(side, OF_WHO, [("controller_mutation_rate", 1.0)], validate_only=False) == [0]
        wait_until(
            lambda side=side: described(side, [("user", 0, "everything")], strict=True) != {},
            "it is in force",
        )  # type: ignore[misc]
        seen = []
        with UserWire(side.server.port, WHO) as admin:
            for name, partitions in (("quota-a", 6), ("quota-b", 25)):
                seen.append(create(admin, name, partitions))
        with UserWire(side.server.port, WHO) as admin:  # The other connection has to wait.
            seen.append(create(admin, "quota-c", 1))
        altered(side, OF_WHO, [("controller_mutation_rate", None)], validate_only=False)
        answers.append(seen)
    ours, theirs = answers
    assert [code for code, _ in ours] == [code for code, _ in theirs] == [0, 0, 89]
    for (_, our_ms), (_, their_ms) in zip(ours, theirs, strict=True):
        assert abs(our_ms - their_ms) < 15_000, "both wait for about 20 tokens"
        assert (our_ms == 0) == (their_ms == 0)


def create(admin: UserWire, name: str, partitions: int) -> tuple[int, int]:
    topic = {
        "name": name, "num_partitions": partitions, "replication_factor": 1, "assignments": [], "configs": [],
    }  # fmt: skip
    answer = admin.call(made(CreateTopicsRequest, 7, {"topics": [topic], "validate_only": False}), 7)
    return answer.topics[0].error_code, answer.throttle_time_ms


def test_writing_above_the_quota(sides: tuple[Side, Side]) -> None:
    """The windows are the same: what is told first is less than what one request adds."""
    firsts = []
    for side in sides:
        assert altered(side, OF_WHO, [("producer_byte_rate", 100.0)], validate_only=False) == [0]
        wait_until(
            lambda side=side: described(side, [("user", 0, "everything")], strict=True) != {},
            "it is in force",
        )  # type: ignore[misc]
        with UserWire(side.server.port, WHO) as admin:
            throttles = []
            while not throttles or not throttles[-1]:
                throttles.append(produce(admin, side))
        altered(side, OF_WHO, [("producer_byte_rate", None)], validate_only=False)
        firsts.append(throttles[-1])
    assert all(0 < throttle_ms < 10_000 for throttle_ms in firsts), firsts


def produce(admin: UserWire, side: Side) -> int:
    data = [{"index": 0, "records": record_batch()}]
    topic = {"name": TOPIC, "topic_id": side.topic_ids[TOPIC], "partition_data": data}
    answer = admin.call(
        made(ProduceRequest, 13, {"acks": 1, "timeout_ms": 10_000, "topic_data": [topic]}), 13
    )
    assert answer.responses[0].partition_responses[0].error_code == 0
    return int(answer.throttle_time_ms)
