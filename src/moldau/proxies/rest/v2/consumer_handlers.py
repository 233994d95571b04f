"""Consumer instances: created, subscribed, read, committed, sought, deleted."""

import asyncio
import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from confluent_kafka import TopicPartition

from moldau.proxies.rest.consuming.instance import BEGINNING, END, Instance, Partition
from moldau.proxies.rest.consuming.instances import Place
from moldau.proxies.rest.failures import TOPIC_NAME, check_topic_name, format_mismatch, unprocessable
from moldau.proxies.rest.http.answers import JSON, Answer, json_answer, no_content
from moldau.proxies.rest.http.call import INT_MAX, LONG_MAX, Call, as_whole
from moldau.proxies.rest.http.negotiation import EMBEDDED_V1, FORMAT_OF, PRODUCED, choose, embedded_type
from moldau.proxies.rest.http.routing import Route

BASE: Final = "/consumers/{group}/instances/{instance}"
METADATA_MAX: Final = 4_096
PATTERN: Final = re.compile(r"[ -~]{1,1000}")


async def create(call: Call) -> Answer:
    group = call.parameters["group"]
    given = await call.json()
    if given is not None and not isinstance(given, dict):
        raise unprocessable("The body is not a JSON object with name, format and auto.offset.reset.")
    name = await call.proxy.instances.create(call.principal, group, given or {})
    uri = f"{call.base_url}/consumers/{quote(group, safe='')}/instances/{quote(name, safe='')}"
    return json_answer({"instance_id": name, "base_uri": uri})


async def delete(call: Call) -> Answer:
    await call.proxy.instances.delete(_place(call))
    return no_content()


async def subscribe(call: Call) -> Answer:
    given = await call.json_object()
    topics, pattern = given.get("topics"), given.get("topic_pattern")
    if (topics is None) == (pattern is None):
        raise unprocessable("Give either topics, an array of names, or topic_pattern, a regular expression.")
    if pattern is not None:
        if not isinstance(pattern, str) or not PATTERN.fullmatch(pattern):
            raise unprocessable("topic_pattern is not a text of at most 1000 printable characters.")
        topics = [pattern if pattern.startswith("^") else f"^{pattern}"]
    elif not isinstance(topics, list) or not topics or not all(map(_is_topic, topics)):
        raise unprocessable("topics is not an array of names.")
    names = list(dict.fromkeys(topics))
    await _use(call, lambda instance: instance.subscribe(names))
    return no_content()


async def show_subscription(call: Call) -> Answer:
    return json_answer({"topics": await _use(call, Instance.subscription)})


async def unsubscribe(call: Call) -> Answer:
    await _use(call, Instance.unsubscribe)
    return no_content()


async def assign(call: Call) -> Answer:
    partitions = _partitions(await call.json_object())
    await _use(call, lambda instance: instance.assign(partitions))
    return no_content()


async def show_assignments(call: Call) -> Answer:
    found = await _use(call, Instance.assignment)
    return json_answer({"partitions": [{"topic": topic, "partition": number} for topic, number in found]})


async def read(call: Call) -> Answer:
    return await _read(call, None)


async def read_topic(call: Call) -> Answer:
    check_topic_name(call.parameters["topic"])
    return await _read(call, call.parameters["topic"])


async def _read(call: Call, topic: str | None) -> Answer:
    place = _place(call)
    proxy = call.proxy
    hosted = proxy.instances.find(place)
    content_type = _records_type(call, hosted.instance.format)
    settings = proxy.settings
    asked_ms = call.query_number("timeout", -1)
    timeout_ms = min(
        hosted.timeout_ms if asked_ms < 0 else asked_ms, settings.consumer_request_timeout_max_ms
    )
    asked_bytes = call.query_number("max_bytes", -1)
    bytes_max = settings.consumer_request_bytes_max
    bytes_max = bytes_max if asked_bytes < 0 else min(asked_bytes, bytes_max)
    text_offsets = call.wants_text_offsets

    gone = asyncio.create_task(call.wait_until_gone())

    def work(instance: Instance, left_s: float) -> list[dict[str, Any]]:
        if topic is not None:
            instance.subscribe_to_one(topic)
        return instance.read(left_s, bytes_max, text_offsets=text_offsets, is_wanted=lambda: not gone.done())

    try:
        records = await proxy.instances.read(place, timeout_ms / 1000, work)
    finally:
        gone.cancel()
    proxy.metrics.consumed(len(records))
    return json_answer(records, content_type=content_type)


def _records_type(call: Call, name: str) -> str:
    """Raises RestFailure 40601 if only other formats are accepted. Without Accept, and for a browser's, the answer has
    the format of the instance."""
    accept = call.headers.get("accept")
    own = embedded_type(name)
    chosen = choose(accept, (own, own.replace(".v2+", ".v1+"), *PRODUCED))
    if FORMAT_OF.get(chosen, name) != name:
        raise format_mismatch(name, chosen)
    return chosen if chosen == JSON or chosen in EMBEDDED_V1 else own


async def commit(call: Call) -> Answer:
    given = await call.json()
    if given is not None and not isinstance(given, dict):
        raise unprocessable("The body is not a JSON object with offsets.")
    offsets = None
    if given and "offsets" in given:
        offsets = {_partition(each): (_offset(each), _metadata(each)) for each in _objects(given, "offsets")}
    done: list[TopicPartition] = await _use(call, lambda instance: instance.commit(offsets))
    shown: Any = str if call.wants_text_offsets else int
    return json_answer(
        [
            {
                "topic": each.topic,
                "partition": each.partition,
                "consumed": shown(each.offset),
                "committed": shown(each.offset),
            }
            for each in done
        ]
    )


