"""`/schemas`: by id, by guid, and all of them."""

import uuid

from moldau.registry.entities import SCHEMA_TYPES, Json, StoredSchema
from moldau.registry.failures import denied, schema_not_found
from moldau.registry.http.answers import id_answer, version_answer
from moldau.registry.http.call import Call, RawText
from moldau.registry.http.formats import formatted
from moldau.registry.http.routing import Route, not_found
from moldau.registry.subjects import (
    DEFAULT_CONTEXT,
    context_of,
    in_context_of,
    prefix_of,
    shortest,
)
from moldau.security.roles.model import Action


async def list_schemas(call: Call) -> list[Json]:
    """A search. With `aliases=true` it also returns the subjects that matching aliases stand for, with their
    aliases."""
    prefix, state = call.query.get("subjectPrefix", ""), call.registry.state
    aliases = call.registry.scope.aliases(prefix) if call.flag("aliases") else {}
    rule_type = call.query.get("ruleType")
    found: list[StoredSchema] = []
    for subject in sorted({*state.subjects(prefix), *aliases}):
        if not call.may(Action.READ, subject):
            continue
        versions = state.versions(subject, deleted=call.flag("deleted"))
        found += versions[-1:] if call.flag("latestOnly") else versions
    if rule_type:
        found = [stored for stored in found if rule_type in _rule_types(stored)]
    answers = []
    for stored in call.search_page(found):
        names = [alias for alias in aliases.get(stored.subject, ()) if call.may(Action.DESCRIBE, alias)]
        answer = version_answer(stored, extended=call.is_extended)
        answers.append({**answer, "aliases": names} if names else answer)
    return answers


async def list_types(call: Call) -> list[str]:
    return list(SCHEMA_TYPES)


async def get_schema(call: Call) -> Json:
    schema_id = _id(call)
    found = _by_id(call, schema_id)
    id_max = call.registry.state.id_max(context_of(found.subject)) if call.flag("fetchMaxId") else None
    text = await formatted(call, found)
    answer = id_answer(found, extended=call.is_extended, text=text, id_max=id_max)
    if call.query.get("referenceFormat") == "qualified" and context_of(found.subject) != DEFAULT_CONTEXT:
        for reference in answer.get("references", ()):
            reference["subject"] = in_context_of(found.subject, reference["subject"])
    return answer


async def get_schema_text(call: Call) -> RawText:
    found = _by_id(call, _id(call))
    return RawText(await formatted(call, found) or found.schema.text)


async def list_subjects_of_id(call: Call) -> list[str]:
    return call.page(list(dict.fromkeys(stored.subject for stored in _uses(call))))


async def list_versions_of_id(call: Call) -> list[Json]:
    return call.page([{"subject": stored.subject, "version": stored.version} for stored in _uses(call)])


async def get_by_guid(call: Call) -> Json:
    for context, schema_id in call.registry.state.holders_of_guid(_guid(call)):
        for found in call.registry.state.holders(context, schema_id):
            if not call.may(Action.READ, found.subject):
                continue
            answer = id_answer(found, extended=call.is_extended, text=await formatted(call, found))
            return {field: value for field, value in answer.items() if field not in ("subject", "version")}
    raise schema_not_found(call.parameters["guid"])


async def list_ids_of_guid(call: Call) -> list[Json]:
    state = call.registry.state
    return [
        {"context": context, "id": schema_id}
        for context, schema_id in sorted(state.holders_of_guid(_guid(call)))
        if any(call.may(Action.READ, stored.subject) for stored in state.holders(context, schema_id))
    ]


def _by_id(call: Call, schema_id: int) -> StoredSchema:
    """In the context of the given subject; without a context, wherever a subject of that name uses the id."""
    state, subject = call.registry.state, shortest(call.query.get("subject", ""))
    context = context_of(subject)
    held = state.holders(context, schema_id)
    if context == DEFAULT_CONTEXT and subject and not any(stored.subject == subject for stored in held):
        for other in state.contexts()[1:]:
            for stored in state.holders(other, schema_id):
                if stored.subject == prefix_of(other) + subject and call.may(Action.READ, stored.subject):
                    return stored
    if not held:
        raise schema_not_found(schema_id)
    held = [stored for stored in held if call.may(Action.READ, stored.subject)]
    if not held:
        raise denied(f"{call.access.principal} may not read any of the subjects with the schema {schema_id}.")
    own = [stored for stored in held if stored.subject == subject]
    return (own or [stored for stored in held if not stored.deleted] or held)[0]


def _uses(call: Call) -> list[StoredSchema]:
    schema_id = _id(call)
    context = context_of(_by_id(call, schema_id).subject)
    held = call.registry.state.holders(context, schema_id, deleted=call.flag("deleted"))
    return [stored for stored in held if call.may(Action.DESCRIBE, stored.subject)]


def _id(call: Call) -> int:
    text = call.parameters["id"]
    if not text.isdecimal() or len(text) > 10:
        raise not_found()
    return int(text)


def _guid(call: Call) -> bytes:
    try:
        return uuid.UUID(call.parameters["guid"]).bytes
    except ValueError:
        raise schema_not_found(call.parameters["guid"]) from None


def _rule_types(stored: StoredSchema) -> set[str]:
    groups = (stored.schema.rule_set or {}).values()
    return {rule.get("type") for rules in groups if isinstance(rules, list) for rule in rules}


ROUTES = [
    Route("GET", "/schemas", list_schemas),
    Route("GET", "/schemas/types", list_types),
    Route("GET", "/schemas/ids/{id}", get_schema),
    Route("GET", "/schemas/ids/{id}/schema", get_schema_text),
    Route("GET", "/schemas/ids/{id}/subjects", list_subjects_of_id),
    Route("GET", "/schemas/ids/{id}/versions", list_versions_of_id),
    Route("GET", "/schemas/guids/{guid}", get_by_guid),
    Route("GET", "/schemas/guids/{guid}/ids", list_ids_of_guid),
]
