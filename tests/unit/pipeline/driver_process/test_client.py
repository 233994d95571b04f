"""Requests to the driver, answered by an HTTP server of the test."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from moldau.pipeline.driver_process.client import DriverAway, DriverClient, DriverRefused, free_address


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(200, {"applications": [{"application_id": "shop"}]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/applications":
            self.answer(201, {"added": json.loads(body)["file"]})
        else:
            self.answer(409, {"error": "DUPLICATE_RESOURCE", "message": "shop is stopped"})

    def answer(self, status: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def client() -> Iterator[DriverClient]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield DriverClient(f"127.0.0.1:{server.server_address[1]}")
    server.shutdown()
    thread.join()
    server.server_close()


def test_applications_are_listed_and_added(client: DriverClient) -> None:
    assert client.applications() == [{"application_id": "shop"}]
    assert client.add("/queries/shop.py") == {"added": "/queries/shop.py"}


def test_a_refusal_has_the_drivers_words(client: DriverClient) -> None:
    with pytest.raises(DriverRefused, match="shop is stopped") as refused:
        client.act("shop", "pause")
    assert refused.value.status == 409


def test_a_driver_that_is_not_there(client: DriverClient) -> None:
    with pytest.raises(DriverAway, match="does not answer GET /applications"):
        DriverClient(free_address()).applications()
