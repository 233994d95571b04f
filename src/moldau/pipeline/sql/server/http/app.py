"""The ASGI application."""

from starlette.types import Receive, Scope, Send

from moldau.pipeline.sql.server.service import SqlService


class SqlApp:
    def __init__(self, service: SqlService) -> None:
        self._service = service

    def close(self) -> None:
        """After the last request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError
