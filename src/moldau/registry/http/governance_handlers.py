"""`/config`, `/mode`, `/compatibility`, `/contexts` and information about the server."""

from moldau import __version__
from moldau.registry.decisions.governance import config_answer
from moldau.registry.entities import Json
from moldau.registry.failures import RegistryFailure, config_not_set, mode_not_set
from moldau.registry.http.call import Call, parse_version
from moldau.registry.http.routing import Route
from moldau.registry.subjects import DEFAULT_CONTEXT, context_from_path, prefix_of
from moldau.security.roles.model import Action
from moldau.services.security.access import ALL


async def get_config(call: Call) -> Json:
    subject, scope = call.settings_subject, call.registry.scope
    _require_describe(call, subject)
    config = scope.config(subject) if call.flag("defaultToGlobal") else scope.own_config(subject)
    if config is None:
        raise config_not_set(str(subject))
    return config


async def put_config(call: Call) -> Json:
    subject, body = _managed(call), call.json()
    return config_answer(await call.write(lambda: call.registry.governance.decide_config(subject, body)))


async def delete_config(call: Call) -> Json:
    subject = _managed(call)
    return await call.write(lambda: call.registry.governance.decide_delete_config(subject))


async def get_mode(call: Call) -> Json:
    subject, scope = call.settings_subject, call.registry.scope
    _require_describe(call, subject)
    mode = scope.mode(subject) if call.flag("defaultToGlobal") else scope.own_mode(subject)
    if mode is None:
        raise mode_not_set(str(subject))
    return {"mode": mode}


async def put_mode(call: Call) -> Json:
    subject, body, force = _managed(call), call.json(), call.flag("force")
    mode = await call.write(lambda: call.registry.governance.decide_mode(subject, body, force=force))
    return {"mode": mode} if mode is not None else {}


async def delete_mode(call: Call) -> Json:
    subject, recursive = _managed(call), call.flag("recursive")
    mode = await call.write(lambda: call.registry.governance.decide_delete_mode(subject, recursive=recursive))
    return {"mode": mode} if mode is not None else {}


async def test_compatibility(call: Call) -> Json:
    """With `verbose=true` the answer includes the reasons: `messages` for people, `clashes` for tools."""
    subject = call.meant_subject
    call.require(Action.READ, subject)
    request = call.schema_request(subject)
    text = call.parameters.get("version")
    version, verbose = None if text is None else parse_version(text), call.flag("verbose")
    try:
        verdict = await call.run(
            lambda: call.registry.registration.evolution.test(
                subject, request, version, normalize=call.flag("normalize")
            )
        )
    except RegistryFailure as failure:
        if verbose and failure.code == 42201:
            return {"is_compatible": False, "messages": [failure.message]}
        raise
    answer: Json = {"is_compatible": not verdict.messages}
    if verbose:
        answer["messages"] = verdict.messages
        answer["clashes"] = [clash.to_json() for clash in verdict.clashes]
    return answer


async def list_contexts(call: Call) -> list[str]:
    prefix = call.query.get("contextPrefix", "")
    found = [context for context in call.registry.state.contexts() if context.startswith(prefix)]
    return call.page([context for context in found if _sees_context(call, context)])


async def delete_context(call: Call) -> None:
    context = context_from_path(call.parameters["context"])
    if context is None:
        raise RegistryFailure(400, f"Context name '{call.parameters['context']}' cannot contain a colon")
    call.require(Action.DELETE, prefix_of(context) or ALL)
    await call.write(lambda: call.registry.deletion.decide_delete_context(context))


async def root(call: Call) -> Json:
    return {}


async def metadata_id(call: Call) -> Json:
    clusters = {
        "kafka-cluster": call.registry.cluster_id,
        "schema-registry-cluster": call.registry.settings.group_id,
    }
    return {"scope": {"path": [], "clusters": clusters}, "id": ""}


async def metadata_version(call: Call) -> Json:
    """Names Moldau, and has a version number for clients that compare versions."""
    return {"version": f"{__version__}-moldau", "commitId": "unknown"}


def _managed(call: Call) -> str | None:
    """The subject whose settings are to change; None for the global ones. Raises RegistryFailure."""
    subject = call.settings_subject
    call.require(Action.MANAGE, ALL if subject is None else subject)
    return subject


def _require_describe(call: Call, subject: str | None) -> None:
    """The global settings are no secret: serializers ask for them."""
    if subject is not None:
        call.require(Action.DESCRIBE, subject)


def _sees_context(call: Call, context: str) -> bool:
    return context == DEFAULT_CONTEXT or any(
        call.may(Action.DESCRIBE, subject) for subject in call.registry.state.subjects(prefix_of(context))
    )


ROUTES = [
    Route("GET", "/", root),
    Route("GET", "/config", get_config),
    Route("PUT", "/config", put_config),
    Route("DELETE", "/config", delete_config),
    Route("GET", "/config/{subject}", get_config),
    Route("PUT", "/config/{subject}", put_config),
    Route("DELETE", "/config/{subject}", delete_config),
    Route("GET", "/mode", get_mode),
    Route("PUT", "/mode", put_mode),
    Route("DELETE", "/mode", delete_mode),
    Route("GET", "/mode/{subject}", get_mode),
    Route("PUT", "/mode/{subject}", put_mode),
    Route("DELETE", "/mode/{subject}", delete_mode),
    Route("POST", "/compatibility/subjects/{subject}/versions", test_compatibility),
    Route("POST", "/compatibility/subjects/{subject}/versions/{version}", test_compatibility),
    Route("GET", "/contexts", list_contexts),
    Route("DELETE", "/contexts/{context}", delete_context),
    Route("GET", "/v1/metadata/id", metadata_id),
    Route("GET", "/v1/metadata/version", metadata_version),
]
