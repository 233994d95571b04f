"""Access rules: searched, created, deleted."""

from enum import Enum
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from moldau.proxies.rest.failures import AUTHORIZATION, RestFailure, bad_request, unprocessable
from moldau.proxies.rest.http.answers import Answer, json_answer
from moldau.proxies.rest.http.call import Call
from moldau.proxies.rest.http.routing import Route
from moldau.proxies.rest.v3.resources import Json, Links, links_of

PATH: Final = "/v3/clusters/{cluster_id}/acls"
RESOURCES: Final = {
    "ANY": ResourceType.ANY,
    "TOPIC": ResourceType.TOPIC,
    "GROUP": ResourceType.GROUP,
    "CLUSTER": ResourceType.BROKER,
    "TRANSACTIONAL_ID": ResourceType.TRANSACTIONAL_ID,
}
RESOURCE_NAMES: Final = {kind: name for name, kind in RESOURCES.items()}
BATCH_MAX: Final = 1_000
ANY: Final = "ANY"
E = TypeVar("E", bound=Enum)


async def search(call: Call) -> Answer:
    links = await links_of(call)
    wanted = _filter(call)
    found = await call.proxy.cluster.answered(
        lambda admin, timeout_s: admin.describe_acls(wanted, request_timeout=timeout_s)
    )
    if not found:
        await _check_may_search(call)
    return links.listed("KafkaAclList", ["acls"], [_acl(links, each) for each in found])


async def create(call: Call) -> Answer:
    await links_of(call)
    await _create(call, [_binding(await call.json_object())])
    return Answer(status=201)


async def create_batch(call: Call) -> Answer:
    await links_of(call)
    data = (await call.json_object()).get("data")
    if not isinstance(data, list) or not data or len(data) > BATCH_MAX:
        raise unprocessable(f"data is not an array of 1 to {BATCH_MAX} rules.")
    if not all(isinstance(each, dict) for each in data):
        raise unprocessable("data has a rule that is not an object.")
    await _create(call, [_binding(each) for each in data])
    return Answer(status=201)


async def delete(call: Call) -> Answer:
    links = await links_of(call)
    for name in ("resource_type", "pattern_type", "operation", "permission"):
        if call.query(name) is None:
            raise bad_request(f"{name} is missing: say which rules to delete, with ANY for all of a kind.")
    wanted = _filter(call)
    found = await call.proxy.cluster.answered(
        lambda admin, timeout_s: admin.delete_acls([wanted], request_timeout=timeout_s)[wanted]
    )
    return json_answer({"data": [_acl(links, each) for each in found]})


async def _check_may_search(call: Call) -> None:
    """Raises RestFailure 40301: Kafka's client library finds no rules where the cluster refuses the search."""
    described = await call.proxy.cluster.answered(
        lambda admin, timeout_s: admin.describe_cluster(
            include_authorized_operations=True, request_timeout=timeout_s
        )
    )
    if AclOperation.DESCRIBE not in (described.authorized_operations or ()):
        raise RestFailure(
            AUTHORIZATION,
            "Kafka error: Cluster authorization failed (CLUSTER_AUTHORIZATION_FAILED). Who searches access rules needs "
            "the right to DESCRIBE the cluster.",
        )


async def _create(call: Call, bindings: list[AclBinding]) -> None:
    cluster = call.proxy.cluster
    # A rule that is asked for twice is one rule.
    for binding in dict.fromkeys(bindings):
        await cluster.answered(
            lambda admin, timeout_s, binding=binding: admin.create_acls(  # type: ignore[misc]
                [binding], request_timeout=timeout_s
            )[binding]
        )


def _filter(call: Call) -> AclBindingFilter:
    """Raises RestFailure 400."""
    # None stands for any; the library's annotations do not say so.
    name: Any = call.query("resource_name")
    principal: Any = call.query("principal")
    host: Any = call.query("host")
    if "\0" in f"{name}{principal}{host}":
        raise bad_request("a text of the search has a NUL in it.")
    return AclBindingFilter(
        _resource(call.query_or("resource_type", ANY)),
        name,
        _word(ResourcePatternType, "pattern_type", call.query_or("pattern_type", ANY)),
        principal,
        host,
        _word(AclOperation, "operation", call.query_or("operation", ANY)),
        _word(AclPermissionType, "permission", call.query_or("permission", ANY)),
    )


def _binding(given: Json) -> AclBinding:
    """Raises RestFailure 400 and 422."""
    texts: dict[str, str] = {}
    for name in (
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission",
    ):
        value = given.get(name)
        if not isinstance(value, str) or not value or "\0" in value:
            raise unprocessable(f"{name} may not be empty; it is a text.")
        texts[name] = value
    for name in ("resource_type", "operation", "permission", "pattern_type"):
        if texts[name].upper() in (ANY, "MATCH", "UNKNOWN"):
            raise bad_request(f"{name}={texts[name]} is for searches; a rule names one.")
    return AclBinding(
        _resource(texts["resource_type"]),
        texts["resource_name"],
        _word(ResourcePatternType, "pattern_type", texts["pattern_type"]),
        texts["principal"],
        texts["host"],
        _word(AclOperation, "operation", texts["operation"]),
        _word(AclPermissionType, "permission", texts["permission"]),
    )


def _resource(text: str) -> ResourceType:
    found = RESOURCES.get(text.upper())
    if found is None:
        raise bad_request(f"resource_type={text} is none of {', '.join(RESOURCES)}.")
    return found


def _word(kind: type[E], name: str, text: str) -> E:
    known = [each.name for each in kind if each.name != "UNKNOWN"]
    if text.upper() not in known:
        raise bad_request(f"{name}={text} is none of {', '.join(known)}.")
    return kind[text.upper()]


def _acl(links: Links, acl: Any) -> Json:
    fields = {
        "resource_type": RESOURCE_NAMES.get(acl.restype, acl.restype.name),
        "resource_name": acl.name,
        "pattern_type": acl.resource_pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission_type.name,
    }
    return {
        "kind": "KafkaAcl",
        "metadata": {"self": f"{links.url('acls')}?{urlencode(fields)}"},
        "cluster_id": links.cluster_id,
        **fields,
    }


QUERY: Final = {
    "resource_type": f"one of {', '.join(RESOURCES)}",
    "resource_name": "its name",
    "pattern_type": "LITERAL, PREFIXED, MATCH or ANY",
    "principal": "for example User:alice",
    "host": "an address, or *",
    "operation": "for example READ, or ANY",
    "permission": "ALLOW, DENY or ANY",
}
ROUTES: Final = [
    Route("GET", PATH, search, "Access rules that match", answer="V3List", query=QUERY),
    Route("POST", PATH, create, "Creates an access rule", body="V3Acl", status=201),
    Route("POST", f"{PATH}:batch", create_batch, "Creates access rules", body="V3Acls", status=201),
    Route("DELETE", PATH, delete, "Deletes access rules that match", answer="V3AclsDeleted", query=QUERY),
]
