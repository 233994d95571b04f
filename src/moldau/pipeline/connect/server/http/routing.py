"""Maps a path to a handler. Paths are split before they are decoded: names of connectors may contain slashes. Pure."""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from moldau.pipeline.connect.server.failures import METHOD_NOT_ALLOWED, RequestFailure, not_found
from moldau.pipeline.connect.server.http.call import Answer, Call

Handler = Callable[[Call], Answer]
"""Blocks."""


class Route(NamedTuple):
    method: str
    path: str
    handler: Handler


class Match(NamedTuple):
    handler: Handler
    parameters: dict[str, str]


def find(routes: Sequence[Route], method: str, path: str) -> Match:
    """Raises RequestFailure 404 or 405, worded as a servlet container does."""
    segments = _segments(path)
    is_known = False
    for route in routes:
        parameters = _match(_segments(route.path), segments)
        if parameters is None:
            continue
        if route.method == method or (method == "HEAD" and route.method == "GET"):
            return Match(route.handler, parameters)
        is_known = True
    if is_known:
        raise RequestFailure(METHOD_NOT_ALLOWED, "HTTP 405 Method Not Allowed")
    raise not_found("HTTP 404 Not Found")


def methods_of(routes: Sequence[Route], path: str) -> list[str]:
    """Those that a path takes."""
    segments = _segments(path)
    found = {route.method for route in routes if _match(_segments(route.path), segments) is not None}
    return sorted({*found, "OPTIONS", *(["HEAD"] if "GET" in found else [])}) if found else []


def _segments(path: str) -> list[str]:
    return [unquote(segment) for segment in path.strip("/").split("/")]


def _match(pattern: list[str], segments: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    parameters = {}
    for expected, given in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            if not given:
                return None
            parameters[expected[1:-1]] = given
        elif expected != given:
            return None
    return parameters
