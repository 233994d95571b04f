"""`/subjects`: list, register, look up, read and delete."""

from moldau.registry.entities import Json, StoredSchema
from moldau.registry.failures import schema_not_found, subject_not_found, version_not_found
from moldau.registry.http.answers import registered_answer, version_answer
from moldau.registry.http.call import Call, RawText
from moldau.registry.http.formats import formatted
from moldau.registry.http.routing import Route
from moldau.registry.subjects import ANY_CONTEXT, DEFAULT_CONTEXT, context_of, in_context_of, prefix_of
from moldau.security.roles.model import Action


async def list_subjects(call: Call) -> list[str]:
    prefix = call.query.get("subjectPrefix", ANY_CONTEXT)
    state = call.registry.state
    wanted = []
    for subject in state.subjects(prefix):
        if not call.may(Action.DESCRIBE, subject):
            continue
        is_live = state.has_subject(subject)
        if call.flag("deletedOnly"):
            if not is_live:
                wanted.append(subject)
        elif is_live or call.flag("deleted"):
            wanted.append(subject)
    return call.page(wanted)


async def register(call: Call) -> Json:
    subject, registration = call.meant_subject, call.registry.registration
    call.require(Action.WRITE, subject)
    request = call.schema_request(subject)
    registration.check(subject, request)
    normalize = call.flag("normalize") or bool(call.registry.scope.config(subject).get("normalize"))
    # Most registrations send a schema that is already registered: any instance can answer those.
    stored = await call.run(lambda: registration.lookup.registered(subject, request, normalize=normalize))
    if stored is None:
        force = call.flag("force")
        stored = await call.write(
            lambda: registration.decide_register(subject, request, normalize=normalize, force=force)
        )
    return registered_answer(stored, request.schema, extended=call.is_extended)


async def look_up(call: Call) -> Json:
    subject, deleted = call.meant_subject, call.flag("deleted")
    call.require(Action.READ, subject)
    request = call.schema_request(subject)
    found = await call.run(
        lambda: call.registry.registration.lookup.find(
            subject, request.schema, normalize=call.flag("normalize"), deleted=deleted
        )
    )
    if found is None:
        if not call.registry.state.has_subject(subject, deleted=deleted):
            raise subject_not_found(subject)
        raise schema_not_found()
    return version_answer(found, extended=call.is_extended, text=await formatted(call, found))


async def latest_with_metadata(call: Call) -> Json:
    keys, values = call.query_lists.get("key", []), call.query_lists.get("value", [])
    wanted = set(zip(keys, values, strict=False))
    subject, deleted = call.meant_subject, call.flag("deleted")
    call.require(Action.READ, subject)
    versions = call.registry.state.versions(subject, deleted=deleted)
    for found in reversed(versions):
        properties = (found.schema.metadata or {}).get("properties")
        if properties is not None and wanted <= set(properties.items()):
            return version_answer(found, extended=call.is_extended, text=await formatted(call, found))
    raise schema_not_found() if versions else subject_not_found(subject)


async def delete_subject(call: Call) -> list[int]:
    subject, permanent = call.meant_subject, call.flag("permanent")
    call.require(Action.DELETE, subject)
    return await call.write(
        lambda: call.registry.deletion.decide_delete_subject(subject, permanent=permanent)
    )


async def list_versions(call: Call) -> list[int]:
    subject, state = call.meant_subject, call.registry.state
    call.require(Action.DESCRIBE, subject)
    as_negative, only_deleted = call.flag("deletedAsNegative"), call.flag("deletedOnly")
    found = state.versions(subject, deleted=call.flag("deleted") or as_negative or only_deleted)
    if not found:
        raise subject_not_found(subject)
    numbers = [
        -schema.version if as_negative and schema.deleted else schema.version
        for schema in found
        if schema.deleted or not only_deleted
    ]
    return call.page(numbers)


async def get_version(call: Call) -> Json:
    found = _version(call)
    answer = version_answer(found, extended=call.is_extended, text=await formatted(call, found))
    if call.query.get("referenceFormat") == "qualified" and context_of(found.subject) != DEFAULT_CONTEXT:
        for reference in answer.get("references", ()):
            reference["subject"] = in_context_of(found.subject, reference["subject"])
    return answer


async def get_version_text(call: Call) -> RawText:
    found = _version(call)
    return RawText(await formatted(call, found) or found.schema.text)


async def referenced_by(call: Call) -> list[int]:
    found, deleted = _version(call, deleted=True), call.flag("deleted")
    referrers = call.registry.state.referrers(found.subject, found.version, deleted=deleted)
    return call.search_page(sorted({schema.id for schema in referrers}))


async def delete_version(call: Call) -> int:
    subject, version, permanent = call.meant_subject, call.version, call.flag("permanent")
    call.require(Action.DELETE, subject)
    return await call.write(
        lambda: call.registry.deletion.decide_delete_version(subject, version, permanent=permanent)
    )


def _version(call: Call, *, deleted: bool | None = None) -> StoredSchema:
    """The version of the subject, or of the subject with that name in another context."""
    subject, version, state = call.meant_subject, call.version, call.registry.state
    call.require(Action.READ, subject)
    wants_deleted = call.flag("deleted") if deleted is None else deleted
    found = state.version(subject, version, deleted=wants_deleted)
    if found is None and context_of(subject) == DEFAULT_CONTEXT:
        others = (
            state.version(prefix_of(context) + subject, version, deleted=wants_deleted)
            for context in state.contexts()[1:]
        )
        found = next((each for each in others if each and call.may(Action.READ, each.subject)), None)
    if found is not None:
        return found
    if state.has_subject(subject, deleted=wants_deleted):
        raise version_not_found(version)
    raise subject_not_found(subject)


ROUTES = [
    Route("GET", "/subjects", list_subjects),
    Route("POST", "/subjects/{subject}", look_up),
    Route("DELETE", "/subjects/{subject}", delete_subject),
    Route("GET", "/subjects/{subject}/metadata", latest_with_metadata),
    Route("GET", "/subjects/{subject}/versions", list_versions),
    Route("POST", "/subjects/{subject}/versions", register),
    Route("GET", "/subjects/{subject}/versions/{version}", get_version),
    Route("DELETE", "/subjects/{subject}/versions/{version}", delete_version),
    Route("GET", "/subjects/{subject}/versions/{version}/schema", get_version_text),
    Route("GET", "/subjects/{subject}/versions/{version}/referencedby", referenced_by),
]
