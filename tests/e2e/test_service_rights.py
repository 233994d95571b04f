"""Who may do what at a Connect worker and at a SQL server: both in the test's own process, and Spark never starts."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect

from connect_kit import eventually
from e2e.connect.server.connect_process import topics_of
from e2e.sql.http.http2_client import Http2Client
from moldau.pipeline.connect.server.settings import read_configuration as read_worker
from moldau.pipeline.connect.server.worker import ConnectWorker
from moldau.pipeline.sql.server.server import SqlServer
from moldau.pipeline.sql.server.settings import read_configuration as read_sql
from moldau.security.access.model import CLUSTER_NAME, Pattern, ResourceKind
from moldau.security.roles.model import Role, ServiceKind, make_binding
from moldau.testing import LocalCluster
from roles_kit import WAIT_S, Roles

PEOPLE = ("admin", "reader", "writer", "manager", "operator", "nobody")
SERVICE = "guarded_"
SOURCE = {
    "connector.class": "e2e.connect.server.idle_connectors:IdleSource",
    "colour": "red",
    "tasks.max": "1",
}
JSON = {"Content-Type": "application/json"}
Ask = Callable[..., httpx2.Response]


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        roles = Roles(cluster)
        operator = make_binding("User:operator", Role.OPERATOR, ResourceKind.CLUSTER, CLUSTER_NAME)
        roles.set(operator)
        for user, role in (
            ("reader", Role.DEVELOPER_READ),
            ("writer", Role.DEVELOPER_WRITE),
            ("manager", Role.DEVELOPER_MANAGE),
        ):
            roles.set(
                make_binding(f"User:{user}", role, ServiceKind.CONNECTOR, "shop-", Pattern.PREFIXED),
                make_binding(f"User:{user}", role, ServiceKind.SQL, SERVICE),
            )
        yield cluster


@pytest.fixture(scope="module")
def guarded(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Settings of both services, as overrides."""
    users = tmp_path_factory.mktemp("users") / "users"
    users.write_text("".join(f"{name}: {name}\n" for name in PEOPLE))
    settings = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "listeners": "http://127.0.0.1:0",
        "authentication.method": "BASIC",
        "authentication.users.file": str(users),
        "authentication.skip.paths": "/metrics",
        "authorization.enabled": "true",
        "super.users": "User:admin",
    }
    return [f"{name}={value}" for name, value in settings.items()]


@contextmanager
def asking(port: int) -> Iterator[Ask]:
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=JSON, timeout=WAIT_S) as client:

        def ask(user: str | None, method: str, path: str, body: Any = None) -> httpx2.Response:
            return client.request(method, path, json=body, auth=None if user is None else (user, user))

        yield ask


