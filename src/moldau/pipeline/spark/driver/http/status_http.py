"""What the applications of a process tell and take over HTTP.

GET /                                  one application: its state and measurements; several: all of them
GET /applications                      all of them
POST /applications {"file": "..."}     adds one from the folders the process was started with
GET /applications/{id}                 state and measurements
DELETE /applications/{id}              stops it and forgets it in this process; its checkpoint stays
GET /applications/{id}/topology        the plan as text; ?as=mermaid or ?as=dot as a graph
POST /applications/{id}/{what}         what: pause, resume, stop, start; of a connector also reload
GET /applications/{id}/views/...       its views, see `moldau.pipeline.views.http`
GET /metrics                           Prometheus' text format

Where one application runs, /topology, /views/..., POST /pause and POST /resume are its own. An error is
{"error": NAME, "message": a sentence}.
"""

import functools
import socket
import threading
from collections.abc import Callable
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, ConfigError
from moldau.pipeline.spark.connectors.connector_app import ConnectorApp
from moldau.pipeline.spark.driver.hosting import Host, Hosted
from moldau.pipeline.spark.driver.http.metrics_text import CONTENT_TYPE, connector_metrics_text, metrics_text
from moldau.pipeline.views.http import STATUS, view_routes
from moldau.pipeline.views.view_host import ViewHost

ACTIONS = ("pause", "resume", "stop", "start", "reload")
PORT_MAX = 65_535
FORMS = ("text", "mermaid", "dot")


def host_server(host: Host) -> Starlette:
    routes = [
        Route("/", _overview(host)),
        Route("/metrics", _metrics(host)),
        Route("/applications", _list(host)),
        Route("/applications", _add(host), methods=["POST"]),
        Route("/applications/{application_id}", _status(host)),
        Route("/applications/{application_id}", _remove(host), methods=["DELETE"]),
        Route("/applications/{application_id}/topology", _topology(host)),
        Route("/topology", _topology(host)),
        *(Route(f"/{action}", _act(host, action), methods=["POST"]) for action in ACTIONS[:2]),
        *(
            Route(f"/applications/{{application_id}}/{action}", _act(host, action), methods=["POST"])
            for action in ACTIONS
        ),
        *view_routes(lambda request: _views(host, request), "/applications/{application_id}"),
        *view_routes(lambda request: _views(host, request)),
    ]
    return Starlette(
        routes=routes,
        exception_handlers={
            ApiError: _refused,
            ConfigError: _refused,
            HTTPException: _no_such_page,
        },
    )


def serve_in_thread(server: Starlette, address: str) -> None:
    """`address` is HOST:PORT. Ends with the process. Raises ConfigError when nobody can listen there."""
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdigit() or int(port) > PORT_MAX:
        raise ConfigError(f"{address!r} is no address to listen on: write HOST:PORT")
    host = host.strip("[]") or "127.0.0.1"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, int(port)), family=family)
    except OSError as failure:
        raise ConfigError(
            f"cannot listen on {address} ({failure.strerror}): name another address with --http"
        ) from None
    config = uvicorn.Config(server, log_level="error", access_log=False)
    run = functools.partial(uvicorn.Server(config).run, sockets=[listener])
    threading.Thread(target=run, name="http", daemon=True).start()


Answer = Callable[[Request], Any]


def _overview(host: Host) -> Answer:
    async def overview(request: Request) -> Response:
        hosted = host.all()
        return JSONResponse(hosted[0].status() if len(hosted) == 1 else _statuses(host))

    return overview


def _list(host: Host) -> Answer:
    async def applications(request: Request) -> Response:
        return JSONResponse(_statuses(host))

    return applications


def _metrics(host: Host) -> Answer:
    async def metrics(request: Request) -> Response:
        statuses = [hosted.status() for hosted in host.all()]
        text = metrics_text([one for one in statuses if "tasks" not in one])
        text += connector_metrics_text([one for one in statuses if "tasks" in one])
        return Response(text, media_type=CONTENT_TYPE)

    return metrics


def _add(host: Host) -> Answer:
    async def add(request: Request) -> Response:
        try:
            file = orjson.loads(await request.body())["file"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            file = None
        if not isinstance(file, str) or not file:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, 'say which file: {"file": "app.py"}, as JSON in the body'
            )
        hosted = await run_in_threadpool(host.add_from_folders, file)
        return JSONResponse(hosted.status(), 201)

    return add


def _status(host: Host) -> Answer:
    async def status(request: Request) -> Response:
        return JSONResponse(_meant(host, request).status())

    return status


def _remove(host: Host) -> Answer:
    async def remove(request: Request) -> Response:
        hosted = await run_in_threadpool(host.remove, request.path_params["application_id"])
        return JSONResponse({**hosted.status(), "removed": True})

    return remove


def _act(host: Host, action: str) -> Answer:
    act = getattr(host, action)

    async def do(request: Request) -> Response:
        hosted = await run_in_threadpool(act, _meant(host, request).name)
        return JSONResponse(hosted.status(), 202)

    return do


def _topology(host: Host) -> Answer:
    async def topology(request: Request) -> Response:
        hosted = _meant(host, request)
        if hosted.app is None:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{hosted.name} could not be loaded: {hosted.refused}")
        form = request.query_params.get("as", "text")
        if form not in FORMS:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"as={form} is none of {', '.join(FORMS)}")
        if isinstance(hosted.app, ConnectorApp):
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{hosted.name} is a connector and has no topology")
        plan = hosted.app.topology
        return PlainTextResponse(plan.describe() if form == "text" else plan.graph(form))

    return topology


def _views(host: Host, request: Request) -> ViewHost:
    hosted = _meant(host, request)
    if hosted.views is None:
        raise ApiError(ErrorCode.RESOURCE_NOT_FOUND, f"{hosted.name} serves no views: it is {hosted.state}")
    return hosted.views


def _meant(host: Host, request: Request) -> Hosted:
    """The application the path names, or the only one there is."""
    name = request.path_params.get("application_id")
    if name is not None:
        return host[name]
    hosted = host.all()
    if len(hosted) == 1:
        return hosted[0]
    names = ", ".join(one.name for one in hosted) or "none"
    raise ApiError(
        ErrorCode.RESOURCE_NOT_FOUND,
        f"this process does not have one application but {len(hosted)} ({names}): ask for "
        f"/applications/NAME{request.url.path}",
    )


def _statuses(host: Host) -> dict[str, Any]:
    return {"applications": [hosted.status() for hosted in host.all()]}


def _refused(request: Request, failure: Exception) -> Response:
    code = failure.code if isinstance(failure, ApiError) else ErrorCode.INVALID_REQUEST
    return JSONResponse({"error": code.name, "message": str(failure)}, STATUS.get(code, 500))


def _no_such_page(request: Request, failure: Exception) -> Response:
    assert isinstance(failure, HTTPException)
    code = ErrorCode.RESOURCE_NOT_FOUND if failure.status_code == 404 else ErrorCode.INVALID_REQUEST
    message = f"{request.method} {request.url.path} is not served here; GET /applications lists what runs"
    return JSONResponse({"error": code.name, "message": message}, failure.status_code)
