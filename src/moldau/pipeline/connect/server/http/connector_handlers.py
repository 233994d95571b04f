"""Requests about connectors, their tasks, topics and offsets."""

from collections.abc import Callable

from moldau.pipeline.connect.server.failures import FORBIDDEN, RequestFailure
from moldau.pipeline.connect.server.http.bodies import (
    read_changes,
    read_config,
    read_creation,
    read_offsets,
)
from moldau.pipeline.connect.server.http.call import ACCEPTED, NO_CONTENT, Answer, Call, created
from moldau.pipeline.connect.server.http.routing import Handler, Route
from moldau.pipeline.connect.server.state.config_records import TargetState
from moldau.security.roles.model import Action


def list_connectors(call: Call) -> Answer:
    """Those that the caller may see. With `expand=info` they have their configurations."""
    view, parts = call.service.view, call.query.get("expand", ())
    action = Action.READ if "info" in parts else Action.DESCRIBE
    if "expand" not in call.query:
        return Answer([name for name in view.names() if call.may(action, name)])
    return Answer({name: one for name, one in view.expanded(parts).items() if call.may(action, name)})


def create(call: Call) -> Answer:
    asked = read_creation(call.document())
    call.require(Action.WRITE, asked.name)
    info = call.service.create(asked.name, asked.config, asked.initial)
    return created(info.as_json(), asked.name)


def show(call: Call) -> Answer:
    return Answer(call.service.view.info(call.connector).as_json())


def delete(call: Call) -> Answer:
    call.service.delete(call.connector)
    return Answer(status=NO_CONTENT)


def show_config(call: Call) -> Answer:
    return Answer(call.service.view.config(call.connector))


def put_config(call: Call) -> Answer:
    info, is_new = call.service.put_config(call.connector, read_config(call.document()))
    return created(info.as_json(), call.connector) if is_new else Answer(info.as_json())


def patch_config(call: Call) -> Answer:
    return Answer(call.service.patch_config(call.connector, read_changes(call.document())).as_json())


def show_status(call: Call) -> Answer:
    return Answer(call.service.view.status(call.connector))


def setting_target(target: TargetState, status: int) -> Handler:
    def handle(call: Call) -> Answer:
        call.service.set_target(call.connector, target)
        return Answer(status=status)

    return handle


def restart(call: Call) -> Answer:
    states = call.service.restart(
        call.connector, only_failed=call.flag("onlyFailed"), with_tasks=call.flag("includeTasks")
    )
    return Answer(status=NO_CONTENT) if states is None else Answer(states, ACCEPTED)


def list_tasks(call: Call) -> Answer:
    return Answer(call.service.view.tasks(call.connector))


def list_task_configs(call: Call) -> Answer:
    return Answer(call.service.view.tasks_config(call.connector))


def show_task_status(call: Call) -> Answer:
    return Answer(call.service.view.task_status(call.connector, call.task))


def restart_task(call: Call) -> Answer:
    call.service.restart_task(call.connector, call.task, forwards=call.flag("forward", default=True))
    return Answer(status=NO_CONTENT)


def tracked(handler: Handler) -> Handler:
    """Of topics that connectors use."""

    def handle(call: Call) -> Answer:
        if not call.service.settings.tracks_topics:
            raise RequestFailure(FORBIDDEN, "Topic tracking is disabled.")
        return handler(call)

    return handle


def list_topics(call: Call) -> Answer:
    return Answer(call.service.view.topics(call.connector))


def reset_topics(call: Call) -> Answer:
    call.service.reset_topics(call.connector)
    return Answer(status=ACCEPTED)


def show_offsets(call: Call) -> Answer:
    return Answer(call.service.offsets.get(call.connector))


def alter_offsets(call: Call) -> Answer:
    return Answer(call.service.offsets.alter(call.connector, read_offsets(call.document())))


def reset_offsets(call: Call) -> Answer:
    return Answer(call.service.offsets.reset(call.connector))


def _of_one(action: Action, method: str, rest: str, handler: Callable[[Call], Answer]) -> Route:
    """Of a request that needs the right to `action` on the connector in the path."""

    def handle(call: Call) -> Answer:
        call.require(action, call.connector)
        return handler(call)

    return Route(method, f"/connectors/{{connector}}{rest}", handle)


ROUTES = [
    Route("GET", "/connectors", list_connectors),
    Route("POST", "/connectors", create),
    _of_one(Action.READ, "GET", "", show),
    _of_one(Action.DELETE, "DELETE", "", delete),
    _of_one(Action.READ, "GET", "/config", show_config),
    _of_one(Action.WRITE, "PUT", "/config", put_config),
    _of_one(Action.WRITE, "PATCH", "/config", patch_config),
    _of_one(Action.DESCRIBE, "GET", "/status", show_status),
    _of_one(Action.MANAGE, "PUT", "/pause", setting_target(TargetState.PAUSED, ACCEPTED)),
    _of_one(Action.MANAGE, "PUT", "/resume", setting_target(TargetState.STARTED, ACCEPTED)),
    _of_one(Action.MANAGE, "PUT", "/stop", setting_target(TargetState.STOPPED, NO_CONTENT)),
    _of_one(Action.MANAGE, "POST", "/restart", restart),
    _of_one(Action.READ, "GET", "/tasks", list_tasks),
    _of_one(Action.READ, "GET", "/tasks-config", list_task_configs),
    _of_one(Action.DESCRIBE, "GET", "/tasks/{task}/status", show_task_status),
    _of_one(Action.MANAGE, "POST", "/tasks/{task}/restart", restart_task),
    _of_one(Action.DESCRIBE, "GET", "/topics", tracked(list_topics)),
    _of_one(Action.MANAGE, "PUT", "/topics/reset", tracked(reset_topics)),
    _of_one(Action.DESCRIBE, "GET", "/offsets", show_offsets),
    _of_one(Action.MANAGE, "PATCH", "/offsets", alter_offsets),
    _of_one(Action.MANAGE, "DELETE", "/offsets", reset_offsets),
]
