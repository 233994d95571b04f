"""One request on its way to a handler."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from moldau.pipeline.sql.server.http.entities import Context, Json, entity
from moldau.pipeline.sql.server.http.failures import too_large, too_slow
from moldau.pipeline.sql.server.http.negotiation import JSON, OBJECTS, check_content_type, choose
from moldau.pipeline.sql.server.requests import Executed
from moldau.pipeline.sql.server.service import SqlService
from moldau.pipeline.sql.server.statement_rights import require
from moldau.security.roles.model import Action
from moldau.services.security.access import Access, access_of

BODY_S_MAX: Final = 60.0


@dataclass(slots=True)
class Call:
    service: SqlService
    request: Request
    parameters: Mapping[str, str]

    def accepted(self, offered: Sequence[str]) -> str:
        return choose(self.request.headers.get("accept"), offered)

    @property
    def access(self) -> Access:
        """What the caller may do."""
        return access_of(self.request.scope)

    def require(self, action: Action) -> None:
        """Raises ServiceFailure 40300 if the caller may not do this at the server."""
        require(self.access, action, self.service.settings.service_id)

    async def body(self) -> bytes:
        check_content_type(self.request.headers.get("content-type"))
        bytes_max = self.service.settings.request_bytes_max
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_S_MAX):
                async for chunk in self.request.stream():
                    size += len(chunk)
                    if size > bytes_max:
                        raise too_large(bytes_max)
                    chunks.append(chunk)
        except TimeoutError:
            raise too_slow(BODY_S_MAX) from None
        return b"".join(chunks)

    def document(self, content: Any) -> Response:
        return Response(orjson.dumps(content), media_type=self.accepted(OBJECTS))

    def entity(self, executed: Executed) -> Json | None:
        return entity(executed, rendering_context(self.service))


def rendering_context(service: SqlService) -> Context:
    return Context(service.catalog.sources, service.settings.application_id)


def json_response(content: Any, status: int) -> Response:
    return Response(orjson.dumps(content), status, media_type=JSON)
