"""A client of the REST proxy over plain HTTP, and a proxy in the test's own process."""

import http.client
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import orjson

from moldau.proxies.rest.server import RestServer
from moldau.proxies.rest.settings import read_configuration

V2 = "application/vnd.kafka.v2+json"
PATIENCE_S = 90.0
_numbers = itertools.count(1)


def fresh(word: str) -> str:
    """A name that no other test uses."""
    return f"{word}-{next(_numbers)}"


def embedded(name: str) -> str:
    return f"application/vnd.kafka.{name}.v2+json"


class Reply(NamedTuple):
    status: int
    body: bytes
    content_type: str

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def refused(self, code: int, *words: str) -> None:
        """Asserts the code, and that the message has these words."""
        assert self.status == int(str(code)[:3]), self
        assert self.json["error_code"] == code, self
        for word in words:
            assert word in self.json["message"], self


class RestClient:
    def __init__(self, url: str) -> None:
        self.url = url
        self.address = urlsplit(url).netloc
        self.headers: dict[str, str] = {}

    def __call__(
        self, method: str, path: str, body: Any = None, *, type: str | None = None, accept: str | None = None
    ) -> Reply:
        """`path` may be a whole URL, as a base_uri is. A body that is no bytes is sent as JSON."""
        headers = dict(self.headers)
        if type is not None or body is not None:
            headers["Content-Type"] = type or V2
        if accept is not None:
            headers["Accept"] = accept
        data = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_S)
        try:
            connection.request(method, path.removeprefix(self.url), data, headers)
            response = connection.getresponse()
            return Reply(response.status, response.read(), response.getheader("Content-Type") or "")
        finally:
            connection.close()

    def ok(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The JSON of an answer that must be one of success."""
        reply = self(method, path, body, **options)
        assert reply.status in (200, 201, 202, 204), reply
        return reply.json if reply.body else None

    def produce(self, topic: str, *values: Any, name: str = "json", **fields: Any) -> Any:
        records = [
            value if isinstance(value, dict) and "value" in value else {"value": value} for value in values
        ]
        return self.ok("POST", f"/topics/{topic}", {"records": records, **fields}, type=embedded(name))

    def consumer(self, group: str | None = None, **settings: Any) -> "Consumer":
        given = {"format": "json", "auto.offset.reset": "earliest", "auto.commit.enable": "false"}
        wanted = given | {name.replace("_", "."): value for name, value in settings.items()}
        group = group or fresh("group")
        return Consumer(self, self.ok("POST", f"/consumers/{group}", wanted)["base_uri"])


class Consumer:
    """A consumer instance."""

    def __init__(self, client: RestClient, uri: str) -> None:
        self._client = client
        self.uri = uri

    def __call__(self, method: str, path: str, body: Any = None, **options: Any) -> Reply:
        return self._client(method, f"{self.uri}{path}", body, **options)

    def ok(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        return self._client.ok(method, f"{self.uri}{path}", body, **options)

    def subscribe(self, *topics: str) -> Self:
        assert self("POST", "/subscription", {"topics": list(topics)}).status == 204
        return self

    def assign(self, topic: str, *partitions: int) -> Self:
        wanted = [{"topic": topic, "partition": partition} for partition in partitions]
        assert self("POST", "/assignments", {"partitions": wanted}).status == 204
        return self

    def read(self, count: int, **options: Any) -> list[Any]:
        """Reads until it has that many."""
        found: list[Any] = []
        wait_for(
            lambda: found.extend(self.ok("GET", "/records?timeout=2000", **options)) or len(found) >= count
        )
        assert len(found) == count, found
        return found

    def values(self, count: int) -> list[Any]:
        return [record["value"] for record in self.read(count)]


def wait_for(condition: Callable[[], Any], timeout_s: float = PATIENCE_S) -> None:
    """The condition waits itself, or is cheap to ask."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come about"
        time.sleep(0.02)


class LocalProxy:
    """A proxy in this process."""

    def __init__(self, bootstrap: str, registry: str = "http://127.0.0.1:1", **settings: str) -> None:
        said = {
            "bootstrap.servers": bootstrap,
            "listeners": "http://127.0.0.1:0",
            "schema.registry.url": registry,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        self.server = RestServer(
            read_configuration(overrides=[f"{name}={value}" for name, value in said.items()])
        )
        self.client = RestClient(self.server.url)

    def __enter__(self) -> RestClient:
        self.server.start_thread()
        return self.client

    def __exit__(self, *_: object) -> None:
        self.server.stop_thread()
