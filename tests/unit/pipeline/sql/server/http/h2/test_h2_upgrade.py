"""HTTP/1.1 requests that ask for HTTP/2."""

import pytest

from moldau.pipeline.sql.server.http.h2.limits import BURDENS_PER_S_MAX, Burden
from moldau.pipeline.sql.server.http.h2.stream import request_scope
from moldau.pipeline.sql.server.http.h2.upgrade import upgrade_request, without_offer

OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"


def post(headers: bytes, body: bytes = b"") -> bytes:
    return b"POST /query-stream?a=1 HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n" + body


def test_a_request_with_a_body() -> None:
    received = post(OFFER + b"Content-Length: 3\r\n", b"abcREST")
    found = upgrade_request(received)
    assert found is not None
    assert (found.method, found.target) == (b"POST", b"/query-stream?a=1")
    assert found.headers == ((b"host", b"x"), (b"content-length", b"3"))
    assert found.body(received) == b"abc"
    assert found.rest(received) == b"REST"
    assert found.body(received[:-6]) is None


@pytest.mark.parametrize(
    "headers",
    [
        b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
        b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
        OFFER + b"Transfer-Encoding: chunked\r\n",
        OFFER + b"Content-Length: 99999999\r\n",
        OFFER + b"Content-Length: x\r\n",
        OFFER + b"Expect: 100-continue\r\n",
    ],
)
def test_requests_that_stay_http1(headers: bytes) -> None:
    assert upgrade_request(post(headers)) is None


def test_an_offer_that_is_not_taken_is_forgotten() -> None:
    assert without_offer(post(OFFER + b"Content-Length: 3\r\n", b"abc")) == post(
        b"Content-Length: 3\r\n", b"abc"
    )
    websocket = post(b"Connection: Upgrade\r\nUpgrade: websocket\r\n")
    assert without_offer(websocket) == websocket


def test_a_request_as_asgi_sees_it() -> None:
    headers = [(b":method", b"GET"), (b":path", b"/a%20b?c=d"), (b":authority", b"x:1"), (b"accept", b"*/*")]
    scope = request_scope(headers, client=("127.0.0.1", 5))
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/a b", b"/a%20b", b"c=d")
    assert scope["headers"] == [(b"host", b"x:1"), (b"accept", b"*/*")]
    absolute = request_scope([(b":method", b"POST"), (b":path", b"http://x:1/ksql?a")])
    assert (absolute["path"], absolute["query_string"]) == ("/ksql", b"a")
    with pytest.raises(KeyError):
        request_scope([(b":method", b"CONNECT")])


def test_burdens_are_counted_by_the_second() -> None:
    burden = Burden()
    assert not any(burden.add(1.0) for _ in range(BURDENS_PER_S_MAX))
    assert burden.add(1.5)
    assert not burden.add(2.0)
