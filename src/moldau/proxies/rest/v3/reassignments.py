"""Partitions that move to other brokers: shown."""

from typing import Final

from moldau.proxies.rest.failures import not_found, partition_not_found
from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v3.resources import Json, Links, links_of
from moldau.proxies.rest.wire.questions import Reassignment

TOPICS: Final = "/v3/clusters/{cluster_id}/topics"


async def list_all(call: Call) -> Answer:
    links = await links_of(call)
    return _listed(links, "-", await call.proxy.cluster.reassignments())


async def list_of_topic(call: Call) -> Answer:
    links = await links_of(call)
    name = call.parameters["topic_name"]
    topic = await call.proxy.cluster.topic(name)
    partitions = [each.id for each in topic.partitions]
    return _listed(links, name, await call.proxy.cluster.reassignments({name: partitions}))


async def show(call: Call) -> Answer:
    links = await links_of(call)
    name, number = call.parameters["topic_name"], call.number("partition_id")
    topic = await call.proxy.cluster.topic(name)
    if number not in {each.id for each in topic.partitions}:
        raise partition_not_found(name, number)
    found = await call.proxy.cluster.reassignments({name: [number]})
    if not found:
        raise not_found(f"partition {name}-{number} is not moving to other brokers.")
    return json_answer(_reassignment(links, found[0]))


def _listed(links: Links, topic: str, found: list[Reassignment]) -> Answer:
    path = ["topics", topic, "partitions", "-", "reassignment"]
    shown = [_reassignment(links, each) for each in sorted(found)]
    return links.listed("KafkaReassignmentList", path, shown)


def _reassignment(links: Links, found: Reassignment) -> Json:
    path: list[object] = ["topics", found.topic, "partitions", found.partition]
    return links.resource(
        "KafkaReassignment",
        [*path, "reassignment"],
        f"/topic={found.topic}/partition={found.partition}/reassignment",
        topic_name=found.topic,
        partition_id=found.partition,
        adding_replicas=list(found.adding),
        removing_replicas=list(found.removing),
        replicas=links.related(*path, "replicas"),
    )


ROUTES: Final = [
    Route(
        "GET",
        f"{TOPICS}/-/partitions/-/reassignment",
        list_all,
        "The partitions that move to other brokers",
        answer="V3List",
    ),
    Route(
        "GET",
        f"{TOPICS}/{{topic_name}}/partitions/-/reassignment",
        list_of_topic,
        "The partitions of a topic that move to other brokers",
        answer="V3List",
    ),
    Route(
        "GET",
        f"{TOPICS}/{{topic_name}}/partitions/{{partition_id}}/reassignment",
        show,
        "A partition that moves to other brokers",
        answer="V3Resource",
    ),
]
