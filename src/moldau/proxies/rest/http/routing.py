"""The table of routes: which handler answers a path, and what the description of the API says about it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import unquote

from moldau.proxies.rest.failures import RestFailure
from moldau.proxies.rest.http.answers import Answer
from moldau.proxies.rest.http.call import Call

Handler = Callable[[Call], Awaitable[Answer]]
JSON_BODY: Final = "json"
RECORDS_BODY: Final = "records"
"""The kinds of bodies: plain JSON, or JSON with records in the format that the content type names."""


@dataclass(frozen=True)
class Route:
    """`path` has parameters in braces. `body` is the schema of the body, `answer` that of the answer, both by the name
    they have in `pages/schemas.py`; `query` describes parameters by name."""

    method: str
    path: str
    handler: Handler
    summary: str
    body: str | None = None
    body_kind: str = JSON_BODY
    body_required: bool = True
    answer: str | None = None
    status: int = 200
    query: Mapping[str, str] = field(default_factory=dict)
    hidden: bool = False
    """Not in the description."""

    @property
    def segments(self) -> list[str]:
        return [segment for segment in self.path.split("/") if segment]


class Match(NamedTuple):
    route: Route
    parameters: dict[str, str]


class Router:
    """Finds routes by their number of segments and the first one."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes: dict[tuple[int, str], list[tuple[list[str], Route]]] = {}
        for route in routes:
            segments = route.segments
            known = self._routes.setdefault((len(segments), segments[0] if segments else ""), [])
            known.append((segments, route))
        for each in self._routes.values():
            # Words win over parameters: `topics/-/configs` is not the topic named `-`.
            each.sort(key=lambda pair: [segment.startswith("{") for segment in pair[0]])

    def find(self, method: str, raw_path: bytes) -> Match:
        """Raises RestFailure 404 or 405, worded as a servlet container does."""
        segments = split_path(raw_path)
        allowed = []
        for pattern, route in self._routes.get((len(segments), segments[0] if segments else ""), ()):
            parameters = _match(pattern, segments)
            if parameters is None:
                continue
            if route.method == method or (method == "HEAD" and route.method == "GET"):
                return Match(route, parameters)
            allowed.append(route.method)
        if allowed:
            methods = ", ".join(sorted({*allowed, *(["HEAD"] if "GET" in allowed else [])}))
            raise RestFailure(
                405, f"HTTP 405 Method Not Allowed: this path takes {methods}.", allowed=methods
            )
        raise RestFailure(404, "HTTP 404 Not Found: no such path; GET /openapi.json lists them all.")


def split_path(raw_path: bytes) -> list[str]:
    """Split before it is decoded, because names of groups may contain slashes."""
    path = raw_path.partition(b"?")[0].decode("latin-1").strip("/")
    return [unquote(segment) for segment in path.split("/")] if path else []


def _match(pattern: list[str], segments: list[str]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for expected, given in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            if not given:
                return None
            parameters[expected[1:-1]] = given
        elif expected != given:
            return None
    return parameters


def parameter_names(route: Route) -> list[str]:
    return [segment[1:-1] for segment in route.segments if segment.startswith("{")]
