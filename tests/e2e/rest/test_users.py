"""Users: the cluster's rules hold for the user of a request, and nobody finds the instances of somebody else."""

import base64
import http.client
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from e2e.rest.rest_client import PATIENCE_S, LocalProxy, RestClient, embedded, fresh, wait_for
from moldau.proxies.rest import users
from moldau.services.security.checked_logins import WrongLogin
from moldau.services.security.cluster_logins import ClusterLogins
from moldau.testing import LocalCluster
from moldau.testing.cluster_security import Security

USERS = {"admin": "admin-secret", "alice": "alice-secret", "bob": "bob-secret", "dave": "dave-secret"}
MECHANISM = "SCRAM-SHA-256"
PASSTHROUGH = {
    "client_login_passthrough": "true",
    "client_security_protocol": "SASL_PLAINTEXT",
    "client_sasl_mechanism": MECHANISM,
    "client_sasl_username": "admin",
    "client_sasl_password": USERS["admin"],
}


class UserClient(RestClient):
    """Logs in with every request."""

    def __init__(self, rest: RestClient, user: str, password: str | None = None) -> None:
        super().__init__(rest.url)
        pair = f"{user}:{USERS.get(user, '') if password is None else password}"
        self.headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


@pytest.fixture(scope="module")
def secured() -> Iterator[LocalCluster]:
    security = Security(protocol="SASL_PLAINTEXT", users=USERS, mechanism=MECHANISM, acls=True)
    with LocalCluster(security=security) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def door(secured: LocalCluster) -> Iterator[RestClient]:
    with LocalProxy(secured.bootstrap_servers, **PASSTHROUGH) as rest:
        yield rest


def allow(admin: RestClient, base: str, user: str, kind: str, name: str, *operations: str) -> None:
    for operation in operations:
        rule = {
            "resource_type": kind,
            "resource_name": name,
            "pattern_type": "LITERAL",
            "principal": f"User:{user}",
            "host": "*",
            "operation": operation,
            "permission": "ALLOW",
        }
        assert admin("POST", f"{base}/acls", rule).status == 201


def clients_of_kafka() -> int:
    """How many there are in this process: each has one main thread."""
    names = [(file / "comm") for file in Path("/proc/self/task").iterdir()]
    return sum(name.exists() and name.read_text().startswith("rdk:main") for name in names)


def test_reads_without_an_instance_need_no_right_to_a_group(
    door: RestClient, caplog: pytest.LogCaptureFixture
) -> None:
    admin, dave = UserClient(door, "admin"), UserClient(door, "dave")
    base = f"/v3/clusters/{admin.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
    topic = fresh("plain")
    admin.ok("POST", f"{base}/topics", {"topic_name": topic, "partitions_count": 1})
    admin.produce(topic, "one", "two")
    allow(admin, base, "dave", "TOPIC", topic, "READ", "DESCRIBE")
    # The first read has a new consumer, which asks for the group's coordinator; the others find it waiting.
    places: Any = {topic: "earliest"}
    found: list[Any] = []
    dave.ok("GET", "/topics")
    before = clients_of_kafka()
    for _ in range(2):
        read = dave.ok("POST", "/poll", {"topics": places, "timeout_ms": 30_000, "max_records": 1})
        places = read["next"]
        found += [record["value"] for record in read["records"]]
    assert found == ["one", "two"]
    # A consumer that may not ask for the group would ask again every second.
    wait_for(lambda: clients_of_kafka() <= before)
    # Nor has a user who only reads a producer, which the cluster refuses with a critical error.
    assert not [each for each in caplog.records if each.levelno >= logging.CRITICAL]


def test_the_rules_of_the_cluster_hold_for_the_user_of_a_request(door: RestClient) -> None:
    admin, alice, bob = (UserClient(door, user) for user in ("admin", "alice", "bob"))
    base = f"/v3/clusters/{admin.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
    topic = fresh("guarded")
    admin.ok("POST", f"{base}/topics", {"topic_name": topic, "partitions_count": 1})
    allow(admin, base, "alice", "TOPIC", topic, "WRITE", "READ", "DESCRIBE")
    allow(admin, base, "alice", "GROUP", "alices", "READ")
    allow(admin, base, "bob", "TOPIC", topic, "READ", "DESCRIBE")
    found = admin.ok("GET", f"{base}/acls?principal=User:bob")["data"]
    assert {each["operation"] for each in found} == {"READ", "DESCRIBE"}

    assert admin.ok("GET", f"{base}/topics/-/partitions/-/reassignment")["data"] == []
    assert "min.insync.replicas" in {
        each["name"] for each in admin.ok("GET", f"{base}/broker-configs")["data"]
    }
    bob("GET", f"{base}/broker-configs").refused(40301)
    bob("PUT", f"{base}/broker-configs/log.cleaner.threads", {"value": "2"}).refused(40301)

    bob("GET", f"{base}/acls").refused(40301, "DESCRIBE")
    assert admin.ok("GET", f"{base}/acls?principal=User:nobody")["data"] == []

    alice.produce(topic, "hers")
    records: Any = {"records": [{"value": "his"}]}
    refused = bob("POST", f"/topics/{topic}", records, type=embedded("json"))
    assert (refused.status, refused.json["offsets"][0]["error_code"]) == (403, 40301)
    one = bob("POST", f"{base}/topics/{topic}/records", {"value": {"type": "JSON", "data": 1}})
    one.refused(40301)
    consumer = alice.consumer("alices").subscribe(topic)
    assert consumer.values(1) == ["hers"]
    # Each has instances of its own, whatever their names.
    path = consumer.uri.removeprefix(door.url)
    bob("GET", f"{path}/records").refused(40403)
    bob("DELETE", path).refused(40403)
    assert alice("DELETE", path).status == 204
    deleted = admin.ok(
        "DELETE",
        f"{base}/acls?principal=User:bob&resource_type=ANY&pattern_type=ANY&operation=ANY&permission=ANY",
    )
    assert len(deleted["data"]) == 2


