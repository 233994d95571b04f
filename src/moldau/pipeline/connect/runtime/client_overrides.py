"""`consumer.override.*`, `producer.override.*` and `admin.override.*`: the names of the Java clients as librdkafka's.

Pure. Most names are the same. Those that librdkafka does not have are left out, and `ignored` lists them.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from moldau.pipeline.connect.runtime.task_settings import (
    ADMIN_OVERRIDE,
    CONSUMER_OVERRIDE,
    PRODUCER_OVERRIDE,
)

_RENAMED: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "max.request.size": "message.max.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "metadata.max.age.ms": "metadata.max.age.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "reconnect.backoff.max.ms": "reconnect.backoff.max.ms",
}
_WITHOUT_COUNTERPART: Final = frozenset(
    {
        "auto.commit.interval.ms",
        "auto.offset.reset",
        "buffer.memory",
        "default.api.timeout.ms",
        "enable.metrics.push",
        "exclude.internal.topics",
        "interceptor.classes",
        "key.deserializer",
        "key.serializer",
        "max.block.ms",
        "max.poll.records",
        "metadata.max.idle.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.class",
        "partitioner.ignore.keys",
        "ssl.keymanager.algorithm",
        "ssl.trustmanager.algorithm",
        "value.deserializer",
        "value.serializer",
    }
)
"""`auto.offset.reset` is honoured by the task itself, `partitioner.class` is always Kafka's default."""
_CREDENTIAL: Final = re.compile(r"(\w+)\s*=\s*\"((?:[^\"\\]|\\.)*)\"")


class Overrides(NamedTuple):
    clients: dict[str, str]
    """For `pipeline.spark.clients`: with the prefixes `consumer.` and `producer.`."""
    ignored: list[str]


def overrides(config: Mapping[str, str]) -> Overrides:
    clients: dict[str, str] = {}
    ignored: list[str] = []
    for name, value in config.items():
        for prefix, target in (
            (CONSUMER_OVERRIDE, "consumer."),
            (PRODUCER_OVERRIDE, "producer."),
        ):
            if name.startswith(prefix):
                _put(name.removeprefix(prefix), value, target, clients, ignored, name)
    return Overrides(clients, ignored)


def admin_overrides(config: Mapping[str, str]) -> dict[str, str]:
    clients: dict[str, str] = {}
    for name, value in config.items():
        if name.startswith(ADMIN_OVERRIDE):
            _put(name.removeprefix(ADMIN_OVERRIDE), value, "", clients, [], name)
    return clients


def offset_reset(config: Mapping[str, str]) -> str:
    """Where a sink begins without committed offsets: `earliest` or `latest`."""
    return config.get(f"{CONSUMER_OVERRIDE}auto.offset.reset", "earliest").strip().lower()


def _put(key: str, value: str, target: str, clients: dict[str, str], ignored: list[str], name: str) -> None:
    if key == "sasl.jaas.config":
        found = dict(_CREDENTIAL.findall(value))
        clients.update(
            {f"{target}sasl.{part}": found[part] for part in ("username", "password") if part in found}
        )
    elif key in _WITHOUT_COUNTERPART:
        if key != "auto.offset.reset":
            ignored.append(name)
    else:
        clients[f"{target}{_RENAMED.get(key, key)}"] = value
