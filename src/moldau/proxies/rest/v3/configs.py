"""Settings of topics, of brokers, and of all brokers together: shown, set, reset, altered several at once."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigSource,
    ResourceType,
)

from moldau.proxies.rest.cluster import ALL_BROKERS
from moldau.proxies.rest.failures import RestFailure, unprocessable
from moldau.proxies.rest.http.answers import Answer, json_answer, no_content
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v3.clusters import ONE, broker_node
from moldau.proxies.rest.v3.resources import Json, Links, links_of
from moldau.proxies.rest.wire.questions import Setting

OPERATIONS: Final = {
    "SET": AlterConfigOpType.SET,
    "DELETE": AlterConfigOpType.DELETE,
    "APPEND": AlterConfigOpType.APPEND,
    "SUBTRACT": AlterConfigOpType.SUBTRACT,
}
SOURCES: Final = {each.value: each.name for each in ConfigSource}
TEXT_MAX: Final = 100_000
SOME_FAILED: Final = 207
Entry = ConfigEntry | Setting


class Owner(NamedTuple):
    """What settings belong to: its words in Kafka's protocol, and in links and names."""

    kind: Any
    name: str
    answer_kind: str
    path: list[object]
    crn: str
    """Of a setting, up to its name."""
    fields: Mapping[str, Any]
    lists_all: bool = True
    """Whether the settings that can be set are those that are shown."""


async def _topic_owner(call: Call) -> Owner:
    name = call.parameters["topic_name"]
    await call.proxy.cluster.topic(name)
    return _owner_of_topic(name)


def _owner_of_topic(name: str) -> Owner:
    return Owner(
        ResourceType.TOPIC,
        name,
        "KafkaTopicConfig",
        ["topics", name, "configs"],
        f"/topic={name}/config=",
        {"topic_name": name},
    )


async def _broker_owner(call: Call) -> Owner:
    return _owner_of_broker((await broker_node(call)).id)


def _owner_of_broker(number: int) -> Owner:
    return Owner(
        ResourceType.BROKER,
        str(number),
        "KafkaBrokerConfig",
        ["brokers", number, "configs"],
        f"/broker={number}/config=",
        {"broker_id": number},
    )


async def _all_brokers_owner(_call: Call) -> Owner:
    return Owner(
        ResourceType.BROKER,
        ALL_BROKERS,
        "KafkaClusterConfig",
        ["broker-configs"],
        "/broker-config=",
        {"config_type": "BROKER"},
        lists_all=False,
    )


OwnerOf = Callable[[Call], Awaitable[Owner]]


async def list_topics_configs(call: Call) -> Answer:
    """Of all topics."""
    links = await links_of(call)
    names = sorted((await call.proxy.cluster.metadata()).topics)
    owners = [_owner_of_topic(name) for name in names]
    return await _listed(call, links, owners, "KafkaTopicConfigList", ["topics", "-", "configs"])


async def list_brokers_configs(call: Call) -> Answer:
    """Of all brokers."""
    links = await links_of(call)
    nodes = (await call.proxy.cluster.describe()).nodes
    owners = [_owner_of_broker(number) for number in sorted(node.id for node in nodes)]
    return await _listed(call, links, owners, "KafkaBrokerConfigList", ["brokers", "-", "configs"])


async def _listed(call: Call, links: Links, owners: list[Owner], kind: str, path: list[object]) -> Answer:
    cluster = call.proxy.cluster
    found: list[Json] = []
    for owner in owners:
        entries = await cluster.configs(owner.kind, owner.name)
        found += [_entry(links, owner, entry) for _, entry in sorted(entries.items())]
    return links.listed(kind, path, found)


def listing(owner_of: OwnerOf) -> Callable[[Call], Awaitable[Answer]]:
    async def handle(call: Call) -> Answer:
        links = await links_of(call)
        owner = await owner_of(call)
        return await _listed(call, links, [owner], f"{owner.answer_kind}List", owner.path)

    return handle


def showing(owner_of: OwnerOf) -> Callable[[Call], Awaitable[Answer]]:
    async def handle(call: Call) -> Answer:
        links = await links_of(call)
        owner = await owner_of(call)
        entries = await call.proxy.cluster.configs(owner.kind, owner.name)
        return json_answer(_entry(links, owner, _known(entries, owner, call.parameters["name"])))

    return handle


def setting(owner_of: OwnerOf) -> Callable[[Call], Awaitable[Answer]]:
    async def handle(call: Call) -> Answer:
        await links_of(call)
        owner = await owner_of(call)
        given = await call.json_object()
        if "value" not in given:
            raise unprocessable(
                "value is missing: the value of the setting as a text, or null for the default."
            )
        await _alter(call, owner, [_change(call.parameters["name"], given["value"], "SET")])
        return no_content()

    return handle


def resetting(owner_of: OwnerOf) -> Callable[[Call], Awaitable[Answer]]:
    async def handle(call: Call) -> Answer:
        await links_of(call)
        owner = await owner_of(call)
        name = call.parameters["name"]
        _known(await call.proxy.cluster.configs(owner.kind, owner.name), owner, name)
        await _alter(call, owner, [_change(name, None, "DELETE")])
        return no_content()

    return handle


def altering(owner_of: OwnerOf) -> Callable[[Call], Awaitable[Answer]]:
    async def handle(call: Call) -> Answer:
        await links_of(call)
        owner = await owner_of(call)
        given = await call.json_object()
        changes = _changes(given.get("data"), "data")
        await _alter(call, owner, changes, validate_only=given.get("validate_only") is True)
        return no_content()

    return handle


