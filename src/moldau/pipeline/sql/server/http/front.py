"""What listens: HTTP/1.1, HTTP/2 and websockets on one port."""

import uvicorn

from moldau.pipeline.sql.server.http.app import SqlApp


def server_config(app: SqlApp) -> uvicorn.Config:
    """Complete: only `serve(sockets=[...])` is left to the caller."""
    raise NotImplementedError
