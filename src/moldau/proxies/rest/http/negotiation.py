"""Content types: those of Confluent's REST Proxy, and plain JSON."""

from typing import Final

from moldau.proxies.rest.failures import RestFailure
from moldau.proxies.rest.http.answers import JSON, V2
from moldau.services.content_types import base_type, preferred

FORMATS: Final = ("json", "binary", "avro", "jsonschema", "protobuf")
EMBEDDED: Final = {f"application/vnd.kafka.{name}.v2+json": name for name in FORMATS}
V1: Final = "application/vnd.kafka.v1+json"
EMBEDDED_V1: Final = {f"application/vnd.kafka.{name}.v1+json": name for name in ("binary", "json", "avro")}
"""Of version 1, which old clients still send: what they write and read is the same."""
UNNAMED: Final = "application/vnd.kafka+json"
PRODUCED: Final = (V2, V1, UNNAMED, JSON, *EMBEDDED, *EMBEDDED_V1)
FORMAT_OF: Final = EMBEDDED | EMBEDDED_V1
EVENTS: Final = "text/event-stream"


def embedded_type(name: str) -> str:
    return f"application/vnd.kafka.{name}.v2+json"


def embedded_format(content_type: str | None) -> str:
    """The format of the records of a body. Raises RestFailure 415."""
    name = base_type(content_type or "")
    # In version 1 bytes are what is meant when nothing else is said.
    found = "binary" if name == V1 else FORMAT_OF.get(name)
    if found is None:
        shown = content_type or "no Content-Type"
        raise RestFailure(
            415,
            f"HTTP 415 Unsupported Media Type: {shown}. Say which format the records have, with Content-Type: "
            f"{embedded_type('json')}; instead of json also {', '.join(FORMATS[1:])}.",
        )
    return found


def check_json(content_type: str | None) -> None:
    """Without a Content-Type a body is taken for JSON, and so is what curl sends on its own: it is what people mean."""
    if content_type is None:
        return
    name = base_type(content_type)
    if name in (V2, V1, UNNAMED, JSON, "application/x-www-form-urlencoded", "application/octet-stream", ""):
        return
    if name not in FORMAT_OF:
        raise RestFailure(
            415, f"HTTP 415 Unsupported Media Type: {content_type}. Send Content-Type: {V2} or {JSON}."
        )


def choose(accept: str | None, offered: tuple[str, ...]) -> str:
    """Raises RestFailure 406."""
    chosen = preferred(accept, offered)
    if chosen is None:
        raise RestFailure(406, f"HTTP 406 Not Acceptable: {accept}. Available: {', '.join(offered)}.")
    return chosen
