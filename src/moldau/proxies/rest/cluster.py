"""Questions to the Kafka cluster and changes of it, through Kafka's admin client. Every failure is a `RestFailure`."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    TopicDescription,
)

from moldau.core.error_codes import RETRIABLE
from moldau.proxies.rest.failures import (
    KAFKA_RETRIABLE,
    UNKNOWN_TOPIC,
    RestFailure,
    check_topic_name,
    of_kafka,
    topic_not_found,
    unprocessable,
)
from moldau.proxies.rest.threads import Threads
from moldau.proxies.rest.wire import questions
from moldau.proxies.rest.wire.connection import Wire

T = TypeVar("T")
ALL_BROKERS: Final = ""
"""The name of the settings of all brokers together."""
RETRY_S: Final = 0.2

log = logging.getLogger("moldau.rest")


class Cluster:
    """One admin client for all requests, and a connection of the proxy's own for what that one cannot ask."""

    def __init__(self, properties: Mapping[str, str], timeout_s: float, threads: Threads) -> None:
        self._admin: AdminClient | None = AdminClient(dict(properties), logger=log)
        self._wire = Wire(properties, timeout_s)
        self._timeout_s = timeout_s
        self._threads = threads
        self._id: str | None = None

    @property
    def admin(self) -> AdminClient:
        """Raises RestFailure 50003 once it is closed."""
        if self._admin is None:
            raise RestFailure(KAFKA_RETRIABLE, "Kafka error: the client is closed. Send the request again.")
        return self._admin

    def close(self) -> None:
        """Ends the client when the last call under way has. Blocks shortly."""
        self._admin = None

    async def answered(self, ask: Callable[[AdminClient, float], "Future[T]"]) -> T:
        """Awaits a future of the admin client. Raises RestFailure."""
        try:
            future = ask(self.admin, self._timeout_s)
            return await asyncio.wrap_future(future)
        except KafkaException as error:
            raise of_kafka(error) from None
        except (FutureTimeout, TimeoutError):
            raise RestFailure(
                50003, f"Kafka error: the cluster did not answer within {self._timeout_s:g} s."
            ) from None
        except (ValueError, TypeError) as error:
            raise unprocessable(f"Kafka's client refuses the request: {error}.") from None

    async def metadata(self) -> Any:
        """Brokers and all topics."""
        return await self.blocking(lambda: self.admin.list_topics(timeout=self._timeout_s))

    async def blocking(self, work: Callable[[], T]) -> T:
        """Runs a blocking call on a thread. Raises RestFailure."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads.admin, work)
        except KafkaException as error:
            raise of_kafka(error) from None

    async def id(self) -> str:
        """Does not change while a cluster lives."""
        if self._id is None:
            described = await self.describe()
            self._id = str(described.cluster_id)
        return self._id

    async def describe(self) -> Any:
        """Brokers and controller."""
        return await self.answered(lambda admin, timeout_s: admin.describe_cluster(request_timeout=timeout_s))

    async def topic(self, name: str, *, operations: bool = False) -> TopicDescription:
        """Raises RestFailure 40401."""
        return (await self.topics([name], operations=operations))[0]

    async def topics(self, names: Sequence[str], *, operations: bool = False) -> list[TopicDescription]:
        """Raises RestFailure 40401 for the first that does not exist."""
        for name in names:
            check_topic_name(name)
        futures = self.admin.describe_topics(
            TopicCollection(list(names)),
            include_authorized_operations=operations,
            request_timeout=self._timeout_s,
        )
        found = []
        for name, future in futures.items():
            try:
                found.append(await asyncio.wrap_future(future))
            except KafkaException as error:
                if error.args[0].code() in UNKNOWN_TOPIC or error.args[0].name() == "TOPIC_EXCEPTION":
                    raise topic_not_found(name) from None
                raise of_kafka(error) from None
        return found

    async def offsets(
        self, partitions: Sequence[tuple[str, int]], spec: OffsetSpec
    ) -> dict[tuple[str, int], int]:
        if not partitions:
            return {}
        futures = self.admin.list_offsets(
            {TopicPartition(*partition): spec for partition in partitions}, request_timeout=self._timeout_s
        )
        found = {}
        for partition, future in futures.items():
            try:
                info = await asyncio.wrap_future(future)
            except KafkaException as error:
                raise of_kafka(error) from None
            found[partition.topic, partition.partition] = int(info.offset)
        return found

    async def configs(self, kind: Any, name: str) -> "Mapping[str, ConfigEntry | questions.Setting]":
        """Of a topic, a broker, or with the name ALL_BROKERS those that were set for all brokers together."""
        if name == ALL_BROKERS:
            return await self._asked(questions.broker_defaults())
        resource = ConfigResource(kind, name)
        return await self.answered(
            lambda admin, timeout_s: admin.describe_configs([resource], request_timeout=timeout_s)[resource]
        )

    async def alter_configs(
        self, kind: Any, name: str, entries: Sequence[ConfigEntry], *, validate_only: bool = False
    ) -> None:
        if name == ALL_BROKERS:
            changes = [
                questions.Change(each.name, each.incremental_operation.value, each.value)
                for each in entries
                if each.incremental_operation is not None
            ]
            await self._asked(questions.alter_broker_defaults(changes, validate_only=validate_only))
            return
        resource = ConfigResource(kind, name, incremental_configs=list(entries))
        await self.answered(
            lambda admin, timeout_s: admin.incremental_alter_configs(
                [resource], validate_only=validate_only, request_timeout=timeout_s
            )[resource]
        )

    async def reassignments(
        self, topics: Mapping[str, Sequence[int]] | None = None
    ) -> list[questions.Reassignment]:
        """Those under way, of these partitions or of all."""
        return await self._asked(questions.reassignments(topics, int(self._timeout_s * 1000)))

    async def _asked(self, question: questions.Question[T]) -> T:
        """Asks the controller, which may change. Raises RestFailure."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            controller = (await self.describe()).controller
            if controller is None:
                raise RestFailure(
                    KAFKA_RETRIABLE, "Kafka error: the cluster has no controller at the moment."
                )
            host, port = controller.host, controller.port
            try:
                return await self.blocking(lambda: self._wire.ask(host, port, question))  # noqa: B023 It is awaited.
            except questions.KafkaRefusal as refusal:
                if refusal.code not in RETRIABLE or time.monotonic() > deadline:
                    raise of_kafka(KafkaError(refusal.code, refusal.message)) from None
            await asyncio.sleep(RETRY_S)
