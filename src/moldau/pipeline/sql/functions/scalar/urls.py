"""Parts of a URL (RFC 3986), and the encoding of parameters."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus, unquote, unquote_plus

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar
from moldau.pipeline.sql.types import INTEGER, STRING

_URL: Final = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):)?(?://(?P<authority>[^/?#]*))?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?"
)
_AUTHORITY: Final = re.compile(r"(?:[^@]*@)?(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>\d*))?")
_FORBIDDEN: Final = re.compile(r'[\x00-\x20\x7f"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})')


class Url(NamedTuple):
    """The parts as they are written; None for those that are not there."""

    scheme: str | None
    host: str | None
    port: str | None
    path: str | None
    query: str | None
    fragment: str | None


@lru_cache(maxsize=512)
def _parsed(text: str) -> Url:
    found = _URL.fullmatch(text)
    wrong = _FORBIDDEN.search(text)
    if found is None or wrong is not None:
        why = f"{wrong[0]!r} must be escaped" if wrong else "it has no parts of one"
        raise ValueError(f"{text!r} is no URL: {why}")
    authority = _AUTHORITY.fullmatch(found["authority"] or "")
    if authority is None:
        raise ValueError(f"{text!r} is no URL: {found['authority']!r} is no host with a port")
    is_opaque = (
        found["scheme"] is not None and found["authority"] is None and not found["path"].startswith("/")
    )
    path = None if is_opaque else found["path"]
    return Url(
        found["scheme"],
        authority["host"] or None,
        authority["port"] or None,
        path,
        found["query"],
        found["fragment"],
    )


def _decoded(part: str | None) -> str | None:
    return None if part is None else unquote(part)


def url_extract_fragment(url: str) -> str | None:
    return _decoded(_parsed(url).fragment)


def url_extract_host(url: str) -> str | None:
    return _parsed(url).host


def url_extract_parameter(url: str, name: str) -> str | None:
    """The first one of the name; one without a value is empty."""
    query = _parsed(url).query
    for parameter in query.split("&") if query is not None else ():
        found, _, value = parameter.partition("=")
        if unquote(found) == name:
            return unquote(value)
    return None


def url_extract_path(url: str) -> str | None:
    return _decoded(_parsed(url).path)


def url_extract_port(url: str) -> int | None:
    port = _parsed(url).port
    return None if port is None else int(port)


def url_extract_protocol(url: str) -> str | None:
    return _parsed(url).scheme


def url_extract_query(url: str) -> str | None:
    return _decoded(_parsed(url).query)


def url_decode_param(text: str) -> str:
    return unquote_plus(text)


def url_encode_param(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


_WRONG: Final = " NULL where there is none, or the text is no URL."


def _function(
    name: str, doc: str, meaning: Callable[..., Any], *examples: str, result: Any = STRING
) -> Scalar:
    form = Form((Parameter("url", STRING),), result)
    return Scalar(name, Category.URL, doc, (form,), meaning, examples=examples)


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    _function(
        "URL_DECODE_PARAM",
        "The text that an encoded parameter stands for.",
        url_decode_param,
        "URL_DECODE_PARAM('url%20encoded') => 'url encoded'",
        "URL_DECODE_PARAM('a+b%26c') => 'a b&c'",
    ),
    _function(
        "URL_ENCODE_PARAM",
        "A text as a parameter of a URL.",
        url_encode_param,
        "URL_ENCODE_PARAM('a b&c') => 'a+b%26c'",
    ),
    _function(
        "URL_EXTRACT_FRAGMENT",
        "The fragment of a URL, decoded." + _WRONG,
        url_extract_fragment,
        "URL_EXTRACT_FRAGMENT('http://example.org/#first%20part') => 'first part'",
    ),
    _function(
        "URL_EXTRACT_HOST",
        "The host of a URL." + _WRONG,
        url_extract_host,
        "URL_EXTRACT_HOST('http://example.org:8080/path') => 'example.org'",
    ),
    Scalar(
        "URL_EXTRACT_PARAMETER",
        Category.URL,
        "The value of a parameter of a URL, decoded." + _WRONG,
        (Form((Parameter("url", STRING), Parameter("parameter", STRING)), STRING),),
        url_extract_parameter,
        examples=(
            "URL_EXTRACT_PARAMETER('http://example.org/?a%20b=c%20d&e=f', 'a b') => 'c d'",
            "URL_EXTRACT_PARAMETER('http://example.org/?a=1', 'b') => NULL",
        ),
    ),
    _function(
        "URL_EXTRACT_PATH",
        "The path of a URL, decoded." + _WRONG,
        url_extract_path,
        "URL_EXTRACT_PATH('http://example.org/path/to#a') => '/path/to'",
    ),
    _function(
        "URL_EXTRACT_PORT",
        "The port of a URL." + _WRONG,
        url_extract_port,
        "URL_EXTRACT_PORT('http://localhost:8080/path') => 8080",
        "URL_EXTRACT_PORT('http://localhost/path') => NULL",
        result=INTEGER,
    ),
    _function(
        "URL_EXTRACT_PROTOCOL",
        "The protocol of a URL." + _WRONG,
        url_extract_protocol,
        "URL_EXTRACT_PROTOCOL('https://example.org/') => 'https'",
    ),
    _function(
        "URL_EXTRACT_QUERY",
        "The query of a URL, decoded." + _WRONG,
        url_extract_query,
        "URL_EXTRACT_QUERY('http://example.org/?a=1%202&b=3') => 'a=1 2&b=3'",
    ),
)
