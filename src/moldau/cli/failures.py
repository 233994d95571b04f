"""`Failure`, which commands raise, and the texts for errors that a cluster answers.

The message says what failed, for what and why. The hint says what to do next.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import IO, Any

import click
from confluent_kafka import KafkaError


class Failure(click.ClickException):
    """Ends the command with exit code 1. `code` is Kafka's, where a broker or the client gave one."""

    def __init__(self, message: str, hint: str | None = None, code: int | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"Error: {self.message}", err=True)
        if self.hint:
            click.echo(self.hint, err=True)


ADVERTISED_HINT = (
    "The broker answers at the address you gave, but the address it advertises cannot be reached from here: "
    "check advertised.listeners."
)
_AUTHORIZATION_HINT = (
    "The broker knows you but does not allow this: ask for the ACL, or pass other credentials "
    "with --command-config."
)

_REASONS: dict[int, tuple[str | None, str | None]] = {
    KafkaError.TOPIC_ALREADY_EXISTS: ("it exists already", "Pass --if-not-exists if that is all right."),
    KafkaError.UNKNOWN_TOPIC_OR_PART: ("it does not exist, or no longer", None),
    KafkaError.TOPIC_EXCEPTION: (
        None,
        "A topic name is made of ASCII letters, digits, '.', '_' and '-', and is at most 249 long.",
    ),
    KafkaError.TOPIC_AUTHORIZATION_FAILED: ("not authorized for the topic", _AUTHORIZATION_HINT),
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: ("not authorized for the cluster", _AUTHORIZATION_HINT),
    KafkaError.TOPIC_DELETION_DISABLED: (
        "deleting topics is switched off in this cluster",
        "The brokers run with delete.topic.enable=false.",
    ),
    KafkaError.NOT_ENOUGH_REPLICAS: (
        "fewer replicas are in sync than min.insync.replicas asks for",
        "`moldau topics describe TOPIC` shows the in-sync replicas; bring the missing brokers back.",
    ),
    KafkaError.MSG_SIZE_TOO_LARGE: (
        "the record is larger than the topic takes",
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
        "Stop them first: `moldau groups members GROUP` says who they are.",
    ),
    KafkaError.GROUP_SUBSCRIBED_TO_TOPIC: (
        "a live member of the group reads this topic",
        "Stop it first: `moldau groups members GROUP` says who it is.",
    ),
    KafkaError.UNKNOWN_MEMBER_ID: (
        "a member has joined the group in the meantime",
        "Stop the group's members first; `moldau groups members GROUP` says who they are.",
    ),
    KafkaError.INVALID_CONFIG: (None, "Nothing was changed."),
    KafkaError._AUTHENTICATION: (
        None,
        "Check user name, password and mechanism: sasl.* in the file given with --command-config.",
    ),
    KafkaError._SSL: (None, "Check the certificates: ssl.* in the file given with --command-config."),
}


def refused(error: KafkaError, doing: str) -> Failure:
    """The failure for what a broker, or the client itself, answered to `doing` ("create topic 'x'")."""
    reason, hint = _REASONS.get(error.code(), (None, None))
    said = (reason or error.str()).rstrip(".")
    return Failure(f"cannot {doing}: {said}{'' if said.endswith('?') else '.'}", hint, error.code())


def unknown_topic(topic: str, where: str, known: Iterable[str]) -> Failure:
    names = sorted(known)
    similar = similar_names(topic, names)
    if similar:
        hint = "Did you mean " + " or ".join(f"'{name}'" for name in similar) + "?"
    else:
        hint = f"Create it with `moldau topics create {topic}`; `moldau topics list` shows what exists."
    return Failure(f"there is no topic '{topic}' at {where}.", hint)


def similar_names(name: str, known: Iterable[str]) -> Sequence[str]:
    lowered = {candidate.lower(): candidate for candidate in known}
    return [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, n=3)]
