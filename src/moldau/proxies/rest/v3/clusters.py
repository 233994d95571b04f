"""Clusters and brokers."""

from typing import Any, Final

from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v3.resources import Json, Links, links_of, missing
from moldau.proxies.rest.v3.topics import replica_json

ONE: Final = "/v3/clusters/{cluster_id}"


async def list_clusters(call: Call) -> Answer:
    described = await call.proxy.cluster.describe()
    links = Links(call.base_url, described.cluster_id)
    return json_answer(
        {
            "kind": "KafkaClusterList",
            "metadata": {"self": f"{call.base_url}/v3/clusters", "next": None},
            "data": [_cluster(links, described)],
        }
    )


async def show_cluster(call: Call) -> Answer:
    links = await links_of(call)
    return json_answer(_cluster(links, await call.proxy.cluster.describe()))


async def list_brokers(call: Call) -> Answer:
    links = await links_of(call)
    described = await call.proxy.cluster.describe()
    found = [_broker(links, node) for node in sorted(described.nodes, key=lambda node: node.id)]
    return links.listed("KafkaBrokerList", ["brokers"], found)


async def show_broker(call: Call) -> Answer:
    links = await links_of(call)
    return json_answer(_broker(links, await broker_node(call)))


async def list_broker_replicas(call: Call) -> Answer:
    links = await links_of(call)
    node = await broker_node(call)
    cluster = call.proxy.cluster
    metadata = await cluster.metadata()
    found = [
        replica_json(links, topic.topic, partition.id, partition, node.id)
        for topic in sorted(metadata.topics.values(), key=lambda topic: topic.topic)
        for partition in topic.partitions.values()
        if node.id in partition.replicas
    ]
    return links.listed("KafkaReplicaList", ["brokers", node.id, "partition-replicas"], found)


async def broker_node(call: Call) -> Any:
    """Raises RestFailure 404."""
    number = call.number("broker_id")
    for node in (await call.proxy.cluster.describe()).nodes:
        if node.id == number:
            return node
    raise missing(f"broker {number}")


def _cluster(links: Links, described: Any) -> Json:
    fields = {"controller": links.related("brokers", described.controller.id)} if described.controller else {}
    return links.resource(
        "KafkaCluster",
        [],
        "",
        **fields,
        acls=links.related("acls"),
        brokers=links.related("brokers"),
        broker_configs=links.related("broker-configs"),
        consumer_groups=links.related("consumer-groups"),
        topics=links.related("topics"),
        partition_reassignments=links.related("topics", "-", "partitions", "-", "reassignment"),
    )


def _broker(links: Links, node: Any) -> Json:
    return links.resource(
        "KafkaBroker",
        ["brokers", node.id],
        f"/broker={node.id}",
        broker_id=node.id,
        host=node.host,
        port=node.port,
        rack=node.rack,
        configs=links.related("brokers", node.id, "configs"),
        partition_replicas=links.related("brokers", node.id, "partition-replicas"),
    )


ROUTES: Final = [
    Route("GET", "/v3/clusters", list_clusters, "The cluster behind this proxy", answer="V3List"),
    Route("GET", ONE, show_cluster, "A cluster", answer="V3Resource"),
    Route("GET", f"{ONE}/brokers", list_brokers, "The brokers of the cluster", answer="V3List"),
    Route("GET", f"{ONE}/brokers/{{broker_id}}", show_broker, "A broker", answer="V3Resource"),
    Route(
        "GET",
        f"{ONE}/brokers/{{broker_id}}/partition-replicas",
        list_broker_replicas,
        "The replicas that a broker has",
        answer="V3List",
    ),
]
