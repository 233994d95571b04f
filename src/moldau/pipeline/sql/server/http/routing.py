"""Maps a path to a handler. Pure."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from starlette.types import ASGIApp

from moldau.pipeline.sql.server.failures import NOT_FOUND, ServiceFailure
from moldau.pipeline.sql.server.http.failures import METHOD_NOT_ALLOWED

Handler = Callable[[Any], Awaitable[ASGIApp]]
"""From a `Call` to what answers it."""


class Route(NamedTuple):
    method: str
    path: str
    handler: Handler


class Match(NamedTuple):
    handler: Handler
    parameters: dict[str, str]


def find(routes: Sequence[Route], method: str, raw_path: bytes) -> Match:
    segments = _segments(raw_path.decode("latin-1"))
    methods = []
    for route in routes:
        parameters = _match(_segments(route.path), segments)
        if parameters is None:
            continue
        if route.method == method or (method == "HEAD" and route.method == "GET"):
            return Match(route.handler, parameters)
        methods.append(route.method)
    path = raw_path.decode("latin-1")
    if methods:
        raise ServiceFailure(
            METHOD_NOT_ALLOWED, f"{path} does not take {method}; use {' or '.join(methods)}."
        )
    raise ServiceFailure(NOT_FOUND, f"There is nothing at {path}.")


def _segments(path: str) -> list[str]:
    return [unquote(segment) for segment in path.strip("/").split("/")]


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
