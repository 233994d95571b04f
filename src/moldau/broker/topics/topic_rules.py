"""The rules for new topics and new partitions. Pure: reads, decides, changes nothing.

Error codes and messages are Kafka's.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.placement import Replicas

NAME_LENGTH_MAX: Final = 249
PARTITIONS_PER_REQUEST_MAX: Final = 10_000
CONTROLLER_LOG: Final = "__cluster_metadata"
_NAME: Final = re.compile(r"[a-zA-Z0-9._-]+")

Spread = Callable[[range, int], list[Replicas]]
"""Assigns replicas to partitions, given the indexes and the replication factor."""


class NewTopic(NamedTuple):
    """A topic to be created; -1 leaves a count to the broker's defaults."""

    name: str
    num_partitions: int = -1
    replication_factor: int = -1
    assignments: Sequence[tuple[int, Sequence[int]]] = ()
    configs: Sequence[tuple[str, str | None]] = ()


def topic_name_problem(name: str) -> str | None:
    """Why a topic cannot have this name, or None when it can."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    if not _NAME.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def check_name(name: str) -> None:
    problem = topic_name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    if name == CONTROLLER_LOG:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited.")


def choose_replicas(
    topic: NewTopic,
    brokers: Sequence[int],
    partitions_default: int,
    replication_default: int,
    spread_over: Spread,
) -> list[Replicas]:
    """The replicas of each partition: as given, or spread over the brokers."""
    if topic.assignments:
        return _given_replicas(topic, brokers)
    if topic.replication_factor == 0 or topic.replication_factor < -1:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.num_partitions == 0 or topic.num_partitions < -1:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
        )
    factor = replication_default if topic.replication_factor == -1 else topic.replication_factor
    count = partitions_default if topic.num_partitions == -1 else topic.num_partitions
    check_factor(factor, brokers)
    return spread_over(range(count), factor)


def check_factor(factor: int, brokers: Sequence[int]) -> None:
    if factor > len(brokers):
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): The target replication factor of {factor} "
            f"cannot be reached because only {len(brokers)} broker(s) are registered.",
        )


def _given_replicas(topic: NewTopic, brokers: Sequence[int]) -> list[Replicas]:
    said = "A manual partition assignment was specified, but"
    if topic.replication_factor != -1:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{said} replication factor was not set to -1.")
    if topic.num_partitions != -1:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{said} numPartitions was not set to -1.")
    given: dict[int, Replicas] = {}
    for index, replicas in topic.assignments:
        if index in given:
            raise _bad_assignment(f"Found multiple manual partition assignments for partition {index}")
        given[index] = check_replicas(replicas, brokers)
    if sorted(given) != list(range(len(given))):
        raise _bad_assignment("partitions should be a consecutive 0-based integer sequence")
    ordered = [given[index] for index in range(len(given))]
    check_same_factor(ordered, len(ordered[0]))
    return ordered


def check_replicas(replicas: Sequence[int], brokers: Sequence[int]) -> Replicas:
    said = "The manual partition assignment includes"
    if not replicas:
        raise _bad_assignment(f"{said} an empty replica list.")
    for broker in replicas:
        if broker not in brokers:
            raise _bad_assignment(f"{said} broker {broker}, but no such broker is registered.")
        if replicas.count(broker) > 1:
            raise _bad_assignment(f"{said} the broker {broker} more than once.")
    return tuple(replicas)


def check_same_factor(assignments: Sequence[Replicas], factor: int) -> None:
    for replicas in assignments:
        if len(replicas) != factor:
            raise _bad_assignment(
                f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but "
                f"this is not consistent with previous partitions, which have {factor} replica(s)."
            )


def check_increase(name: str, present: int, wanted: int, assigned: int | None) -> int:
    """The number of partitions to add."""
    if wanted == present:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if wanted < present:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {name} currently has {present} partition(s); {wanted} would not be an increase.",
        )
    more = wanted - present
    if assigned is not None and assigned != more:
        only = "only " if assigned < more else ""
        raise _bad_assignment(
            f"Attempted to add {more} additional partition(s), but {only}{assigned} assignment(s) were specified."
        )
    return more


def check_total(partitions: int) -> None:
    if partitions > PARTITIONS_PER_REQUEST_MAX:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def _bad_assignment(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
