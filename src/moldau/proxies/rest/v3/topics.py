"""Topics, their partitions and replicas: shown, created, grown, deleted."""

from typing import Any, Final

from confluent_kafka.admin import NewPartitions, NewTopic, OffsetSpec

from moldau.proxies.rest.failures import partition_not_found, unprocessable
from moldau.proxies.rest.http.answers import Answer, json_answer, no_content
from moldau.proxies.rest.http.call import INT_MAX, Call, as_whole
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v3.resources import Json, Links, links_of, missing

LIST: Final = "/v3/clusters/{cluster_id}/topics"
ONE: Final = f"{LIST}/{{topic_name}}"
INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state"})
PARTITIONS_MAX: Final = 100_000
REPLICAS_MAX: Final = 1_000


async def list_topics(call: Call) -> Answer:
    links = await links_of(call)
    metadata = await call.proxy.cluster.metadata()
    found = [
        _topic(links, name, len(topic.partitions), _replication(topic.partitions.values()))
        for name, topic in sorted(metadata.topics.items())
    ]
    return links.listed("KafkaTopicList", ["topics"], found)


async def show_topic(call: Call) -> Answer:
    links = await links_of(call)
    wants_operations = call.query_flag("include_authorized_operations")
    return json_answer(await _shown(call, links, call.parameters["topic_name"], wants_operations))


async def create_topic(call: Call) -> Answer:
    links = await links_of(call)
    given = await call.json_object()
    name = given.get("topic_name")
    if not isinstance(name, str) or not name or "\0" in name:
        raise unprocessable("topic_name may not be empty; it is the name of the topic.")
    validate_only = given.get("validate_only") is True
    topic = _new_topic(name, given)
    await call.proxy.cluster.answered(
        lambda admin, timeout_s: admin.create_topics(
            [topic], operation_timeout=timeout_s, request_timeout=timeout_s, validate_only=validate_only
        )[name]
    )
    if validate_only:
        count = max(topic.num_partitions, 0) or len(topic.replica_assignment or ())
        return json_answer(_topic(links, name, count, max(topic.replication_factor, 0)))
    return json_answer(await _shown(call, links, name, False), 201)


async def grow_topic(call: Call) -> Answer:
    links = await links_of(call)
    name = call.parameters["topic_name"]
    given = await call.json_object()
    count = _number(given, "partitions_count", PARTITIONS_MAX)
    if count is None:
        raise unprocessable("partitions_count is missing: the number of partitions the topic shall have.")
    await call.proxy.cluster.topic(name)
    await call.proxy.cluster.answered(
        lambda admin, timeout_s: admin.create_partitions(
            [NewPartitions(name, count)], operation_timeout=timeout_s, request_timeout=timeout_s
        )[name]
    )
    return json_answer(await _shown(call, links, name, False))


async def delete_topic(call: Call) -> Answer:
    await links_of(call)
    name = call.parameters["topic_name"]
    await call.proxy.cluster.topic(name)
    await call.proxy.cluster.answered(
        lambda admin, timeout_s: admin.delete_topics(
            [name], operation_timeout=timeout_s, request_timeout=timeout_s
        )[name]
    )
    return no_content()


async def list_partitions(call: Call) -> Answer:
    links = await links_of(call)
    name = call.parameters["topic_name"]
    topic = await call.proxy.cluster.topic(name)
    found = [_partition_json(links, name, each) for each in topic.partitions]
    return links.listed("KafkaPartitionList", ["topics", name, "partitions"], found)


async def show_partition(call: Call) -> Answer:
    links = await links_of(call)
    return json_answer(_partition_json(links, call.parameters["topic_name"], await _partition(call)))


async def show_offsets(call: Call) -> Answer:
    links = await links_of(call)
    name, number = call.parameters["topic_name"], (await _partition(call)).id
    key = (name, number)
    first = await call.proxy.cluster.offsets([key], OffsetSpec.earliest())
    end = await call.proxy.cluster.offsets([key], OffsetSpec.latest())
    shown: Any = str if call.wants_text_offsets else int
    path = ["topics", name, "partitions", number, "offset"]
    return json_answer(
        links.resource(
            "KafkaPartitionWithOffsets",
            path,
            f"/topic={name}/partition={number}",
            topic_name=name,
            partition_id=number,
            earliest_offset=shown(first[key]),
            latest_offset=shown(end[key]),
        )
    )


async def list_replicas(call: Call) -> Answer:
    links = await links_of(call)
    name = call.parameters["topic_name"]
    partition = await _partition(call)
    found = [replica_json(links, name, partition.id, partition, node.id) for node in partition.replicas]
    path = ["topics", name, "partitions", partition.id, "replicas"]
    return links.listed("KafkaReplicaList", path, found)


async def show_replica(call: Call) -> Answer:
    links = await links_of(call)
    name, broker = call.parameters["topic_name"], call.number("broker_id")
    partition = await _partition(call)
    if broker not in {node.id for node in partition.replicas}:
        raise missing(f"a replica of {name}-{partition.id} on broker {broker}")
    return json_answer(replica_json(links, name, partition.id, partition, broker))


def replica_json(links: Links, topic: str, number: int, partition: Any, broker: int) -> Json:
    """`partition` is described by ids, or by nodes."""
    leader = getattr(partition.leader, "id", partition.leader)
    in_sync = {getattr(each, "id", each) for each in getattr(partition, "isr", None) or partition.isrs}
    return links.resource(
        "KafkaReplica",
        ["topics", topic, "partitions", number, "replicas", broker],
        f"/topic={topic}/partition={number}/replica={broker}",
        topic_name=topic,
        partition_id=number,
        broker_id=broker,
        is_leader=broker == leader,
        is_in_sync=broker in in_sync,
        broker=links.related("brokers", broker),
    )


