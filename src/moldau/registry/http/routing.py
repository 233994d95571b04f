"""Maps a path to a handler. Paths are split before they are decoded, because a subject may contain slashes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from moldau.registry.failures import RegistryFailure
from moldau.registry.http.call import Call
from moldau.registry.subjects import context_from_path, prefix_of

Handler = Callable[[Call], Awaitable[Any]]
SUBJECT_FOLLOWS: Final = frozenset({"subjects", "deks"})
SETTINGS: Final = frozenset({"config", "mode"})


class Route(NamedTuple):
    method: str
    path: str
    handler: Handler

    @property
    def segments(self) -> list[str]:
        return [segment for segment in self.path.split("/") if segment]


class Match(NamedTuple):
    handler: Handler
    parameters: dict[str, str]


class Router:
    def __init__(self, routes: list[Route]) -> None:
        self._routes = routes

    def find(self, method: str, segments: list[str]) -> Match:
        """Raises RegistryFailure 404 or 405, worded as a servlet container does."""
        allowed = False
        for route in self._routes:
            parameters = _match(route.segments, segments)
            if parameters is None:
                continue
            if route.method == method or (method == "HEAD" and route.method == "GET"):
                return Match(route.handler, parameters)
            allowed = True
        raise RegistryFailure(405, "HTTP 405 Method Not Allowed") if allowed else not_found()


def not_found() -> RegistryFailure:
    return RegistryFailure(404, "HTTP 404 Not Found")


def split_path(raw_path: bytes) -> list[str]:
    path = raw_path.partition(b"?")[0].decode("latin-1")
    return [unquote(segment) for segment in path.strip("/").split("/")] if path.strip("/") else []


def in_context(segments: list[str], query: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """`/contexts/staging/subjects/orders` is `/subjects/:.staging:orders`, and so on for the other paths."""
    query = dict(query)
    if len(segments) < 3 or segments[0] != "contexts":
        return segments, query
    context = context_from_path(segments[1])
    if context is None:
        raise RegistryFailure(400, f"Context name '{segments[1]}' cannot contain a colon")
    prefix, rest = prefix_of(context), segments[2:]
    if rest[0] in SETTINGS:
        rest = [rest[0], _qualified(prefix, rest[1] if len(rest) > 1 else ""), *rest[2:]]
        return [segment for segment in rest if segment], query
    for index, segment in enumerate(rest[:-1]):
        if segment in SUBJECT_FOLLOWS:
            rest[index + 1] = _qualified(prefix, rest[index + 1])
            return rest, query
    if rest[:2] == ["schemas", "ids"]:
        query["subject"] = _qualified(prefix, query.get("subject", ""))
    elif rest in (["schemas"], ["subjects"]):
        query["subjectPrefix"] = _qualified(prefix, query.get("subjectPrefix", ""))
    return rest, query


def _qualified(prefix: str, subject: str) -> str:
    return subject if subject.startswith((":.", ":*:")) else prefix + subject


def _match(pattern: list[str], segments: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    parameters = {}
    for expected, given in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            parameters[expected[1:-1]] = given
        elif expected != given:
            return None
    return parameters
