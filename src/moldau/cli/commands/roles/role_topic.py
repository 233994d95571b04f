"""The topic `_moldau_roles`: reads all of it, writes to it, creates it."""

from collections.abc import Iterable, Mapping
from typing import Final

import click
from confluent_kafka import IsolationLevel, KafkaError, KafkaException, Message
from confluent_kafka.admin import NewTopic

from moldau.cli.client import config_queries
from moldau.cli.client.connection import HOPELESS, POLL_S, Cluster
from moldau.cli.client.positions import Start, resolve
from moldau.cli.client.readers import SpanReader
from moldau.cli.failures import Failure
from moldau.cli.render.output import counted
from moldau.security.roles.model import ROLES_TOPIC, Binding
from moldau.security.roles.records import PRESENT, Member, RecordError, key_of
from moldau.security.roles.rights import Rights

_BEGINNING: Final = Start(offset=-2)


def read_roles(cluster: Cluster, *, reports_odd: bool = False) -> Rights:
    """All grants and groups as they are now. Records that are neither are skipped, as services skip them."""
    rights = Rights()
    found = cluster.find_topic(ROLES_TOPIC)
    if found is None:
        return rights
    _check_partitions(len(found.partitions))
    consumer = cluster.consumer(
        {
            # The client library requires a group id, but joins no group with assigned partitions.
            "group.id": "moldau-roles",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
        }
    )
    doing = f"read topic '{ROLES_TOPIC}'"
    odd: dict[int, str] = {}
    try:
        spans = resolve(cluster, ROLES_TOPIC, [0], _BEGINNING, IsolationLevel.READ_UNCOMMITTED)
        for batch in SpanReader(cluster, consumer, ROLES_TOPIC, spans, follow=False).batches():
            for record in batch:
                try:
                    rights.apply(record.key, record.value)
                except RecordError as error:
                    odd[record.offset] = str(error)
    except KafkaException as error:
        raise cluster.failure(error.args[0], doing) from error
    finally:
        consumer.close()
    if odd and reports_odd:
        _report(odd)
    return rights


def _report(odd: Mapping[int, str]) -> None:
    """Of the reasons only the last one, in one line: somebody may have written thousands."""
    offset, reason = list(odd.items())[-1]
    others = f" and {counted(len(odd) - 1, 'other')}" if len(odd) > 1 else ""
    click.echo(
        f"Topic {ROLES_TOPIC} has a record that is no role, which is skipped: offset {offset}{others} ({reason}).",
        err=True,
    )


def prepare_topic(cluster: Cluster) -> None:
    """Creates the topic if it is not there. Failure if it would not keep what is written to it."""
    found = cluster.find_topic(ROLES_TOPIC)
    if found is None:
        wanted = NewTopic(ROLES_TOPIC, 1, -1, config={"cleanup.policy": "compact"})
        try:
            cluster.wait(cluster.admin.create_topics([wanted])[ROLES_TOPIC], f"create topic '{ROLES_TOPIC}'")
        except Failure as failure:
            if failure.code != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        return
    _check_partitions(len(found.partitions))
    try:
        [settings] = config_queries.describe(
            cluster, [config_queries.Resource("topic", ROLES_TOPIC)]
        ).values()
    except Failure as failure:
        if failure.code != KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise
        return
    policy = next((each.value for each in settings if each.name == "cleanup.policy"), "compact")
    if policy != "compact":
        raise Failure(
            f"topic '{ROLES_TOPIC}' has cleanup.policy={policy}: roles written to it would be lost with time.",
            f"Nothing was changed. Set it: moldau configs set topic {ROLES_TOPIC} cleanup.policy=compact",
        )


def write_roles(cluster: Cluster, subjects: Iterable[Binding | Member], *, are_present: bool) -> None:
    """Returns when all in-sync replicas have the records."""
    errors: list[KafkaError] = []

    def on_delivery(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            errors.append(error)

    producer = cluster.producer(
        {
            "acks": "all",
            # Writing a record twice changes nothing, and a producer id would need further rights.
            "enable.idempotence": False,
            "message.timeout.ms": int(cluster.timeout_s * 1000),
            "linger.ms": 0,
        }
    )
    value = PRESENT if are_present else None
    doing = f"write to topic '{ROLES_TOPIC}'"
    try:
        for subject in subjects:
            producer.produce(ROLES_TOPIC, value, key_of(subject), partition=0, on_delivery=on_delivery)
        while producer.flush(POLL_S):
            cluster.raise_complaint(HOPELESS, doing)
    except KafkaException as error:
        raise cluster.failure(error.args[0], doing) from error
    if errors:
        raise cluster.failure(errors[0], doing)


def _check_partitions(count: int) -> None:
    if count != 1:
        raise Failure(
            f"topic '{ROLES_TOPIC}' has {count} partitions, so the order of its records is not known.",
            "It must have one. Delete it and grant the roles again, or restore it from a backup.",
        )
