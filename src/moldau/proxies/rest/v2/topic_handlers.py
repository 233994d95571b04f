"""Topics, partitions and brokers."""

import asyncio
from typing import Any, Final

from confluent_kafka.admin import OffsetSpec, ResourceType

from moldau.proxies.rest.failures import partition_not_found
from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route


async def root(call: Call) -> Answer:
    """Confluent's answers with an empty object."""
    return json_answer({})


async def list_topics(call: Call) -> Answer:
    metadata = await call.proxy.cluster.metadata()
    return json_answer(sorted(metadata.topics))


async def show_topic(call: Call) -> Answer:
    name = call.parameters["topic"]
    topic, configs = await asyncio.gather(
        call.proxy.cluster.topic(name),
        call.proxy.cluster.configs(ResourceType.TOPIC, name),
        return_exceptions=True,
    )
    for each in (topic, configs):
        if isinstance(each, BaseException):
            raise each
    return json_answer(
        {
            "name": name,
            "configs": {key: entry.value for key, entry in sorted(configs.items())},  # type: ignore[union-attr]
            "partitions": [partition_json(each) for each in topic.partitions],  # type: ignore[union-attr]
        }
    )


async def list_partitions(call: Call) -> Answer:
    topic = await call.proxy.cluster.topic(call.parameters["topic"])
    return json_answer([partition_json(each) for each in topic.partitions])


async def show_partition(call: Call) -> Answer:
    return json_answer(partition_json(await _partition(call)))


async def show_offsets(call: Call) -> Answer:
    await _partition(call)
    key = (call.parameters["topic"], call.number("partition"))
    cluster = call.proxy.cluster
    first = await cluster.offsets([key], OffsetSpec.earliest())
    end = await cluster.offsets([key], OffsetSpec.latest())
    shown: Any = str if call.wants_text_offsets else int
    return json_answer({"beginning_offset": shown(first[key]), "end_offset": shown(end[key])})


async def list_brokers(call: Call) -> Answer:
    described = await call.proxy.cluster.describe()
    return json_answer({"brokers": sorted(node.id for node in described.nodes)})


async def _partition(call: Call) -> Any:
    name, number = call.parameters["topic"], call.number("partition")
    topic = await call.proxy.cluster.topic(name)
    for each in topic.partitions:
        if each.id == number:
            return each
    raise partition_not_found(name, number)


def partition_json(partition: Any) -> dict[str, Any]:
    leader = partition.leader.id if partition.leader is not None else -1
    in_sync = {node.id for node in partition.isr}
    return {
        "partition": partition.id,
        "leader": leader,
        "replicas": [
            {"broker": node.id, "leader": node.id == leader, "in_sync": node.id in in_sync}
            for node in partition.replicas
        ],
    }


ROUTES: Final = [
    Route("GET", "/", root, "Says that the proxy is there", answer="Empty"),
    Route("GET", "/topics", list_topics, "Names of all topics", answer="Names"),
    Route("GET", "/topics/{topic}", show_topic, "A topic, its settings and partitions", answer="V2Topic"),
    Route(
        "GET",
        "/topics/{topic}/partitions",
        list_partitions,
        "The partitions of a topic",
        answer="V2Partitions",
    ),
    Route(
        "GET",
        "/topics/{topic}/partitions/{partition}",
        show_partition,
        "One partition of a topic",
        answer="V2Partition",
    ),
    Route(
        "GET",
        "/topics/{topic}/partitions/{partition}/offsets",
        show_offsets,
        "Where a partition begins and ends",
        answer="V2Offsets",
        query={"offsets": "`string` answers offsets as strings"},
    ),
    Route("GET", "/brokers", list_brokers, "Ids of the brokers", answer="V2Brokers"),
]
