"""Everything the handlers ask: the clients of Kafka, the schemas, the consumer instances, the counters. Wiring only."""

import asyncio
import logging
from functools import cached_property

from moldau.proxies.rest.cluster import Cluster
from moldau.proxies.rest.consuming.instances import Instances
from moldau.proxies.rest.consuming.simple import SimpleConsumers
from moldau.proxies.rest.formats.schemas import Schemas
from moldau.proxies.rest.metrics import Metrics
from moldau.proxies.rest.producing.producer import SharedProducer
from moldau.proxies.rest.settings import Configuration
from moldau.proxies.rest.threads import Threads
from moldau.proxies.rest.wire.connection import Wire

log = logging.getLogger("moldau.rest")


class Proxy:
    """`listen_url` is where it listens, `own_url` what answers name instead of the request's Host header."""

    def __init__(
        self,
        configuration: Configuration,
        listen_url: str,
        own_url: str | None,
        *,
        shared: "Proxy | None" = None,
    ) -> None:
        """With `shared`, the proxy of one user: it has its own clients of Kafka, and all else of the other one."""
        settings = configuration.settings
        self.settings = settings
        self.listen_url = listen_url
        self.own_url = own_url
        self.shared = shared
        threads = settings.consumer_threads + settings.simple_consumers_max
        self.metrics: Metrics = shared.metrics if shared else Metrics()
        self.threads: Threads = shared.threads if shared else Threads(threads)
        self._has_own_schemas = shared is None or settings.registry_passthrough
        """Of a registry that has rules of its own, each user may see other schemas."""
        self.schemas: Schemas = (
            Schemas(configuration.registry) if shared is None or self._has_own_schemas else shared.schemas
        )
        self.is_stopping = asyncio.Event()
        """Set before the clients are closed: answers without an end come to one."""
        self._configuration = configuration
        consumer = configuration.client("consumer")
        self.instances = Instances(settings, consumer, self.schemas, self.threads)
        self.simple = SimpleConsumers(settings, consumer, self.schemas, self.threads)
        self._producer: SharedProducer | None = None
        if configuration.has_own_login and shared is None:
            # Wrong properties of clients are known before it listens.
            self._producer = self._new_producer()
            self.cluster  # noqa: B018
            self.simple.prepare()

    @property
    def producer(self) -> SharedProducer:
        """That of a user is made when the user writes for the first time: the cluster refuses one to users who may
        write nowhere. For the event loop."""
        if self._producer is None:
            self._producer = self._new_producer()
            self._producer.start()
        return self._producer

    def _new_producer(self) -> SharedProducer:
        return SharedProducer(self._configuration.client("producer"))

    @cached_property
    def cluster(self) -> Cluster:
        timeout_s = self.settings.client_timeout_ms / 1000
        return Cluster(self._configuration.client("admin"), timeout_s, self.threads)

    @property
    def has_own_login(self) -> bool:
        """Whether it has clients of Kafka. The proxy that users share may have none."""
        return self._configuration.has_own_login

    async def reach(self) -> None:
        """Returns if a broker answers, whatever the login. Raises RestFailure."""
        properties = self._configuration.client("admin")
        wire = Wire(properties, self.settings.client_timeout_ms / 1000)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self.threads.admin, wire.reach, properties["bootstrap.servers"])

    @property
    def is_idle(self) -> bool:
        """Nothing of a client would be lost if it were stopped."""
        writes = self._producer is not None and self._producer.in_flight
        return not len(self.instances) and not self.simple.in_use and not writes

    async def start(self) -> None:
        if self._producer is not None:
            self._producer.start()
        self.instances.start()

    async def before_shutdown(self) -> None:
        self.is_stopping.set()

    async def stop(self) -> None:
        await self.instances.close()
        if self._producer is not None:
            await self._producer.close()
        if "cluster" in self.__dict__:
            await asyncio.to_thread(self.cluster.close)
        await asyncio.to_thread(self.simple.close)
        if self._has_own_schemas:
            await asyncio.to_thread(self.schemas.close)
        if self.shared is None:
            self.threads.close()