async def committed(call: Call) -> Answer:
    partitions = _partitions(await call.json_object())
    found: list[TopicPartition] = await _use(call, lambda instance: instance.committed(partitions))
    shown: Any = str if call.wants_text_offsets else int
    return json_answer(
        {
            "offsets": [
                {
                    "topic": each.topic,
                    "partition": each.partition,
                    "offset": shown(each.offset),
                    "metadata": each.metadata or "",
                }
                for each in found
            ]
        }
    )


async def seek(call: Call) -> Answer:
    given = await call.json_object()
    offsets = {_partition(each): _offset(each) for each in _objects(given, "offsets")}
    await _use(call, lambda instance: instance.seek(offsets))
    return no_content()


async def seek_beginning(call: Call) -> Answer:
    return await _seek_all(call, BEGINNING)


async def seek_end(call: Call) -> Answer:
    return await _seek_all(call, END)


async def _seek_all(call: Call, offset: int) -> Answer:
    partitions = _partitions(await call.json_object())
    await _use(call, lambda instance: instance.seek(dict.fromkeys(partitions, offset)))
    return no_content()


async def _use(call: Call, work: Callable[[Instance], Any]) -> Any:
    return await call.proxy.instances.use(_place(call), work)


def _place(call: Call) -> Place:
    return Place(call.principal, call.parameters["group"], call.parameters["instance"])


def _is_topic(value: Any) -> bool:
    return isinstance(value, str) and TOPIC_NAME.fullmatch(value) is not None


def _partitions(given: dict[str, Any]) -> list[Partition]:
    return [_partition(each) for each in _objects(given, "partitions")]


def _objects(given: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = given.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise unprocessable(f"{name} is not an array of objects with topic and partition.")
    return found


def _partition(given: dict[str, Any]) -> Partition:
    topic, partition = given.get("topic"), given.get("partition")
    if not isinstance(topic, str) or not _is_topic(topic):
        raise unprocessable("topic may not be empty; it is the name of a topic.")
    partition = as_whole(partition)
    if partition is None or not 0 <= partition <= INT_MAX:
        raise unprocessable("partition is not a number of at least 0.")
    return topic, partition


def _offset(given: dict[str, Any]) -> int:
    """A string counts too, as it is what `?offsets=string` answers."""
    offset = given.get("offset")
    if isinstance(offset, str) and offset.isascii() and offset.isdigit() and len(offset) < 20:
        offset = int(offset)
    offset = as_whole(offset)
    if offset is None or not 0 <= offset <= LONG_MAX:
        raise unprocessable("offset is not a number of at least 0.")
    return offset


def _metadata(given: dict[str, Any]) -> str:
    text = given.get("metadata")
    if text is None:
        return ""
    if not isinstance(text, str) or len(text) > METADATA_MAX or "\0" in text:
        raise unprocessable(f"metadata is not a text of at most {METADATA_MAX} characters.")
    return text


READ_QUERY: Final = {
    "timeout": "how many milliseconds to wait for records",
    "max_bytes": "the most bytes of keys and values to return; one record is returned whatever its size",
    "offsets": "`string` answers offsets as strings",
}
ROUTES: Final = [
    Route(
        "POST",
        "/consumers/{group}",
        create,
        "Creates a consumer instance in a group",
        body="V2NewInstance",
        body_required=False,
        answer="V2Instance",
    ),
    Route("DELETE", BASE, delete, "Deletes a consumer instance", status=204),
    Route(
        "POST", f"{BASE}/subscription", subscribe, "Subscribes to topics", body="V2Subscription", status=204
    ),
    Route("GET", f"{BASE}/subscription", show_subscription, "What it is subscribed to", answer="V2Topics"),
    Route("DELETE", f"{BASE}/subscription", unsubscribe, "Ends the subscription", status=204),
    Route(
        "POST",
        f"{BASE}/assignments",
        assign,
        "Assigns partitions by hand",
        body="V2PartitionList",
        status=204,
    ),
    Route(
        "GET", f"{BASE}/assignments", show_assignments, "The partitions it reads", answer="V2PartitionList"
    ),
    Route("GET", f"{BASE}/records", read, "Reads records", answer="V2ConsumedList", query=READ_QUERY),
    Route(
        "GET",
        f"{BASE}/topics/{{topic}}",
        read_topic,
        "Reads records of one topic, as version 1 of the API did",
        answer="V2ConsumedList",
        query=READ_QUERY,
    ),
    Route(
        "POST",
        f"{BASE}/offsets",
        commit,
        "Commits these offsets, or those of all records that were read",
        body="V2OffsetList",
        body_required=False,
        answer="V2CommittedNow",
    ),
    Route(
        "GET",
        f"{BASE}/offsets",
        committed,
        "The committed offsets of partitions",
        body="V2PartitionList",
        answer="V2Committed",
        query={"offsets": "`string` answers offsets as strings"},
    ),
    Route(
        "POST", f"{BASE}/positions", seek, "Goes on reading at these offsets", body="V2OffsetList", status=204
    ),
    Route(
        "POST",
        f"{BASE}/positions/beginning",
        seek_beginning,
        "Goes on reading at the first records",
        body="V2PartitionList",
        status=204,
    ),
    Route(
        "POST",
        f"{BASE}/positions/end",
        seek_end,
        "Goes on reading at the next records",
        body="V2PartitionList",
        status=204,
    ),
]