async def _shown(call: Call, links: Links, name: str, wants_operations: bool) -> Json:
    topic = await call.proxy.cluster.topic(name, operations=wants_operations)
    shown = _topic(links, name, len(topic.partitions), _replication(topic.partitions), topic.is_internal)
    if wants_operations:
        operations = topic.authorized_operations or []
        shown["authorized_operations"] = sorted(each.name for each in operations)
    return shown


def _replication(partitions: Any) -> int:
    return max((len(each.replicas) for each in partitions), default=0)


async def _partition(call: Call) -> Any:
    name, number = call.parameters["topic_name"], call.number("partition_id")
    topic = await call.proxy.cluster.topic(name)
    for each in topic.partitions:
        if each.id == number:
            return each
    raise partition_not_found(name, number)


def _topic(links: Links, name: str, partitions: int, replicas: int, internal: bool = False) -> Json:
    return links.resource(
        "KafkaTopic",
        ["topics", name],
        f"/topic={name}",
        topic_name=name,
        is_internal=internal or name in INTERNAL,
        replication_factor=replicas,
        partitions_count=partitions,
        partitions=links.related("topics", name, "partitions"),
        configs=links.related("topics", name, "configs"),
        partition_reassignments=links.related("topics", name, "partitions", "-", "reassignment"),
        authorized_operations=[],
    )


def _partition_json(links: Links, topic: str, partition: Any) -> Json:
    path = ["topics", topic, "partitions", partition.id]
    leader = (
        {} if partition.leader is None else {"leader": links.related(*path, "replicas", partition.leader.id)}
    )
    return links.resource(
        "KafkaPartition",
        path,
        f"/topic={topic}/partition={partition.id}",
        topic_name=topic,
        partition_id=partition.id,
        **leader,
        replicas=links.related(*path, "replicas"),
        reassignment=links.related(*path, "reassignment"),
    )


def _new_topic(name: str, given: Json) -> NewTopic:
    partitions = _number(given, "partitions_count", PARTITIONS_MAX)
    replicas = _number(given, "replication_factor", REPLICAS_MAX)
    assignments = given.get("replicas_assignments")
    if assignments is not None and (partitions is not None or replicas is not None):
        raise unprocessable("Give either replicas_assignments, or partitions_count and replication_factor.")
    configs = _configs(given.get("configs") or [])
    if assignments is not None:
        brokers = _assignments(assignments)
        return NewTopic(name, len(brokers), replica_assignment=brokers, config=configs)
    return NewTopic(
        name,
        -1 if partitions is None else partitions,
        -1 if replicas is None else replicas,
        config=configs,
    )


def _configs(given: Any) -> dict[str, str]:
    if not isinstance(given, list) or not all(
        isinstance(each, dict) and isinstance(each.get("name"), str) and each["name"] for each in given
    ):
        raise unprocessable("configs is not an array of objects with name and value.")
    found = {each["name"]: _text(each.get("value")) for each in given if each.get("value") is not None}
    if any("\0" in name + text for name, text in found.items()):
        raise unprocessable("configs has a NUL in it.")
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _assignments(given: Any) -> list[list[int]]:
    """Of partition 0, 1, 2, and so on; JSON has their numbers as names."""
    if (
        not isinstance(given, dict)
        or not given
        or set(given) != {str(number) for number in range(len(given))}
    ):
        raise unprocessable(
            "replicas_assignments is an object with every partition from 0 on, and its brokers."
        )
    found = [given[str(number)] for number in range(len(given))]
    for brokers in found:
        if not isinstance(brokers, list) or not brokers:
            raise unprocessable("replicas_assignments has a partition without brokers.")
        if not all(type(each) is int and 0 <= each <= INT_MAX for each in brokers):
            raise unprocessable("replicas_assignments has a broker that is no number.")
    return found


def _number(given: Json, name: str, at_most: int) -> int | None:
    if given.get(name) is None:
        return None
    value = as_whole(given[name])
    if value is None or not 1 <= value <= at_most:
        raise unprocessable(f"{name} is not a number between 1 and {at_most}.")
    return value


PARTITIONS: Final = f"{ONE}/partitions"
PARTITION: Final = f"{PARTITIONS}/{{partition_id}}"
ROUTES: Final = [
    Route("GET", LIST, list_topics, "All topics", answer="V3List"),
    Route("POST", LIST, create_topic, "Creates a topic", body="V3NewTopic", answer="V3Resource", status=201),
    Route(
        "GET",
        ONE,
        show_topic,
        "A topic",
        answer="V3Resource",
        query={"include_authorized_operations": "`true` also shows what the proxy may do with it"},
    ),
    Route("PATCH", ONE, grow_topic, "Adds partitions to a topic", body="V3Partitions", answer="V3Resource"),
    Route("DELETE", ONE, delete_topic, "Deletes a topic", status=204),
    Route("GET", PARTITIONS, list_partitions, "The partitions of a topic", answer="V3List"),
    Route("GET", PARTITION, show_partition, "A partition", answer="V3Resource"),
    Route(
        "GET",
        f"{PARTITION}/offset",
        show_offsets,
        "Where a partition begins and ends",
        answer="V3Resource",
        query={"offsets": "`string` answers offsets as strings"},
    ),
    Route("GET", f"{PARTITION}/replicas", list_replicas, "The replicas of a partition", answer="V3List"),
    Route("GET", f"{PARTITION}/replicas/{{broker_id}}", show_replica, "A replica", answer="V3Resource"),
]
