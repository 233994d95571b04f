"""`Failure`, which commands raise, and the texts for errors that a cluster answers.

The message says what failed, for what and why. The hint says what to do next.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import IO, Any

import click
from confluent_kafka import KafkaError


class Failure(click.ClickException):
    """Ends the command with exit code 1. `code` is the error code of Kafka or librdkafka, if there is one."""

    def __init__(self, message: str, hint: str | None = None, code: int | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"Error: {self.message}", err=True)
        if self.hint:
            click.echo(self.hint, err=True)


ADVERTISED_HINT = (
    "The broker answers at the bootstrap address, but the address it advertises is not reachable: "
    "check advertised.listeners."
)
_AUTHORIZATION_HINT = (
    "You are authenticated but lack an ACL for this. Request one, or pass other credentials "
    "with --command-config."
)

_REASONS: dict[int, tuple[str | None, str | None]] = {
    KafkaError.TOPIC_ALREADY_EXISTS: ("it already exists", "Pass --if-not-exists to accept that."),
    KafkaError.UNKNOWN_TOPIC_OR_PART: ("it does not exist", None),
    KafkaError.TOPIC_EXCEPTION: (
        None,
        "Topic names consist of ASCII letters, digits, '.', '_' and '-', at most 249 characters.",
    ),
    KafkaError.TOPIC_AUTHORIZATION_FAILED: ("not authorized for the topic", _AUTHORIZATION_HINT),
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: ("not authorized for the cluster", _AUTHORIZATION_HINT),
    KafkaError.TOPIC_DELETION_DISABLED: (
        "this cluster does not allow topics to be deleted",
        "The brokers run with delete.topic.enable=false.",
    ),
    KafkaError.NOT_ENOUGH_REPLICAS: (
        "fewer replicas are in sync than min.insync.replicas requires",
        "`moldau topics describe TOPIC` shows the in-sync replicas. Start the missing brokers.",
    ),
    KafkaError.MSG_SIZE_TOO_LARGE: (
        "the record is larger than the topic allows",
        "Raise the topic's max.message.bytes: `moldau topics alter TOPIC --set max.message.bytes=BYTES` "
        "(and the client's message.max.bytes with -X).",
    ),
    KafkaError.INVALID_REPLICATION_FACTOR: (
        None,
        "The replication factor cannot be larger than the number of brokers.",
    ),
    KafkaError.GROUP_AUTHORIZATION_FAILED: ("not authorized for the group", _AUTHORIZATION_HINT),
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: (
        "not authorized for the transactional id",
        _AUTHORIZATION_HINT,
    ),
    KafkaError.NON_EMPTY_GROUP: (
        "it has live members",
        "Stop them first: `moldau groups members GROUP` lists them.",
    ),
    KafkaError.GROUP_SUBSCRIBED_TO_TOPIC: (
        "a live member of the group is subscribed to this topic",
        "Stop it first: `moldau groups members GROUP` lists them.",
    ),
    KafkaError.UNKNOWN_MEMBER_ID: (
        "a member joined the group in the meantime",
        "Stop the group's members first; `moldau groups members GROUP` lists them.",
    ),
    KafkaError.INVALID_CONFIG: (None, "Nothing was changed."),
    KafkaError._AUTHENTICATION: (
        None,
        "Check user name, password and mechanism: sasl.* in the file given with --command-config.",
    ),
    KafkaError._SSL: (None, "Check the certificates: ssl.* in the file given with --command-config."),
}


def refused(error: KafkaError, doing: str) -> Failure:
    """The failure for an error of a broker or of the client. `doing` completes "cannot ...": "create topic 'x'"."""
    reason, hint = _REASONS.get(error.code(), (None, None))
    said = (reason or error.str()).rstrip(".")
    return Failure(f"cannot {doing}: {said}{'' if said.endswith('?') else '.'}", hint, error.code())


def unknown_topic(topic: str, where: str, known: Iterable[str]) -> Failure:
    names = sorted(known)
    similar = similar_names(topic, names)
    if similar:
        hint = "Did you mean " + " or ".join(f"'{name}'" for name in similar) + "?"
    else:
        hint = f"Create it with `moldau topics create {topic}`; `moldau topics list` lists all topics."
    return Failure(f"there is no topic '{topic}' at {where}.", hint)


def similar_names(name: str, known: Iterable[str]) -> Sequence[str]:
    lowered = {candidate.lower(): candidate for candidate in known}
    return [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, n=3)]
