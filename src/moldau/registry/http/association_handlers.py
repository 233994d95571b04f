"""`/associations`: which subject a topic's keys and values use."""

from moldau.registry.decisions.associations import subjects_of
from moldau.registry.entities import Json
from moldau.registry.http.call import Call
from moldau.registry.http.routing import Route
from moldau.security.roles.model import Action


async def by_name(call: Call) -> list[Json]:
    return _found(
        call,
        resourceNamespace=call.parameters["resourceNamespace"],
        resourceName=call.parameters["resourceName"],
    )


async def by_id(call: Call) -> list[Json]:
    return _found(call, resourceId=call.parameters["resourceId"])


async def by_subject(call: Call) -> list[Json]:
    return _found(call, subject=call.subject)


async def associate(call: Call) -> Json:
    body = call.json()
    for subject in subjects_of(body):
        call.require(Action.WRITE, subject)
    return await call.write(lambda: call.registry.associations.decide_associate(body))


async def dissociate(call: Call) -> None:
    resource_id, types = call.parameters["resourceId"], call.query_lists.get("associationType", [])
    for found in call.registry.associations.find(types, resourceId=resource_id):
        call.require(Action.WRITE, found["subject"])
    await call.write(lambda: call.registry.associations.decide_dissociate(resource_id, types))


def _found(call: Call, **wanted: str) -> list[Json]:
    for field in ("resourceType", "lifecycle"):
        if field in call.query:
            wanted[field] = call.query[field]
    found = call.registry.associations.find(call.query_lists.get("associationType", []), **wanted)
    return call.page([each for each in found if call.may(Action.DESCRIBE, each["subject"])])


ROUTES = [
    Route("GET", "/associations/subjects/{subject}", by_subject),
    Route("GET", "/associations/resources/{resourceNamespace}/{resourceName}", by_name),
    Route("GET", "/associations/resources/{resourceId}", by_id),
    Route("POST", "/associations", associate),
    Route("DELETE", "/associations/resources/{resourceId}", dissociate),
]
