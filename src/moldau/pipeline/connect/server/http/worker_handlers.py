"""Requests about the worker itself: its version, its health, its loggers, what it counts."""

from typing import Final

from moldau import __version__
from moldau.pipeline.connect.server.failures import (
    SERVER_ERROR,
    UNAVAILABLE,
    bad_request,
    not_found,
)
from moldau.pipeline.connect.server.http.call import NO_CONTENT, OK, Answer, Call
from moldau.pipeline.connect.server.http.routing import Route
from moldau.pipeline.connect.server.loggers import LEVELS
from moldau.security.roles.model import Action

COMMIT: Final = "moldau"
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
HEALTHY: Final = "Worker has completed startup and is ready to handle requests."
STARTING: Final = "Worker is still starting up. It has not joined its group yet."


def show_worker(call: Call) -> Answer:
    return Answer(
        {"version": __version__, "commit": COMMIT, "kafka_cluster_id": call.member.kafka_cluster_id}
    )


def show_health(call: Call) -> Answer:
    """KIP-1017."""
    problem = call.member.problem
    if problem is not None:
        return Answer({"status": "unhealthy", "message": problem}, SERVER_ERROR)
    if not call.member.has_joined:
        return Answer({"status": "starting", "message": STARTING}, UNAVAILABLE)
    return Answer({"status": "healthy", "message": HEALTHY}, OK)


def show_metrics(call: Call) -> Answer:
    """Of the tasks of this worker, for Prometheus. Empty while none has run."""
    call.require(Action.DESCRIBE)
    text = call.member.hosting.driver.metrics_text()
    return Answer(text.encode(), OK, {"Content-Type": METRICS_TYPE})


def list_loggers(call: Call) -> Answer:
    call.require(Action.DESCRIBE)
    return Answer(call.member.loggers.all())


def show_logger(call: Call) -> Answer:
    call.require(Action.DESCRIBE)
    name = call.parameters["logger"]
    found = call.member.loggers.level(name)
    if found is None:
        raise not_found(f"Logger {name} not found.")
    return Answer(found)


def set_level(call: Call) -> Answer:
    call.require(Action.MANAGE)
    name, level = call.parameters["logger"], call.document().get("level")
    if not isinstance(level, str) or not level.strip():
        raise bad_request("Desired 'level' parameter was not specified in request.")
    level = level.strip().upper()
    if level not in LEVELS:
        raise not_found(f"invalid log level '{level}'. Known: {', '.join(LEVELS)}")
    scope = call.query.get("scope", ["worker"])[0].lower()
    if scope == "cluster":
        call.service.set_level(name, level)
        return Answer(status=NO_CONTENT)
    return Answer(call.member.loggers.set(name, level))


ROUTES = [
    Route("GET", "/", show_worker),
    Route("GET", "/health", show_health),
    Route("GET", "/metrics", show_metrics),
    Route("GET", "/admin/loggers", list_loggers),
    Route("GET", "/admin/loggers/{logger}", show_logger),
    Route("PUT", "/admin/loggers/{logger}", set_level),
]
