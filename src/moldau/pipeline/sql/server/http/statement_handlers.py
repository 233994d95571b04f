"""`/ksql` and `/ksql/terminate`."""

from dataclasses import replace

from starlette.types import ASGIApp

from moldau.pipeline.sql.engine.answers import CurrentStatus
from moldau.pipeline.sql.server.http.bodies import read_statements, read_topics
from moldau.pipeline.sql.server.http.call import Call
from moldau.pipeline.sql.server.http.negotiation import OBJECTS
from moldau.pipeline.sql.server.http.routing import Route
from moldau.pipeline.sql.server.requests import Executed
from moldau.security.roles.model import Action

TERMINATE_CLUSTER = "TERMINATE CLUSTER;"


async def run_statements(call: Call) -> ASGIApp:
    call.accepted(OBJECTS)
    call.require(Action.DESCRIBE)
    request = replace(read_statements(await call.body()), access=call.access)
    executed = await call.service.execute(request)
    return call.document([found for one in executed if (found := call.entity(one)) is not None])


async def terminate_cluster(call: Call) -> ASGIApp:
    call.accepted(OBJECTS)
    call.require(Action.DELETE)
    call.require(Action.MANAGE)
    await call.service.terminate_cluster(read_topics(await call.body()))
    answer = CurrentStatus("The cluster was terminated.", "cluster/TerminateCluster/terminate")
    return call.document([call.entity(Executed(TERMINATE_CLUSTER, answer))])


ROUTES = [
    Route("POST", "/ksql", run_statements),
    Route("POST", "/ksql/terminate", terminate_cluster),
]
