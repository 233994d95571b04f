"""Interactive queries over HTTP:

    GET /views                                     the stores that are served
    GET /views/{store}?low=&high=&limit=           entries in the order of their keys
    GET /views/{store}/keys/{key}?at=              the value of one key, also at a time if the store has a history
    GET /views/{store}/windows/{key}?from=&to=     a key's windows or sessions, by their start in milliseconds

Keys are text. With a number or JSON serde they are parsed as JSON.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, overload

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.pipeline.operators.stores.views import FAR_FUTURE_MS, FAR_PAST_MS
from moldau.pipeline.plan.windows import Windowed
from moldau.pipeline.views.changelog_view import ENTRIES_MAX, ChangelogView, Entry
from moldau.pipeline.views.view_host import ViewHost

BUSY: Final = 503
STATUS: Final = {
    ErrorCode.RESOURCE_NOT_FOUND: 404,
    ErrorCode.DUPLICATE_RESOURCE: 409,
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: BUSY,
}


Find = Callable[[Request], ViewHost]
"""The views that a request is about. Raises ApiError if there are none."""


def view_routes(find: Find, prefix: str = "") -> list[Route]:
    async def list_views(request: Request) -> Any:
        return [
            {"store": name, "kind": str(one.spec.kind), "entries": len(one)}
            for name, one in find(request).views.items()
        ]

    async def entries(request: Request) -> Any:
        view = find(request)[request.path_params["store"]]
        limit = min(_number(request, "limit", ENTRIES_MAX), ENTRIES_MAX)
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        low, high = (_key(view, request.query_params.get(bound)) for bound in ("low", "high"))
        if low is None and high is None:
            return [_entry(one) for one in view.all(limit=limit)]
        return [_entry(one) for one in view.range(low, high, limit=limit)]

    async def one_key(request: Request) -> Any:
        view = find(request)[request.path_params["store"]]
        key = _key(view, request.path_params["key"])
        at_ms = _number(request, "at", None)
        value = view.get(key, at_ms)
        if value is None:
            when = "" if at_ms is None else f" at {at_ms} ms"
            raise ApiError(
                ErrorCode.RESOURCE_NOT_FOUND, f"the store {view.spec.name} has no key {key!r}{when}"
            )
        return _entry((key, value))

    async def windows(request: Request) -> Any:
        view = find(request)[request.path_params["store"]]
        key = _key(view, request.path_params["key"])
        from_ms, to_ms = _number(request, "from", FAR_PAST_MS), _number(request, "to", FAR_FUTURE_MS)
        return [_entry(one) for one in view.fetch(key, from_ms, to_ms)]

    return [
        Route(prefix + "/views", answered(list_views)),
        Route(prefix + "/views/{store}", answered(entries)),
        Route(prefix + "/views/{store}/keys/{key:path}", answered(one_key)),
        Route(prefix + "/views/{store}/windows/{key:path}", answered(windows)),
    ]


def view_server(host: ViewHost) -> Starlette:
    return Starlette(routes=view_routes(lambda _: host))


def answered(ask: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    """Turns results and errors into HTTP responses."""

    async def answer(request: Request) -> Response:
        try:
            return _json(await ask(request))
        except ApiError as failure:
            status = STATUS.get(failure.code, 500)
            refusal = _json({"error": failure.code.name, "message": str(failure)}, status)
            if status == BUSY:
                refusal.headers["Retry-After"] = "1"
            return refusal
        except (ValueError, TypeError) as failure:
            return _json({"error": ErrorCode.INVALID_REQUEST.name, "message": str(failure)}, 400)

    return answer


def _json(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content, default=_readable), status, media_type="application/json")


def _readable(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _entry(entry: Entry) -> dict[str, Any]:
    key, value = entry
    if isinstance(key, Windowed):
        return {"key": key.key, "window_start_ms": key.start_ms, "window_end_ms": key.end_ms, "value": value}
    return {"key": key, "value": value}


def _key(view: ChangelogView, text: str | None) -> Any:
    serde = view.spec.key_serde
    if text is None or serde is None or serde.name == "string":
        return text
    if serde.name == "bytes":
        return text.encode()
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ValueError(f"the key {text!r} is no {serde.name}: write numbers and JSON as in JSON") from None


@overload
def _number(request: Request, name: str, default: int) -> int: ...
@overload
def _number(request: Request, name: str, default: None) -> int | None: ...
def _number(request: Request, name: str, default: int | None) -> int | None:
    given = request.query_params.get(name)
    try:
        return default if given is None else int(given)
    except ValueError:
        raise ValueError(f"{name} must be a whole number, not {given!r}") from None