def test_a_wrong_login_is_refused(door: RestClient) -> None:
    door("GET", "/topics").refused(40101, "Basic authentication")
    UserClient(door, "alice", "wrong")("GET", "/topics").refused(40101, "refused the login", "alice")
    UserClient(door, "nobody", "x")("GET", "/topics").refused(40101)
    assert UserClient(door, "alice")("GET", "/topics").status == 200
    # What asks Kafka nothing in the name of a user is open.
    assert door("GET", "/health").status == 200
    assert door("GET", "/openapi.json").status == 200


def test_a_wrong_login_leaves_no_client_that_tries_again(
    secured: LocalCluster, door: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_password(secured, "gina", "right")
    gina = UserClient(door, "gina", "right")
    before = clients_of_kafka()
    wait_for(lambda: gina("GET", "/topics").status == 200)
    gina("POST", "/topics/nothing-for-gina", {"records": [{"value": 1}]}, type=embedded("json"))
    assert clients_of_kafka() > before
    UserClient(door, "ghost", "wrong")("GET", "/topics").refused(40101)
    users_only = {"authentication.sasl.mechanism": MECHANISM}
    client = {"bootstrap.servers": secured.bootstrap_servers, "security.protocol": "SASL_PLAINTEXT"}
    with pytest.raises(WrongLogin) as kept:
        ClusterLogins(users_only, client).caller(base64.b64encode(b"ghost:wrong"))
    assert kept.tb is not None
    # Those of a user whose login has ended go, too.
    set_password(secured, "gina", None)
    monkeypatch.setattr(users, "CHECK_S", 0.0)
    gina("GET", "/topics").refused(40101)
    wait_for(lambda: clients_of_kafka() <= before)


def test_a_proxy_without_a_login_of_its_own_is_healthy_while_kafka_answers(secured: LocalCluster) -> None:
    own = ("client_sasl_username", "client_sasl_password")
    settings = {name: value for name, value in PASSTHROUGH.items() if name not in own}
    with LocalProxy(secured.bootstrap_servers, **settings) as rest:
        assert rest.ok("GET", "/health") == {"status": "ok", "cluster_id": None}
        assert UserClient(rest, "alice")("GET", "/topics").status == 200
        rest("GET", "/topics").refused(40101)
    with LocalProxy("127.0.0.1:1", **settings) as rest:
        rest("GET", "/health").refused(50003, "127.0.0.1:1", "Connection refused")


def test_what_the_proxy_asks_by_itself_goes_over_tls_with_its_login() -> None:
    with LocalCluster(security=Security(users={"admin": "admin-secret"})) as cluster:
        own = cluster.client_settings("admin")
        settings = {
            f"client.{name}": str(value) for name, value in own.items() if name != "bootstrap.servers"
        }
        assert settings["client.security.protocol"] == "SASL_SSL"
        with LocalProxy(cluster.bootstrap_servers, **settings) as rest:
            base = f"/v3/clusters/{rest.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
            assert rest.ok("GET", f"{base}/broker-configs")["kind"] == "KafkaClusterConfigList"


def test_nothing_is_open_where_all_of_the_proxy_needs_a_login(secured: LocalCluster) -> None:
    login = {"authentication_method": "BASIC", "authentication_users": "CLUSTER"}
    skipped = {"authentication_skip_paths": "/health"}
    with LocalProxy(secured.bootstrap_servers, **PASSTHROUGH, **login, **skipped) as rest:
        for path in ("/metrics", "/openapi.json", "/try"):
            assert rest("GET", path).status == 401
            assert UserClient(rest, "alice")("GET", path).status == 200
        assert rest("GET", "/health").status == 200


def set_password(cluster: LocalCluster, user: str, password: str | None) -> None:
    """None removes the user."""
    admin = AdminClient(cluster.client_settings("admin"))
    change: UserScramCredentialAlteration = UserScramCredentialDeletion(user, ScramMechanism.SCRAM_SHA_256)
    if password is not None:
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        change = UserScramCredentialUpsertion(user, info, password.encode())
    for each in admin.alter_user_scram_credentials([change]).values():
        each.result(PATIENCE_S)


def test_a_login_ends_when_the_password_changes(
    secured: LocalCluster, door: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_password(secured, "carol", "first")
    carol = UserClient(door, "carol", "first")
    wait_for(lambda: carol("GET", "/topics").status == 200)
    set_password(secured, "carol", "second")
    wait_for(lambda: UserClient(door, "carol", "second")("GET", "/topics").status == 200)
    monkeypatch.setattr(users, "CHECK_S", 0.0)
    carol("GET", "/topics").refused(40101, "refused the login", "carol")
    assert UserClient(door, "carol", "second")("GET", "/topics").status == 200


def test_a_request_that_waits_is_refused_when_its_user_is_removed(
    secured: LocalCluster, door: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, hal = UserClient(door, "admin"), UserClient(door, "hal", "right")
    base = f"/v3/clusters/{admin.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
    topic = fresh("empty")
    admin.ok("POST", f"{base}/topics", {"topic_name": topic, "partitions_count": 1})
    allow(admin, base, "hal", "TOPIC", topic, "READ", "DESCRIBE")
    set_password(secured, "hal", "right")
    monkeypatch.setattr(users, "CHECK_S", 3600.0)
    monkeypatch.setattr(users, "WAITING_S", 0.3)
    monkeypatch.setattr(users, "WAITING_CHECK_S", 0.0)
    poll = {"topics": {topic: "earliest"}, "max_records": 1}
    wait_for(lambda: hal("POST", "/poll", poll | {"timeout_ms": 1}).status == 200)
    # It waits on while the login is right.
    assert hal("POST", "/poll", poll | {"timeout_ms": 600}).status == 200
    set_password(secured, "hal", None)
    wait_for(lambda: hal("POST", "/poll", poll | {"timeout_ms": 5_000}).status == 401)


def test_an_open_stream_ends_when_its_user_is_removed(
    secured: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users, "CHECK_S", 0.0)
    monkeypatch.setattr(users, "SWEEP_S", 0.2)
    with LocalProxy(secured.bootstrap_servers, **PASSTHROUGH) as rest:
        admin, frank = UserClient(rest, "admin"), UserClient(rest, "frank", "frank-secret")
        base = f"/v3/clusters/{admin.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
        topic = fresh("streamed")
        admin.ok("POST", f"{base}/topics", {"topic_name": topic, "partitions_count": 1})
        allow(admin, base, "frank", "TOPIC", topic, "READ", "DESCRIBE")
        set_password(secured, "frank", "frank-secret")
        wait_for(lambda: frank("GET", "/topics").status == 200)
        connection = http.client.HTTPConnection(frank.address, timeout=PATIENCE_S)
        try:
            connection.request("GET", f"/events?topic={topic}", headers=frank.headers)
            stream = connection.getresponse()
            assert stream.status == 200
            set_password(secured, "frank", None)
            # It has no end while the login is right.
            stream.read()
        finally:
            connection.close()
        frank("GET", "/topics").refused(40101, "frank")


def test_a_failed_login_is_logged_with_its_user_and_without_its_password(
    door: RestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "moldau.rest")
    UserClient(door, "eve\nINFO all is well é", "guessed-by-eve")("GET", "/topics").refused(40101)
    said = [each.getMessage() for each in caplog.records if each.name == "moldau.rest"]
    assert r"the cluster refused the login of user 'eve\nINFO all is well \xe9' from 127.0.0.1" in said
    assert "guessed-by-eve" not in caplog.text


def test_passwords_without_encryption_are_warned_of(
    secured: LocalCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with LocalProxy(secured.bootstrap_servers, **PASSTHROUGH):
        assert "passwords travel unencrypted to http://127.0.0.1:0: use https" in caplog.messages


def test_users_of_the_proxy_do_not_share_instances(cluster: LocalCluster, tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("alice: alice-secret\nbob: bob-secret\n")
    file.chmod(0o600)
    settings = {"authentication_method": "BASIC", "authentication_users_file": str(file)}
    with LocalProxy(cluster.bootstrap_servers, **settings) as rest:
        alice, bob = UserClient(rest, "alice"), UserClient(rest, "bob")
        assert rest("GET", "/topics").status == 401
        path = alice.consumer(name="mine").uri.removeprefix(rest.url)
        bob("DELETE", path).refused(40403)
        assert alice("DELETE", path).status == 204