async def alter_topics(call: Call) -> Answer:
    """Settings of several topics. Those of one topic are changed together or not at all."""
    await links_of(call)
    given = await call.json_object()
    data = given.get("data")
    if not isinstance(data, list) or not data:
        raise unprocessable("data may not be empty: an array of objects with topic_name and configs.")
    wanted: dict[str, list[ConfigEntry]] = {}
    for each in data:
        name = each.get("topic_name") if isinstance(each, dict) else None
        if not isinstance(name, str) or name in wanted:
            raise unprocessable("data has an entry without a topic_name, or names a topic twice.")
        wanted[name] = _changes(each.get("configs"), f"configs of {name}")
    cluster = call.proxy.cluster
    await cluster.topics(list(wanted))
    owners = {name: _owner_of_topic(name) for name in wanted}
    for name, owner in owners.items():
        await _check_known(call, owner, wanted[name])
    validate_only = given.get("validate_only") is True
    failures = []
    for name, owner in owners.items():
        try:
            await cluster.alter_configs(owner.kind, name, wanted[name], validate_only=validate_only)
        except RestFailure as failure:
            failures.append({"topic_name": name, "error_code": failure.code, "message": failure.message})
    return json_answer({"failures": failures}, SOME_FAILED) if failures else no_content()


def _changes(given: Any, where: str) -> list[ConfigEntry]:
    if not isinstance(given, list) or not given:
        raise unprocessable(f"{where} may not be empty: an array of objects with name, value and operation.")
    changes = []
    for each in given:
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            raise unprocessable(f"{where} has an entry that is no object with name, value and operation.")
        changes.append(_change(each["name"], each.get("value"), each.get("operation") or "SET"))
    if len({change.name for change in changes}) < len(changes):
        raise unprocessable(f"{where} names a setting twice.")
    return changes


async def _alter(
    call: Call, owner: Owner, changes: list[ConfigEntry], *, validate_only: bool = False
) -> None:
    if owner.lists_all:
        await _check_known(call, owner, changes)
    await call.proxy.cluster.alter_configs(owner.kind, owner.name, changes, validate_only=validate_only)


async def _check_known(call: Call, owner: Owner, changes: list[ConfigEntry]) -> None:
    known = await call.proxy.cluster.configs(owner.kind, owner.name)
    for change in changes:
        _known(known, owner, change.name)


def _change(name: str, value: Any, operation: Any) -> ConfigEntry:
    if operation not in OPERATIONS:
        raise unprocessable(f"operation {operation!r} is none of {', '.join(OPERATIONS)}.")
    if operation != "DELETE" and value is None:
        operation = "DELETE"
    if isinstance(value, dict | list) or len(str(value)) > TEXT_MAX or "\0" in f"{name}{value}":
        raise unprocessable(f"the value of {name} is not a text.")
    text = str(value).lower() if isinstance(value, bool) else None if value is None else str(value)
    return ConfigEntry(name, text, incremental_operation=OPERATIONS[operation])


def _known(entries: Mapping[str, Entry], owner: Owner, name: str) -> Entry:
    found = entries.get(name)
    if found is None:
        raise RestFailure(
            404, f"Config {name} cannot be found. GET {'/'.join(map(str, owner.path))} lists the known ones."
        )
    return found


def _entry(links: Links, owner: Owner, entry: Entry) -> Json:
    return links.resource(
        owner.answer_kind,
        [*owner.path, entry.name],
        f"{owner.crn}{entry.name}",
        **owner.fields,
        name=entry.name,
        value=entry.value,
        is_default=bool(entry.is_default),
        is_read_only=bool(entry.is_read_only),
        is_sensitive=bool(entry.is_sensitive),
        source=_source(entry),
        synonyms=[
            {"name": each.name, "value": each.value, "source": _source(each)}
            for each in (entry.synonyms or {}).values()
        ],
    )


def _source(entry: Entry) -> str:
    return SOURCES.get(getattr(entry.source, "value", entry.source), "UNKNOWN")  # type: ignore[arg-type]


def _routes(path: str, owner_of: OwnerOf, of: str) -> list[Route]:
    one = f"{path}/{{name}}"
    return [
        Route("GET", path, listing(owner_of), f"The settings of {of}", answer="V3List"),
        Route("GET", one, showing(owner_of), f"One setting of {of}", answer="V3Resource"),
        Route("PUT", one, setting(owner_of), f"Sets a setting of {of}", body="V3Value", status=204),
        Route("DELETE", one, resetting(owner_of), f"Resets a setting of {of}", status=204),
        Route(
            "POST",
            f"{path}:alter",
            altering(owner_of),
            f"Changes settings of {of}, all or none",
            body="V3Changes",
            status=204,
        ),
    ]


ROUTES: Final = [
    *_routes(f"{ONE}/topics/{{topic_name}}/configs", _topic_owner, "a topic"),
    *_routes(f"{ONE}/brokers/{{broker_id}}/configs", _broker_owner, "a broker"),
    *_routes(f"{ONE}/broker-configs", _all_brokers_owner, "all brokers together"),
    Route(
        "GET", f"{ONE}/topics/-/configs", list_topics_configs, "The settings of all topics", answer="V3List"
    ),
    Route(
        "POST",
        f"{ONE}/topics/-/configs:alter",
        alter_topics,
        "Changes settings of several topics; answers with 207 and the failures if it cannot change those of some",
        body="V3TopicsChanges",
        status=204,
    ),
    Route(
        "GET",
        f"{ONE}/brokers/-/configs",
        list_brokers_configs,
        "The settings of all brokers",
        answer="V3List",
    ),
]
