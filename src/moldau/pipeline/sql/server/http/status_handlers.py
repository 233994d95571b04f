"""What the server says about itself: `/info`, `/healthcheck`, `/status`, `/clusterStatus` and others."""

import asyncio

from starlette.responses import Response
from starlette.types import ASGIApp

from moldau.pipeline.sql.server.failures import NOT_FOUND, ServiceFailure
from moldau.pipeline.sql.server.http.call import Call
from moldau.pipeline.sql.server.http.entities import Json, command_status
from moldau.pipeline.sql.server.http.failures import bad_request
from moldau.pipeline.sql.server.http.routing import Route
from moldau.pipeline.sql.server.requests import HostStatus
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.security.roles.model import Action

METRICS_TYPE = "text/plain; version=0.0.4"


async def root(call: Call) -> ASGIApp:
    return Response(status_code=307, headers={"location": "/info"})


async def info(call: Call) -> ASGIApp:
    told = call.service.info()
    found = {
        "version": told.version,
        "kafkaClusterId": told.kafka_cluster_id,
        "ksqlServiceId": told.service_id,
        "serverStatus": told.status,
    }
    return call.document({"KsqlServerInfo": found})


async def metadata(call: Call) -> ASGIApp:
    return call.document({"version": call.service.info().version, "clusterId": _cluster_id(call)})


async def metadata_id(call: Call) -> ASGIApp:
    return call.document(_cluster_id(call))


def _cluster_id(call: Call) -> Json:
    told = call.service.info()
    clusters = {"kafka-cluster": told.kafka_cluster_id, "ksql-cluster": told.service_id}
    return {"id": "", "scope": {"path": [], "clusters": clusters}}


async def healthcheck(call: Call) -> ASGIApp:
    health = await call.service.health()
    details = {name: {"isHealthy": is_healthy} for name, is_healthy in health.details.items()}
    return call.document({"isHealthy": health.is_healthy, "details": details, "serverState": "READY"})


async def statuses(call: Call) -> ASGIApp:
    call.require(Action.DESCRIBE)
    known = call.service.command_statuses()
    return call.document({"commandStatuses": {name: one.status for name, one in known.items()}})


async def status(call: Call) -> ASGIApp:
    call.require(Action.DESCRIBE)
    command_id = "/".join(call.parameters[name] for name in ("type", "entity", "action"))
    found = call.service.command_status(command_id)
    if found is None:
        raise ServiceFailure(NOT_FOUND, f"Command not found: {command_id}")
    return call.document(command_status(found))


async def cluster_status(call: Call) -> ASGIApp:
    call.require(Action.DESCRIBE)
    return call.document({"clusterStatus": {host.host: _host(host) for host in call.service.hosts()}})


def _host(host: HostStatus) -> Json:
    return {
        "hostAlive": host.is_alive,
        "lastStatusUpdateMs": host.last_seen_ms,
        "activeStandbyPerQuery": {},
        "hostStoreLags": {"stateStoreLags": {}, "updateTimeMs": 0},
    }


async def is_valid_property(call: Call) -> ASGIApp:
    call.require(Action.DESCRIBE)
    name = call.parameters["name"]
    try:
        call.service.check_property(name)
    except SqlError as wrong:
        raise bad_request(
            "One or more properties overrides set locally are prohibited by the KSQL server "
            f"(use UNSET to reset their default value): [{name}]\n{wrong.hint}"
        ) from None
    return call.document(True)


async def alive(call: Call) -> ASGIApp:
    return call.document({})


async def acknowledged(call: Call) -> ASGIApp:
    """/heartbeat and /lag of ksqlDB's servers. Servers here hear of each other through Kafka."""
    await call.body()
    return call.document({"ok": True})


async def metrics(call: Call) -> ASGIApp:
    call.require(Action.DESCRIBE)
    return Response(await asyncio.to_thread(call.service.metrics_text), media_type=METRICS_TYPE)


ROUTES = [
    Route("GET", "/", root),
    Route("GET", "/info", info),
    Route("GET", "/v1/metadata", metadata),
    Route("GET", "/v1/metadata/id", metadata_id),
    Route("GET", "/healthcheck", healthcheck),
    Route("GET", "/chc/ready", alive),
    Route("GET", "/chc/live", alive),
    Route("GET", "/status", statuses),
    Route("GET", "/status/{type}/{entity}/{action}", status),
    Route("GET", "/clusterStatus", cluster_status),
    Route("GET", "/is_valid_property/{name}", is_valid_property),
    Route("POST", "/heartbeat", acknowledged),
    Route("POST", "/lag", acknowledged),
    Route("GET", "/metrics", metrics),
]
