"""Associations: which subject a topic's keys and values use, when the topic's name does not tell. Decisions only.

Clients ask for an association before they fall back to a naming strategy. Moldau supports WEAK associations: they
point to an existing subject and are removed on request. STRONG ones are created together with their topic, which no
broker does.
"""

import uuid
from collections.abc import Collection, Mapping
from typing import NamedTuple

from moldau.registry.decisions.decision import Decision
from moldau.registry.decisions.scope import Scope
from moldau.registry.entities import Json
from moldau.registry.failures import (
    association_exists,
    invalid_association,
    no_live_version,
    unprocessable,
)
from moldau.registry.log.records import AssociationFact, Fact
from moldau.registry.state import RegistryState
from moldau.registry.subjects import shortest

ANY_NAMESPACE = "-"
RESOURCE_FIELDS = ("resourceName", "resourceNamespace", "resourceId", "resourceType")


class Associations(NamedTuple):
    state: RegistryState
    scope: Scope

    def find(self, types: Collection[str] = (), **wanted: str) -> list[Json]:
        """Returns the associations whose fields match; `-` matches any namespace."""
        if wanted.get("resourceNamespace") == ANY_NAMESPACE:
            del wanted["resourceNamespace"]
        return [
            found
            for found in list(self.state.associations.values())
            if all(found.get(field) == value for field, value in wanted.items())
            and (not types or found["associationType"] in types)
        ]

    def decide_associate(self, body: object) -> Decision[Json]:
        """Associating twice has the effect of once. Another subject for the same resource and type is rejected."""
        resource, infos = _parsed(body)
        facts: list[Fact] = []
        for info in infos:
            fact = self._associated(resource, info)
            if fact is not None:
                facts.append(fact)
        return Decision({**resource, "associations": infos}, tuple(facts))

    def decide_dissociate(self, resource_id: str, types: Collection[str]) -> Decision[None]:
        gone = self.find(types, resourceId=resource_id)
        for found in gone:
            self.scope.check_writable(found["subject"])
        return Decision(None, tuple(AssociationFact.of(found, is_there=False) for found in gone))

    def _associated(self, resource: Mapping[str, str], info: Json) -> AssociationFact | None:
        subject, kind = info["subject"], info["associationType"]
        self.scope.check_writable(subject)
        if self.state.latest(subject) is None:
            raise no_live_version(subject)
        for found in self.find([kind], **resource):
            if found["subject"] == subject:
                return None
            raise association_exists(kind, resource["resourceName"])
        name = "|".join((*resource.values(), kind, subject))
        guid = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        return AssociationFact.of({"guid": guid, **resource, **info})


def subjects_of(body: object) -> list[str]:
    """The subjects that a request to associate names. Raises RegistryFailure for a request that is not valid."""
    return [info["subject"] for info in _parsed(body)[1]]


def _parsed(body: object) -> tuple[dict[str, str], list[Json]]:
    if not isinstance(body, dict) or not isinstance(body.get("associations"), list):
        raise unprocessable("The body must be an object with the resource and its 'associations'.")
    resource = {field: body.get(field) for field in RESOURCE_FIELDS}
    resource["resourceType"] = resource["resourceType"] or "topic"
    for field, value in resource.items():
        if not isinstance(value, str) or not value:
            raise invalid_association(field, "must be a non-empty string")
    infos = [_info(info) for info in body["associations"]]
    if len({info["associationType"] for info in infos}) < len(infos):
        raise invalid_association("associationType", "may only appear once per request")
    return {field: str(value) for field, value in resource.items()}, infos


def _info(info: object) -> Json:
    if not isinstance(info, dict):
        raise unprocessable("An association must be an object with a subject.")
    subject, kind = info.get("subject"), info.get("associationType") or "value"
    if not isinstance(subject, str) or not subject:
        raise invalid_association("subject", "must be provided for WEAK associations")
    if (info.get("lifecycle") or "WEAK") != "WEAK" or info.get("frozen"):
        raise invalid_association(
            "lifecycle", "must be WEAK; a broker creates a STRONG one together with its topic"
        )
    if info.get("schema") is not None:
        raise invalid_association("schema", "cannot be given with a WEAK association; register it first")
    return {"associationType": str(kind), "subject": shortest(subject), "lifecycle": "WEAK", "frozen": False}
