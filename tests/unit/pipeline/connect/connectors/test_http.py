"""HttpSink and HttpSource against a real server: requests as configured, retries, and what is refused."""

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from connect_kit import Reports, StoredOffsets, eventually, sink_record
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.http.sink import HttpSinkConnector, HttpSinkTask
from moldau.pipeline.connect.connectors.http.source import HttpSourceConnector, HttpSourceTask
from moldau.pipeline.connect.connectors.http.templates import at_pointer
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import Header, SinkRecord, SourceRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.plugins import find_connector

ORDER = schemas.struct({"id": schemas.INT64, "country": schemas.STRING})


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    status: int = 200
    body: Any = None
    headers: dict[str, str] = {}


class Service:
    """Answers as the test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Answer] = lambda request: Answer()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, self.path, dict(self.headers), body)
                service.requests.append(request)
                status, content, headers = service.answer(request)
                data = b"" if content is None else json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def bodies(self) -> list[Any]:
        return [json.loads(one.body) for one in self.requests if one.body]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


TASKS: list[Any] = []


@pytest.fixture(autouse=True)
def stop_tasks() -> Iterator[None]:
    yield
    while TASKS:
        TASKS.pop().stop()


def sink(service: Service, reports: Reports | None = None, **settings: str) -> HttpSinkTask:
    """Two underscores in the names of settings are points."""
    made = HttpSinkTask()
    config = {"http.url": f"{service.url}/orders"}
    config |= {name.replace("__", "."): text for name, text in settings.items()}
    made.start(config, reports or Reports())
    TASKS.append(made)
    return made


def order(offset: int, **more: Any) -> SinkRecord:
    return sink_record(
        "orders", offset, f"k/{offset}", Struct(ORDER, (offset, "CZ")), value_schema=ORDER, **more
    )


def test_a_record_is_a_request(service: Service) -> None:
    task = sink(
        service,
        http__url=f"{service.url}/${{topic}}/${{key}}?from=${{country}}",
        http__method="put",
        http__headers__additional="X-Shop: kafka, X-Empty:",
        http__headers__forward__record__headers="true",
        http__headers__idempotency__key="true",
    )
    task.put([order(7, headers=(Header("trace", 5, schemas.INT32),)), sink_record("orders", 8, "k", None)])
    [request] = service.requests
    assert (request.method, request.path) == ("PUT", "/orders/k%2F7?from=CZ")
    assert json.loads(request.body) == {"id": 7, "country": "CZ"}
    names = ("Content-Type", "X-Shop", "trace", "Idempotency-Key")
    assert [request.headers[name] for name in names] == ["application/json", "kafka", "5", "orders-0-7"]


def test_records_of_one_address_share_a_request(service: Service) -> None:
    task = sink(service, batch__max__size="3")
    task.put([order(offset) for offset in range(5)])
    assert [[one["id"] for one in body] for body in service.bodies()] == [[0, 1, 2], [3, 4]]
    service.requests.clear()
    task = sink(
        service,
        http__url=f"{service.url}/${{country}}",
        batch__max__size="3",
        batch__prefix="",
        batch__separator="\\n",
        batch__suffix="\\n",
    )
    countries = ["CZ", "CZ", "SK", "CZ"]
    task.put(
        [sink_record("orders", at, None, {"country": one, "at": at}) for at, one in enumerate(countries)]
    )
    assert [(one.path, len(one.body.splitlines())) for one in service.requests] == [
        ("/CZ", 2),
        ("/SK", 1),
        ("/CZ", 1),
    ]


def test_texts_and_bytes_are_sent_as_they_are(service: Service) -> None:
    task = sink(service)
    task.put([sink_record("orders", 0, None, "žluť"), sink_record("orders", 1, None, b"\x00")])
    assert [(one.body, one.headers["Content-Type"]) for one in service.requests] == [
        ("žluť".encode(), "text/plain; charset=utf-8"),
        (b"\x00", "application/octet-stream"),
    ]


def test_a_null_value_deletes(service: Service) -> None:
    task = sink(service, http__url=f"{service.url}/orders/${{key}}", behavior__on__null__values="delete")
    service.answer = lambda request: Answer(404)
    task.put([sink_record("orders", 0, "a", None)])
    assert [(one.method, one.path, one.body) for one in service.requests] == [("DELETE", "/orders/a", b"")]


def test_a_service_that_is_busy_is_asked_again_from_where_it_was(service: Service) -> None:
    task = sink(service, batch__max__size="2")
    answers = iter([Answer(200), Answer(503, headers={"Retry-After": "0"}), Answer(429), Answer(200)])
    service.answer = lambda request: next(answers, Answer(200))
    records = [order(offset) for offset in range(6)]
    for text in ("503 Service Unavailable", "429 Too Many Requests"):
        with pytest.raises(RetriableError, match=text):
            task.put(records)
    task.put(records)
    assert [[one["id"] for one in body] for body in service.bodies()] == [
        [0, 1],
        [2, 3],
        [2, 3],
        [2, 3],
        [4, 5],
    ]


def test_a_service_that_asks_to_wait_is_left_alone(service: Service) -> None:
    task = sink(service)
    service.answer = lambda request: Answer(429, headers={"Retry-After": "3000"})
    for _ in range(3):
        with pytest.raises(RetriableError):
            task.put([order(0)])
    assert len(service.requests) == 1


def test_a_service_that_is_away(service: Service) -> None:
    task = sink(service, http__url="http://127.0.0.1:9/orders", max__retries="1")
    with pytest.raises(RetriableError, match="It is tried again"):
        task.put([order(0)])
    with pytest.raises(ConnectError, match=r"max\.retries=1") as failed:
        task.put([order(0)])
    assert not isinstance(failed.value, RetriableError)


def test_a_record_that_is_refused_is_reported_alone(service: Service) -> None:
    reports = Reports()
    task = sink(service, reports, batch__max__size="10")

    def answer(request: Request) -> Answer:
        ids = [one["id"] for one in json.loads(request.body)]
        return Answer(422, {"error": "no 3"}) if 3 in ids else Answer()

    service.answer = answer
    task.put([*(order(offset) for offset in range(5)), sink_record("orders", 5, None, {"id": object()})])
    assert [one.offset for one, _ in reports.failed] == [3, 5]
    assert "422 Unprocessable" in str(reports.failed[0][1])
    assert '{"error": "no 3"}' in str(reports.failed[0][1])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304])
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_redirect_is_no_success(service: Service, status: int, method: str) -> None:
    """Whatever errors.tolerance says: it would be so with every record."""
    moved = Answer(status, headers={} if status == 304 else {"Location": "/v2/orders?token=s"})
    service.answer = lambda request: moved
    reports = Reports()
    task = sink(service, reports, http__method=method)
    with pytest.raises(ConnectError, match=rf"{status} .*http\.url") as failed:
        task.put([order(0)])
    assert not isinstance(failed.value, RetriableError)
    assert status == 304 or "redirect to /v2/orders," in str(failed.value)
    assert len(service.requests) == 1 and not reports.failed
    service.answer = lambda request: Answer()
    task.put([order(0)])
    assert len(service.requests) == 2


@pytest.mark.parametrize("key", [".", "..", "", "../shop", "a/..", "..\\"])
def test_a_key_does_not_lead_to_another_address(service: Service, key: str) -> None:
    reports = Reports()
    url = f"{service.url}/shop/${{key}}"
    task = sink(service, reports, http__url=url, behavior__on__null__values="delete")
    task.put([sink_record("orders", 0, key, None), sink_record("orders", 1, key, {"a": 1})])
    task.put([sink_record("orders", 2, "...", None), sink_record("orders", 3, "a.", None)])
    assert [one.offset for one, _ in reports.failed] == [0, 1]
    assert [one.path for one in service.requests] == ["/shop/...", "/shop/a."]


def test_an_empty_key_deletes_nothing(service: Service) -> None:
    reports = Reports()
    url = f"{service.url}/shop?id=${{key}}"
    task = sink(service, reports, http__url=url, behavior__on__null__values="delete")
    task.put([sink_record("orders", 0, "", None), sink_record("orders", 1, "..", None)])
    assert [one.offset for one, _ in reports.failed] == [0]
    assert [one.path for one in service.requests] == ["/shop?id=.."]


def test_a_wrong_password_fails_the_task(service: Service) -> None:
    service.answer = lambda request: Answer(401)
    with pytest.raises(ConnectError, match=r"401 Unauthorized.*http.authorization.type") as failed:
        sink(service).put([order(0)])
    assert not isinstance(failed.value, RetriableError)


def test_who_is_asking(service: Service) -> None:
    static = {"http__authorization__type": "static", "http__headers__authorization": "Bearer 1"}
    basic = {"http__authorization__type": "basic", "http__user": "můj", "http__password": "dům"}
    for settings in (static, basic):
        sink(service, **settings).put([order(0)])
    expected = ["Bearer 1", f"Basic {b64encode('můj:dům'.encode()).decode()}"]
    assert [one.headers["Authorization"] for one in service.requests] == expected


def test_a_token_is_renewed(service: Service) -> None:
    tokens: list[Request] = []

    def answer(request: Request) -> Answer:
        if request.path == "/token":
            tokens.append(request)
            return Answer(200, {"access_token": f"t{len(tokens)}", "expires_in": 3600})
        return Answer(200 if request.headers["Authorization"] == f"Bearer t{len(tokens)}" else 401)

    service.answer = answer
    task = sink(
        service,
        http__authorization__type="oauth2",
        oauth2__access__token__url=f"{service.url}/token",
        oauth2__client__id="shop",
        oauth2__client__secret="s",
        oauth2__client__scope="write",
    )
    task.put([order(0), order(1)])
    assert len(tokens) == 1
    assert parse_qs(tokens[0].body.decode()) == {"grant_type": ["client_credentials"], "scope": ["write"]}
    assert tokens[0].headers["Authorization"] == f"Basic {b64encode(b'shop:s').decode()}"
    # The service has forgotten the token.
    tokens.append(tokens[0])
    task.put([order(2)])
    assert len(tokens) == 3


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"http.url": "orders"}, "http.url"),
        ({"http.url": "http://shop${key}/"}, "http.url"),
        ({"http.authorization.type": "basic"}, "http.user"),
        ({"http.headers.additional": "no colon"}, "http.headers.additional"),
        ({"retry.on.status.codes": "many"}, "retry.on.status.codes"),
        ({"behavior.on.null.values": "delete"}, "behavior.on.null.values"),
        ({"http.headers.idempotency.key": "true", "batch.max.size": "2"}, "batch.max.size"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, str], text: str) -> None:
    config = {"http.url": "http://service", **settings}
    with pytest.raises(ConfigError, match=text):
        HttpSinkConnector().start(config)
    assert any(one.errors for one in HttpSinkConnector.check(config))


# The source


class Source:
    def __init__(self, service: Service, **settings: str) -> None:
        self.offsets = StoredOffsets()
        self.config = {
            "http.request.url": f"{service.url}/items",
            "http.request.params": "after=${offset.id}",
            "http.offset.initial": "id=0",
            "http.response.list.pointer": "/items",
            "http.response.record.offset.pointer": "id=/id",
            "kafka.topic": "items",
            "http.timer.interval.millis": "1",
            "http.timer.catchup.interval.millis": "1",
        }
        self.config |= {name.replace("__", "."): text for name, text in settings.items()}

    def task(self) -> HttpSourceTask:
        made = HttpSourceTask()
        made.start(self.config, self.offsets)
        TASKS.append(made)
        return made

    def take(self, task: HttpSourceTask) -> list[SourceRecord]:
        found = list(task.poll())
        self.offsets.store(found)
        return found

    def read(self, task: HttpSourceTask, count: int) -> list[SourceRecord]:
        found: list[SourceRecord] = []

        def are_there() -> bool:
            found.extend(self.take(task))
            return len(found) >= count

        eventually(are_there, f"{count} records")
        return found


def items(request: Request, last: int, size: int = 3) -> Answer:
    """A service with the items 1 to `last`, which lists those behind one."""
    after = int(parse_qs(urlsplit(request.path).query)["after"][0])
    return Answer(
        200, {"items": [{"id": one, "name": f"n{one}"} for one in range(after + 1, last + 1)][:size]}
    )


def test_the_offset_is_in_the_next_request(service: Service) -> None:
    service.answer = lambda request: items(request, 7)
    source = Source(service, record__batch__max__size="2")
    found = source.read(source.task(), 4)
    assert [one.value["id"] for one in found] == [1, 2, 3, 4, 5]
    assert found[0].source_offset == {"id": 1}
    # What the last task had in hand and did not write comes again.
    found += source.read(source.task(), 2)
    assert [one.value["id"] for one in found] == list(range(1, 8))


def test_records_that_were_in_the_last_answer_are_left_out(service: Service) -> None:
    known = [{"id": 1, "at": "2026-01-31T12:00:00Z"}, {"id": 2, "at": "2026-01-31T12:00:00Z"}]
    service.answer = lambda request: Answer(200, known)
    source = Source(
        service,
        http__request__params="since=${offset.at!never}",
        http__offset__initial="",
        http__response__list__pointer="",
        http__response__record__offset__pointer="at=/at,id=/id",
        http__response__record__key__pointer="/id",
        http__response__record__timestamp__pointer="/at",
        http__record__format="string",
    )
    task = source.task()
    found = source.read(task, 2)
    assert [(one.key, one.value, one.timestamp_ms) for one in found] == [
        (1, '{"id":1,"at":"2026-01-31T12:00:00Z"}', 1_769_860_800_000),
        (2, '{"id":2,"at":"2026-01-31T12:00:00Z"}', 1_769_860_800_000),
    ]
    known.append({"id": 3, "at": "2026-01-31T12:00:00Z"})
    assert [one.key for one in source.read(task, 1)] == [3]
    paths = {one.path for one in service.requests}
    assert paths == {"/items?since=never", "/items?since=2026-01-31T12%3A00%3A00Z"}


def test_pages_are_followed(service: Service) -> None:
    pages = {"/items": ([1, 2], "/items?page=2"), "/items?page=2": ([3], None)}

    def answer(request: Request) -> Answer:
        ids, following = pages[request.path]
        return Answer(200, {"items": [{"id": one} for one in ids], "next": following})

    service.answer = answer
    source = Source(
        service,
        http__request__params="",
        http__response__next__pointer="/next",
        http__timer__catchup__interval__millis="3600000",
    )
    assert [one.value["id"] for one in source.read(source.task(), 3)] == [1, 2, 3]
    service.requests.clear()
    service.answer = lambda request: Answer(200, {"items": []}, {"Link": '<http://127.0.0.2/x>; rel="next"'})
    with pytest.raises(ConnectError, match="on another host"):
        Source(service, http__request__params="", http__response__next__pointer="link").task().poll()


def test_a_body_with_the_offset(service: Service) -> None:
    service.answer = lambda request: Answer(200, {"items": []})
    source = Source(service, http__request__method="POST", http__request__body='{"after": ${offset.id}}')
    task = source.task()
    assert not task.poll()
    assert service.bodies() == [{"after": 0}]


def test_answers_that_cannot_be_used(service: Service) -> None:
    for answer, failure, text in (
        (Answer(503), RetriableError, "503"),
        (Answer(404, {"error": "no such list"}), ConnectError, "no such list"),
        (Answer(200, {"items": [{"name": "without an id"}]}), ConnectError, "no single value at /id"),
    ):
        service.answer = lambda request, answer=answer: answer
        with pytest.raises(failure, match=text):
            Source(service).task().poll()


def test_settings_of_the_source_that_do_not_fit() -> None:
    config = {"http.request.url": "http://service", "kafka.topic": "t"}
    assert not HttpSourceConnector.is_exactly_once(config)
    for settings, text in (
        ({"http.request.params": "a=${offset.id}"}, "no part of the offset"),
        ({"http.response.list.pointer": "items"}, "JSON pointer"),
        ({"http.offset.initial": "id"}, "name=value"),
    ):
        with pytest.raises(ConfigError, match=text):
            HttpSourceConnector().start({**config, **settings})
        assert any(one.errors for one in HttpSourceConnector.check({**config, **settings}))
    HttpSourceConnector().start(config)


def test_pointers() -> None:
    value = {"a": [{"b/c": 1}], "": 2}
    assert [at_pointer(value, one) for one in ("", "/a/0/b~1c", "/", "/a/1", "/x/y")] == [
        value,
        1,
        2,
        None,
        None,
    ]


def test_names_of_java() -> None:
    assert find_connector("io.aiven.kafka.connect.http.HttpSinkConnector").connector is HttpSinkConnector
    assert (
        find_connector("com.github.castorm.kafka.connect.http.HttpSourceConnector").connector
        is HttpSourceConnector
    )
