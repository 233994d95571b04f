"""One request on its way to a handler, and what answers it, in Connect's own terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from moldau.pipeline.connect.server.failures import FORBIDDEN, RequestFailure, not_found
from moldau.pipeline.connect.server.http.bodies import read_object
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.requests import Json
from moldau.pipeline.connect.server.service import ConnectService
from moldau.security.roles.model import Action, ServiceKind
from moldau.services.security.access import ALL, Access

OK = 200
CREATED = 201
ACCEPTED = 202
NO_CONTENT = 204


@dataclass(frozen=True, slots=True)
class Answer:
    """`content` is sent as JSON, or as it is if it is bytes. None: the answer has no body."""

    content: Any = None
    status: int = OK
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    service: ConnectService
    parameters: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    body: bytes
    access: Access
    """What the caller may do."""

    @property
    def member(self) -> Member:
        return self.service.member

    @property
    def connector(self) -> str:
        """The name in the path."""
        return self.parameters["connector"]

    @property
    def task(self) -> int:
        """The number in the path."""
        text = self.parameters["task"]
        if not text.isdecimal() or not text.isascii() or len(text) > 9:
            raise not_found("HTTP 404 Not Found")
        return int(text)

    def flag(self, name: str, *, default: bool = False) -> bool:
        values = self.query.get(name)
        return default if not values else values[0].strip().lower() == "true"

    def may(self, action: Action, connector: str) -> bool:
        return self.access.may(action, ServiceKind.CONNECTOR, connector)

    def require(self, action: Action, connector: str = ALL) -> None:
        """Raises RequestFailure 403 if the caller may not do this with the connector."""
        if not self.may(action, connector):
            raise RequestFailure(FORBIDDEN, self.access.refusal(action, ServiceKind.CONNECTOR, connector))

    def document(self) -> Json:
        """The body, which must be a JSON object. Raises RequestFailure."""
        return read_object(self.body)


def created(content: Any, connector: str) -> Answer:
    return Answer(content, CREATED, {"Location": f"/connectors/{quote(connector, safe='')}"})


def refusal(failure: RequestFailure) -> Answer:
    return Answer({"error_code": failure.status, "message": failure.message}, failure.status)
