"""What a running application tells and takes over HTTP, beside its views:

GET /                       state and measurements
GET /topology               the plan as text; ?as=mermaid or ?as=dot as a graph
POST /pause, POST /resume   the application rests, or goes on
"""

import threading
from dataclasses import asdict

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from moldau.core.errors import ConfigError
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.views.http import view_routes
from moldau.pipeline.views.view_host import ViewHost


def application_server(app: PipelineApp, views: ViewHost) -> Starlette:
    async def status(request: Request) -> Response:
        return JSONResponse({"application_id": app.settings.application_id, **asdict(app.metrics)})

    async def topology(request: Request) -> Response:
        form = request.query_params.get("as", "text")
        return PlainTextResponse(app.topology.describe() if form == "text" else app.topology.graph(form))

    async def pause(request: Request) -> Response:
        app.pause()
        return Response(status_code=202)

    async def resume(request: Request) -> Response:
        app.resume()
        return Response(status_code=202)

    own = [
        Route("/", status),
        Route("/topology", topology),
        Route("/pause", pause, methods=["POST"]),
        Route("/resume", resume, methods=["POST"]),
    ]
    return Starlette(routes=[*own, *view_routes(views)])


def serve_in_thread(server: Starlette, address: str) -> None:
    """`address` is HOST:PORT. Ends with the process."""
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdigit():
        raise ConfigError(f"{address!r} is no address to listen on: write HOST:PORT")
    config = uvicorn.Config(server, host or "127.0.0.1", int(port), log_level="error", access_log=False)
    threading.Thread(target=uvicorn.Server(config).run, name="http", daemon=True).start()
