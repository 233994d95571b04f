"""One request on its way to a handler, in the registry's own terms."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from moldau.registry.decisions.decision import Decision
from moldau.registry.entities import SchemaRequest
from moldau.registry.failures import RegistryFailure, denied, invalid_version, unprocessable
from moldau.registry.service import Registry
from moldau.registry.subjects import in_context_of, shortest
from moldau.security.roles.model import Action, ServiceKind
from moldau.services.security.access import ALL, Access

Answer = TypeVar("Answer")


class RawText(str):
    """An answer that is sent as plain text, not as a JSON string."""


@dataclass(slots=True)
class Call:
    registry: Registry
    parameters: dict[str, str]
    query: dict[str, str]
    query_lists: dict[str, list[str]]
    body: bytes
    is_extended: bool
    """Whether the client accepts fields it does not know (`Confluent-Accept-Unknown-Properties`)."""
    run: Callable[..., Any]
    """Runs a slow function on a thread and awaits it."""
    await_write: Callable[["Future[Any]"], Any]
    access: Access
    """What the caller may do."""

    @property
    def subject(self) -> str:
        return shortest(self.parameters["subject"])

    @property
    def meant_subject(self) -> str:
        """The subject, with an alias resolved."""
        return self.registry.scope.alias(self.subject)

    @property
    def settings_subject(self) -> str | None:
        """None for the default context, whose settings are the global ones."""
        return shortest(self.parameters.get("subject", "")) or None

    @property
    def version(self) -> int:
        """-1 is the latest."""
        return parse_version(self.parameters["version"])

    def flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() == "true"

    def number(self, name: str, default: int) -> int:
        text = self.query.get(name)
        if text is None:
            return default
        try:
            return int(text)
        except ValueError:
            raise RegistryFailure(404, "HTTP 404 Not Found") from None

    def page(
        self, items: list[Answer], *, limit_default: int | None = None, limit_max: int | None = None
    ) -> list[Answer]:
        """An invalid limit counts as none."""
        start, limit = max(self.number("offset", 0), 0), self.number("limit", -1)
        if limit <= 0 or (limit_max is not None and limit > limit_max):
            limit = len(items) if limit_default is None else limit_default
        return items[start : start + limit]

    def search_page(self, items: list[Answer]) -> list[Answer]:
        """The limit of a search, which never returns more."""
        settings = self.registry.settings
        return self.page(
            items,
            limit_default=settings.schema_search_default_limit,
            limit_max=settings.schema_search_max_limit,
        )

    def json(self) -> object:
        if not self.body.strip():
            raise unprocessable("The request has no body; send a JSON object.")
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise RegistryFailure(400, f"The body is not JSON: {error}") from None

    def may(self, action: Action, subject: str) -> bool:
        return self.access.may(action, ServiceKind.SUBJECT, subject)

    def require(self, action: Action, subject: str = ALL) -> None:
        """Raises RegistryFailure 40301 if the caller may not do this with the subject."""
        if not self.may(action, subject):
            raise denied(self.access.refusal(action, ServiceKind.SUBJECT, subject))

    def schema_request(self, subject: str) -> SchemaRequest:
        """The body. The caller needs `read` on the subjects that it refers to: an answer may show what is in them."""
        request = SchemaRequest.parse(self.json())
        for reference in request.schema.references:
            self.require(Action.READ, in_context_of(subject, reference.subject))
        return request

    async def write(self, decide: Callable[[], Decision[Answer]]) -> Answer:
        written: Answer = await self.await_write(self.registry.write(decide))
        return written


def parse_version(text: str) -> int:
    bare = text.strip()
    if bare.lower() == "latest":
        return -1
    try:
        version = int(bare) if bare.lstrip("+-").isdecimal() else 0
    except ValueError:
        version = 0
    if version != -1 and not 1 <= version < 2**31:
        raise invalid_version(text)
    return version
