"""The rights of users, followed as they are granted and revoked: the records of the topic `_moldau_roles`.

Owns a consumer and the thread that reads. Until it has read all records once, every request is refused: what is not
known is not allowed. Later, while the cluster cannot be reached, rights stay as they were.
"""

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from moldau.core.errors import ConfigError
from moldau.security.roles.model import ROLES_TOPIC, Action, ServiceKind
from moldau.security.roles.records import RecordError
from moldau.security.roles.rights import Rights

LOAD_S_MAX: Final = 30.0
METADATA_S: Final = 5.0
RETRY_S: Final = 1.0
POLL_S: Final = 0.2
BATCH_MAX: Final = 1_000
CHECK_S: Final = 10.0
"""How often to look whether the topic is still the one that is read."""
GROUP: Final = "moldau-rights"
GONE: Final = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC})

log = logging.getLogger("moldau.services")


class FollowedRights:
    def __init__(self, client: Mapping[str, Any]) -> None:
        """`client` are the settings of the service's own clients of Kafka. Raises ConfigError."""
        try:
            self._consumer = Consumer(
                {
                    **client,
                    # Needed by the library; nothing joins it.
                    "group.id": client.get("group.id", GROUP),
                    "enable.auto.commit": False,
                    "enable.partition.eof": True,
                    "allow.auto.create.topics": False,
                    "auto.offset.reset": "earliest",
                    "logger": log,
                }
            )
            self._admin = AdminClient({**_without_group(client), "log_level": 0})
        except KafkaException as error:
            raise ConfigError(f"the Kafka client rejects its settings: {error.args[0].str()}") from None
        self._rights = Rights()
        self._turn = threading.Lock()
        self._loaded = threading.Event()
        self._stopping = threading.Event()
        self._problem = ""
        self._thread = threading.Thread(target=self._run, name="service-rights", daemon=True)

    @property
    def is_loaded(self) -> bool:
        return self._loaded.is_set()

    def start(self) -> None:
        """Returns when the rights are known, or after a while. Blocks."""
        self._thread.start()
        if not self._loaded.wait(LOAD_S_MAX):
            log.error("the rights of users are not known yet: only super users are served until they are")

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def may(self, principal: str, action: Action, kind: ServiceKind, name: str) -> bool:
        """Called on any thread."""
        with self._turn:
            return self._rights.may(principal, action, kind, name)

    def may_some(self, principal: str, action: Action, kind: ServiceKind) -> bool:
        """Whether it is allowed with at least one resource of the kind. Called on any thread."""
        with self._turn:
            return self._rights.may_some(principal, action, kind)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    topic_id = self._topic_id()
                    if topic_id is not None:
                        self._follow(topic_id)
                    else:
                        self._take_over(Rights())
                except KafkaException as error:
                    self._report(f"the rights of users cannot be read: {error.args[0].str()}")
                self._stopping.wait(RETRY_S)
        finally:
            self._consumer.close()

    def _topic_id(self) -> str | None:
        """None: the topic does not exist, as before the first role is granted. Raises KafkaException."""
        wanted = TopicCollection([ROLES_TOPIC])
        try:
            return str(self._admin.describe_topics(wanted)[ROLES_TOPIC].result(METADATA_S).topic_id)
        except TimeoutError:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None
        except KafkaException as error:
            if error.args[0].code() in GONE:
                return None
            raise

    def _follow(self, topic_id: str) -> None:
        """From the first record on, until the topic is gone or the service stops. Raises KafkaException."""
        fresh = Rights()
        self._consumer.assign([TopicPartition(ROLES_TOPIC, 0, OFFSET_BEGINNING)])
        checked_s = time.monotonic()
        try:
            while not self._stopping.is_set():
                if time.monotonic() - checked_s >= CHECK_S:
                    checked_s = time.monotonic()
                    if self._topic_id() != topic_id:
                        log.warning(
                            "the topic %s is gone, or is another one: its records are read again", ROLES_TOPIC
                        )
                        return
                for message in self._consumer.consume(BATCH_MAX, POLL_S):
                    error = message.error()
                    if error is None:
                        self._apply(fresh, message)
                    elif error.code() == KafkaError._PARTITION_EOF:
                        self._take_over(fresh)
                    elif error.code() in GONE:
                        return
                    else:
                        self._check(error)
        finally:
            self._consumer.unassign()

    def _apply(self, rights: Rights, message: Message) -> None:
        with self._turn:
            try:
                rights.apply(message.key(), message.value())
            except RecordError as error:
                log.error("offset %s of %s is skipped: %s", message.offset(), ROLES_TOPIC, error)

    def _take_over(self, rights: Rights) -> None:
        with self._turn:
            self._rights = rights
        self._problem = ""
        self._loaded.set()

    def _check(self, error: KafkaError) -> None:
        if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            # The library asks for the coordinator of the group all the same.
            return
        if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise KafkaException(error)
        log.info("reading %s: %s", ROLES_TOPIC, error.str())

    def _report(self, problem: str) -> None:
        """Once for each problem, until it is over."""
        if problem != self._problem:
            self._problem = problem
            log.error(
                "%s. The service's own user needs read and describe on the topic %s; rights stay as they were.",
                problem,
                ROLES_TOPIC,
            )


def _without_group(client: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in client.items() if not name.startswith("group.")}
