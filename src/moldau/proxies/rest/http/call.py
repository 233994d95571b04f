"""One request on its way to a handler: its path, its query and its body, with the limits of the proxy."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from moldau.proxies.rest.failures import RestFailure, bad_request, unprocessable
from moldau.proxies.rest.http.negotiation import check_json, embedded_format
from moldau.services.security.access import ANONYMOUS
from moldau.services.security.guard import PRINCIPAL

if TYPE_CHECKING:
    from moldau.proxies.rest.proxy import Proxy

DISCARDED_BYTES_MAX: Final = 64 << 20
DISCARDING_S_MAX: Final = 10.0
"""How much of a body that is too large is read and thrown away, so that the client gets to read the answer."""
INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1


class Call:
    """What a handler sees of a request."""

    __slots__ = ("_query", "_receive", "_scope", "headers", "parameters", "proxy")

    def __init__(self, proxy: "Proxy", scope: Scope, receive: Receive) -> None:
        self.proxy = proxy
        self.parameters: dict[str, str] = {}
        self.headers: dict[str, str] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self._scope = scope
        self._receive = receive
        self._query: dict[str, list[str]] | None = None

    @property
    def path(self) -> str:
        return str(self._scope["path"])

    @property
    def principal(self) -> str:
        """Who the request is from, as `User:name`."""
        return str(self._scope.get(PRINCIPAL, ANONYMOUS))

    @property
    def base_url(self) -> str:
        """The address of this proxy in links."""
        if self.proxy.own_url is not None:
            return self.proxy.own_url
        return f"{self._scope['scheme']}://{self.headers.get('host') or self.proxy.listen_url.partition('://')[2]}"

    @property
    def query_lists(self) -> dict[str, list[str]]:
        if self._query is None:
            text = self._scope["query_string"].decode("latin-1")
            self._query = parse_qs(text, keep_blank_values=True) if text else {}
        return self._query

    def query(self, name: str) -> str | None:
        values = self.query_lists.get(name)
        return values[-1] if values else None

    def query_or(self, name: str, default: str) -> str:
        text = self.query(name)
        return default if text is None else text

    def query_number(self, name: str, default: int, *, at_least: int = -1) -> int:
        """Raises RestFailure 400."""
        text = self.query(name)
        if text is None:
            return default
        number = _whole(text)
        if number is None or not at_least <= number <= LONG_MAX:
            raise bad_request(
                f"{name}={text}: it takes a whole number of at least {at_least}, for example 1000."
            )
        return number

    def query_flag(self, name: str) -> bool:
        """Raises RestFailure 400."""
        text = (self.query(name) or "false").lower()
        if text not in ("true", "false"):
            raise bad_request(f"{name}={self.query(name)}: it takes true or false.")
        return text == "true"

    @property
    def wants_text_offsets(self) -> bool:
        """Whether offsets are answered as strings (`?offsets=string`), for clients whose numbers are doubles."""
        text = self.query("offsets")
        if text not in (None, "string", "number"):
            raise bad_request(f"offsets={text}: it takes string or number.")
        return text == "string"

    def number(self, name: str) -> int:
        """A path parameter. Raises RestFailure 404, as a servlet container does."""
        number = _whole(self.parameters[name])
        if number is None or not 0 <= number <= INT_MAX:
            raise RestFailure(404, f"HTTP 404 Not Found: {name} {self.parameters[name]!r} is not a number.")
        return number

    @property
    def records_format(self) -> str:
        """The format of the records in the body, from its content type. Raises RestFailure 415."""
        return embedded_format(self.headers.get("content-type"))

    async def body(self) -> bytes:
        """Raises RestFailure 413 if it is too large, 408 if it takes too long."""
        bytes_max = self.proxy.settings.request_bytes_max
        timeout_s = self.proxy.settings.request_timeout_ms / 1000
        declared = _whole(self.headers.get("content-length", "")) or 0
        try:
            async with asyncio.timeout(timeout_s):
                if declared > bytes_max:
                    await self._refuse_body(bytes_max)
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body: bytes = message.get("body", b"")
                if not message.get("more_body", False):
                    return body if len(body) <= bytes_max else await self._refuse_body(bytes_max)
                chunks, size = [body], len(body)
                async for chunk in self.pieces():
                    size += len(chunk)
                    if size > bytes_max:
                        await self._refuse_body(bytes_max)
                    chunks.append(chunk)
                return b"".join(chunks)
        except TimeoutError:
            raise RestFailure(
                408, f"HTTP 408 Request Timeout: the body was not complete within {timeout_s:g} s."
            ) from None

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                return

    async def wait_until_gone(self) -> None:
        """Returns when the client has closed the connection. Call it once the body is read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def json(self) -> Any:
        """The body, or None if there is none. Raises RestFailure 400 and 415."""
        body = await self.body()
        if not body.strip():
            return None
        check_json(self.headers.get("content-type"))
        return parse_json(body)

    async def json_object(self) -> dict[str, Any]:
        """Raises RestFailure 422 if the body is empty or no JSON object."""
        return as_object(await self.json())

    async def _refuse_body(self, bytes_max: int) -> bytes:
        discarded = 0
        if self.headers.get("expect", "").lower() != "100-continue":
            try:
                async with asyncio.timeout(DISCARDING_S_MAX):
                    async for chunk in self.pieces():
                        discarded += len(chunk)
                        if discarded > DISCARDED_BYTES_MAX:
                            break
            except TimeoutError:
                pass
        raise RestFailure(
            413,
            f"HTTP 413 Content Too Large: the body is larger than {bytes_max:,} bytes (request.max.bytes). Send the "
            "records in several requests.",
        )


def as_whole(value: Any) -> int | None:
    """A whole number of JSON, which may be written 2.0; None for anything else."""
    if type(value) is int:
        return value
    return int(value) if type(value) is float and value.is_integer() else None


def as_object(value: Any) -> dict[str, Any]:
    if value is None:
        raise unprocessable("The request has no body; send a JSON object.")
    if not isinstance(value, dict):
        raise unprocessable("The body is not a JSON object, which begins with {.")
    return value


def parse_json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RestFailure(400, f"Bad Request: the body is not JSON: {error}.") from None


def _whole(text: str) -> int | None:
    if not text.lstrip("-").isascii() or not text.lstrip("-").isdigit() or len(text) > 20:
        return None
    try:
        return int(text)
    except ValueError:
        return None