@pytest.fixture(scope="module")
def worker(guarded: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    own = {
        **topics_of("guarded"),
        "state.dir": str(tmp_path_factory.mktemp("worker")),
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "500",
    }
    worker = ConnectWorker(read_worker(overrides=[*guarded, *(f"{name}={own[name]}" for name in own)]))
    worker.start_thread()
    with asking(worker.port) as ask:
        yield ask
    worker.stop_thread()


@pytest.fixture(scope="module")
def sql(guarded: list[str], worker: Ask, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Knows the worker, where it logs in as somebody who may do everything."""
    folder = tmp_path_factory.mktemp("sql")
    login = folder / "connect-login.properties"
    login.write_text("username=admin\npassword=admin\n")
    own = {
        "ksql.service.id": SERVICE,
        "ksql.streams.state.dir": str(folder),
        "ksql.connect.url": str(worker("admin", "GET", "/").url).removesuffix("/"),
        "ksql.connect.basic.auth.credentials.source": "FILE",
        "ksql.connect.basic.auth.credentials.file": str(login),
    }
    server = SqlServer(read_sql(overrides=[*guarded, *(f"{name}={own[name]}" for name in own)]))
    server.start_thread()
    with asking(server.port) as ask:
        yield ask
    server.stop_thread()


def outcome(answer: httpx2.Response) -> bool:
    """Whether it was allowed; what else became of it does not matter here."""
    if answer.status_code == 403:
        assert "may not" in answer.json()["message"], answer.text
        return False
    assert answer.status_code != 401, answer.text
    return True


CONNECTOR_REQUESTS = {
    "describe": [("GET", "/status"), ("GET", "/topics"), ("GET", "/offsets"), ("GET", "/tasks/0/status")],
    "read": [("GET", ""), ("GET", "/config"), ("GET", "/tasks"), ("GET", "/tasks-config")],
    "write": [("PUT", "/config"), ("PATCH", "/config")],
    "manage": [
        *(("PUT", "/pause"), ("PUT", "/resume"), ("POST", "/restart"), ("POST", "/tasks/0/restart")),
        *(("PATCH", "/offsets"), ("DELETE", "/offsets"), ("PUT", "/topics/reset"), ("PUT", "/stop")),
    ],
}


@pytest.mark.parametrize(
    ("user", "name", "allowed"),
    [
        ("reader", "shop-one", {"describe", "read"}),
        ("writer", "shop-one", {"describe", "read", "write"}),
        ("manager", "shop-one", {"describe", "read", "write", "manage", "delete"}),
        ("operator", "other", {"describe", "read", "manage"}),
        ("writer", "other", set()),
    ],
)
def test_a_role_decides_what_is_done_with_a_connector(
    worker: Ask, user: str, name: str, allowed: set[str]
) -> None:
    creation = {"name": name, "config": {**SOURCE, "name": name}}
    created = worker(user, "POST", "/connectors", creation)
    assert outcome(created) == ("write" in allowed)
    if created.status_code == 403:
        made = worker("admin", "POST", "/connectors", creation)
        assert made.status_code in (201, 409), made.text
    for right, requests in CONNECTOR_REQUESTS.items():
        for method, path in requests:
            body = {**SOURCE, "name": name} if "config" in path else None
            answer = worker(user, method, f"/connectors/{name}{path}", body)
            assert outcome(answer) == (right in allowed), (method, path, answer.text)
    validation = f"/connector-plugins/{SOURCE['connector.class']}/config/validate"
    assert outcome(worker(user, "PUT", validation, {**SOURCE, "name": name})) == ("write" in allowed)
    assert outcome(worker(user, "DELETE", f"/connectors/{name}")) == ("delete" in allowed)


def test_lists_of_connectors_show_what_the_caller_may_see(worker: Ask) -> None:
    for name in ("shop-seen", "hidden"):
        config = {"name": name, "config": {**SOURCE, "name": name}}
        assert worker("admin", "POST", "/connectors", config).status_code == 201
    assert "shop-seen" in worker("reader", "GET", "/connectors").json()
    for query in ("", "?expand=info", "?expand=info&expand=status"):
        assert "hidden" not in worker("reader", "GET", f"/connectors{query}").text
        assert "shop-seen" not in worker("nobody", "GET", f"/connectors{query}").text
    assert "hidden" in worker("operator", "GET", "/connectors?expand=info").json()


def test_the_worker_itself_is_for_those_who_may_all(worker: Ask) -> None:
    assert worker("nobody", "GET", "/").status_code == 200
    assert worker("nobody", "GET", "/connector-plugins").status_code == 200
    assert worker(None, "GET", "/metrics").status_code == 200
    assert worker(None, "GET", "/connectors").status_code == 401
    assert not outcome(worker("writer", "GET", "/admin/loggers"))
    assert outcome(worker("operator", "GET", "/admin/loggers"))
    level = {"level": "INFO"}
    assert not outcome(worker("writer", "PUT", "/admin/loggers/moldau.none", level))
    assert outcome(worker("operator", "PUT", "/admin/loggers/moldau.none", level))


CREATE = (
    "CREATE STREAM IF NOT EXISTS S (ID STRING KEY) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON', PARTITIONS=1);"
)
STATEMENTS = {
    "describe": ["SHOW STREAMS;", "DESCRIBE S;", "SET 'auto.offset.reset'='earliest';"],
    "write": [CREATE, "INSERT INTO S (ID) VALUES ('a');", "CREATE TYPE T AS INT;"],
    "delete": ["DROP TYPE IF EXISTS T;", "DROP STREAM IF EXISTS NONE;"],
    "manage": ["TERMINATE ALL;", "PAUSE ALL;"],
}


@pytest.mark.parametrize(
    ("user", "allowed"),
    [
        ("reader", {"describe", "read"}),
        ("writer", {"describe", "read", "write"}),
        ("manager", {"describe", "delete", "manage"}),
        ("operator", {"describe", "manage"}),
        ("nobody", set()),
    ],
)
def test_a_role_decides_which_statements_are_executed(sql: Ask, user: str, allowed: set[str]) -> None:
    assert sql("admin", "POST", "/ksql", {"ksql": CREATE}).status_code == 200
    for right, texts in STATEMENTS.items():
        for text in texts:
            answer = sql(user, "POST", "/ksql", {"ksql": text})
            assert outcome(answer) == (right in allowed), (text, answer.text)
            if answer.status_code == 403:
                assert answer.json()["error_code"] == 40300
    # A variable is put in when the statement is executed.
    with_variable = {"ksql": "DROP TYPE IF EXISTS ${name};", "sessionVariables": {"name": "T"}}
    assert outcome(sql(user, "POST", "/ksql", with_variable)) == ("delete" in allowed)
    for path, field in (("/query", "ksql"), ("/query-stream", "sql")):
        answer = sql(user, "POST", path, {field: "SELECT * FROM NONE;"})
        assert outcome(answer) == ("read" in allowed)
    assert outcome(sql(user, "POST", "/inserts-stream", {"target": "NONE"})) == ("write" in allowed)
    assert outcome(sql(user, "GET", "/clusterStatus")) == ("describe" in allowed)
    if not {"delete", "manage"} <= allowed:
        assert not outcome(sql(user, "POST", "/ksql/terminate"))
    assert sql(user, "GET", "/info").status_code == 200


def test_no_statement_touches_the_topics_of_the_platform(sql: Ask) -> None:
    """Who may write streams grants himself no role by them."""
    roles = "(ID STRING KEY, V STRING) WITH (KAFKA_TOPIC='_moldau_roles', FORMAT='KAFKA');"
    for user in ("writer", "admin"):
        for path, text in (
            ("/ksql", f"CREATE STREAM R {roles}"),
            ("/ksql", "CREATE STREAM R WITH (KAFKA_TOPIC='_moldau_roles') AS SELECT * FROM S;"),
            ("/query", "PRINT '_moldau_roles' FROM BEGINNING LIMIT 1;"),
        ):
            answer = sql(user, "POST", path, {"ksql": text})
            assert answer.status_code == 400, answer.text
            assert "_moldau_roles is internal" in answer.json()["message"]
            assert "ksql.hidden.topics" in answer.json()["message"]


@pytest.mark.parametrize(
    ("user", "name", "allowed"),
    [
        ("writer", "shop-sql", {"CREATE", "DESCRIBE", "SHOW"}),
        ("reader", "shop-sql", {"DESCRIBE", "SHOW"}),
        ("manager", "shop-sql", {"DESCRIBE", "DROP", "SHOW"}),
        ("writer", "others", set()),
        ("manager", "others", set()),
    ],
)
def test_statements_about_connectors_need_rights_on_them(
    sql: Ask, worker: Ask, user: str, name: str, allowed: set[str]
) -> None:
    """Though the server's own login at the worker may do everything."""
    config = ", ".join(f"'{key}'='{value}'" for key, value in SOURCE.items())
    create, drop = f"CREATE SOURCE CONNECTOR `{name}` WITH ({config});", f"DROP CONNECTOR `{name}`;"
    created = sql(user, "POST", "/ksql", {"ksql": create})
    assert outcome(created) == ("CREATE" in allowed), created.text
    assert (name in worker("admin", "GET", "/connectors").json()) == ("CREATE" in allowed)
    if "CREATE" not in allowed:
        made = sql("admin", "POST", "/ksql", {"ksql": create})
        assert made.status_code == 200, made.text
    described = sql(user, "POST", "/ksql", {"ksql": f"DESCRIBE CONNECTOR `{name}`;"})
    assert outcome(described) == ("DESCRIBE" in allowed), described.text
    # A connector is listed when it has begun to run.
    eventually(
        lambda: name in sql("admin", "POST", "/ksql", {"ksql": "SHOW SOURCE CONNECTORS;"}).text,
        f"{name} is listed",
    )
    shown = sql(user, "POST", "/ksql", {"ksql": "SHOW CONNECTORS;"})
    assert shown.status_code == 200
    assert (name in shown.text) == ("SHOW" in allowed)
    assert outcome(sql(user, "POST", "/ksql", {"ksql": drop})) == ("DROP" in allowed)
    assert (name in worker("admin", "GET", "/connectors").json()) == ("DROP" not in allowed)
    worker("admin", "DELETE", f"/connectors/{name}")


def basic(user: str) -> str:
    return base64.b64encode(f"{user}:{user}".encode()).decode()


def test_queries_over_websockets_need_rights_too(sql: Ask) -> None:
    url = str(sql("reader", "GET", "/info").url).replace("http", "ws", 1).replace("/info", "/ws/query")
    request = "?request=%7B%22ksql%22%3A%20%22SELECT%20*%20FROM%20NONE%3B%22%7D"
    for user, words in (("nobody", "may not read sql"), ("reader", "NONE")):
        with connect(url + request, additional_headers={"Authorization": f"Basic {basic(user)}"}) as socket:
            assert words in str(socket.recv(WAIT_S))


def test_requests_over_http2_need_logins_and_rights_too(sql: Ask) -> None:
    url = str(sql("reader", "GET", "/info").url).removesuffix("/info")
    with Http2Client(url) as client:
        for user, status in ((None, 401), ("nobody", 403), ("reader", 400)):
            login: Any = {} if user is None else {"authorization": f"Basic {basic(user)}"}
            stream = client.post("/query-stream", {"sql": "SELECT * FROM NONE;"}, **login)
            while stream not in client.ended:
                assert client.read()
            assert client.statuses[stream] == status
