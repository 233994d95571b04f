"""Everything the handlers ask: the clients of Kafka, the schemas, the consumer instances, the counters. Wiring only."""

import asyncio
import logging

from moldau.proxies.rest.cluster import Cluster
from moldau.proxies.rest.consuming.instances import Instances
from moldau.proxies.rest.consuming.simple import SimpleConsumers
from moldau.proxies.rest.formats.schemas import Schemas
from moldau.proxies.rest.metrics import Metrics
from moldau.proxies.rest.producing.producer import SharedProducer
from moldau.proxies.rest.settings import Configuration
from moldau.proxies.rest.threads import Threads

log = logging.getLogger("moldau.rest")


class Proxy:
    """`listen_url` is where it listens, `own_url` what answers name instead of the request's Host header."""

    def __init__(self, configuration: Configuration, listen_url: str, own_url: str | None) -> None:
        settings = configuration.settings
        self.settings = settings
        self.listen_url = listen_url
        self.own_url = own_url
        self.metrics = Metrics()
        self.threads = Threads(settings.consumer_threads + settings.simple_consumers_max)
        self.schemas = Schemas(configuration.registry)
        self.producer = SharedProducer(configuration.client("producer"))
        self.cluster = Cluster(configuration.client("admin"), settings.client_timeout_ms / 1000, self.threads)
        self.instances = Instances(settings, configuration.client("consumer"), self.schemas, self.threads)
        self.simple = SimpleConsumers(settings, configuration.client("consumer"), self.schemas, self.threads)
        self.is_stopping = asyncio.Event()
        """Set before connections are closed: answers without an end come to one."""
        self.metrics.gauge(
            "moldau_rest_consumer_instances", "Consumer instances that exist.", lambda: len(self.instances)
        )
        self.metrics.gauge(
            "moldau_rest_simple_consumers",
            "Reads and streams of events without an instance.",
            lambda: self.simple.in_use,
        )

    async def start(self) -> None:
        self.producer.start()
        self.instances.start()

    async def before_shutdown(self) -> None:
        self.is_stopping.set()

    async def stop(self) -> None:
        await self.instances.close()
        await asyncio.to_thread(self.producer.close)
        await asyncio.to_thread(self.simple.close)
        await asyncio.to_thread(self.schemas.close)
        self.threads.close()
