"""Logins with SASL, as every client does them and Apache Kafka answers them.

Users are made by Kafka's own tool and by an admin client; then each client writes and reads with each mechanism.
"""

import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from compat.aiokafka_client import AiokafkaClient
from compat.apache_kafka import ApacheKafka
from compat.client import Client, ClientFailure, Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient, JavaDriver
from compat.kafka_python_client import KafkaPythonClient
from compat.kafka_tools import KafkaTools
from compat.kcat_client import KcatClient, KcatMissing
from compat.moldau_broker import MoldauBroker
from compat.node_clients import KafkajsClient, PlatformaticClient
from compat.piped_client import PipedClient
from compat.server_process import ServerProcess, free_port, wait_until
from e2e.cli.shell import Shell
from e2e.wire import HungUp, WireClient
from kafka_jars import KafkaJarsUnavailable
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest
from moldau.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.security.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from moldau.protocol.messages.security.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from moldau.protocol.messages.security.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest
from moldau.security.sasl.client_login import client_login

MODULES = "org.apache.kafka.common.security"
PLAIN_MODULE = f"{MODULES}.plain.PlainLoginModule"
SCRAM_MODULE = f"{MODULES}.scram.ScramLoginModule"
PASSWORD = "pass=word, and more"
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
REAUTH_MS = 2000
USER = "alice"
OTHER = "bob"
LISTENERS = ["PLAINTEXT", "SASL_PLAINTEXT", "BRIEF"]
"""The logins of the last one end soon."""
_serial = itertools.count()


def quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def sasl_settings() -> dict[str, str]:
    settings = {"offsets.topic.num.partitions": "1", "group.initial.rebalance.delay.ms": "0"}
    for listener in LISTENERS[1:]:
        prefix = f"listener.name.{listener.lower()}"
        settings[f"{prefix}.sasl.enabled.mechanisms"] = ",".join(MECHANISMS)
        settings[f"{prefix}.plain.sasl.jaas.config"] = (
            f"{PLAIN_MODULE} required user_{USER}={quoted(PASSWORD)};"
        )
        for mechanism in ("scram-sha-256", "scram-sha-512"):
            settings[f"{prefix}.{mechanism}.sasl.jaas.config"] = f"{SCRAM_MODULE} required;"
    return settings | {"listener.name.brief.connections.max.reauth.ms": str(REAUTH_MS)}


class Guarded:
    """A broker with listeners that want a login, and one that does not."""

    def __init__(self, server: ServerProcess, ports: Sequence[int]) -> None:
        self.server = server
        self.ports = dict(zip(LISTENERS, ports, strict=True))
        self.open = server.bootstrap
        self.bootstrap = f"127.0.0.1:{self.ports['SASL_PLAINTEXT']}"
        self.brief = f"127.0.0.1:{self.ports['BRIEF']}"

    def connect(self, listener: str = "SASL_PLAINTEXT") -> WireClient:
        return WireClient(self.ports[listener])

    def add_users(self) -> None:
        self.add_user(USER, PASSWORD, ScramMechanism.SCRAM_SHA_256)
        self.add_user(USER, PASSWORD, ScramMechanism.SCRAM_SHA_512)
        self.add_user(OTHER, PASSWORD, ScramMechanism.SCRAM_SHA_256)

    def add_user(self, user: str, password: str, mechanism: ScramMechanism) -> None:
        upsertion = UserScramCredentialUpsertion(
            user, ScramCredentialInfo(mechanism, 4096), password.encode()
        )
        admin = AdminClient({"bootstrap.servers": self.open, "log_level": 0})
        for future in admin.alter_user_scram_credentials([upsertion]).values():
            future.result(60)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "guarded" in metafunc.fixturenames:
        kafka = pytest.param("kafka", marks=pytest.mark.java)
        against = ["moldau", kafka] if metafunc.config.getoption("--against-kafka") else ["moldau"]
        metafunc.parametrize("guarded", against, indirect=True, scope="module")


def started(kind: str, folder: Path, more: Mapping[str, str] | None = None) -> Guarded:
    ports = [free_port() for _ in LISTENERS]
    listeners = [f"{name}://127.0.0.1:{port}" for name, port in zip(LISTENERS, ports, strict=True)]
    protocols = "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,BRIEF:SASL_PLAINTEXT"
    settings = {**sasl_settings(), **(more or {})}
    if kind == "moldau":
        settings |= {"listeners": ",".join(listeners), "listener.security.protocol.map": protocols}
        server: ServerProcess = MoldauBroker(folder, settings)
    else:
        controller = f"127.0.0.1:{free_port()}"
        settings["listeners"] = ",".join([*listeners, f"CONTROLLER://{controller}"])
        settings["controller.quorum.bootstrap.servers"] = controller
        settings["listener.security.protocol.map"] = f"{protocols},CONTROLLER:PLAINTEXT"
        try:
            server = ApacheKafka(folder, settings)
        except KafkaJarsUnavailable as reason:
            pytest.skip(str(reason))
    server.port = ports[0]
    return Guarded(server, ports)


@pytest.fixture
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    made: Guarded = request.getfixturevalue(f"guarded_{request.param}")
    return made


@pytest.fixture(scope="module")
def guarded_moldau(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    yield from _guarded("moldau", tmp_path_factory.mktemp("guarded"))


@pytest.fixture(scope="module")
def guarded_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    yield from _guarded("kafka", tmp_path_factory.mktemp("guarded-kafka"))


def _guarded(kind: str, folder: Path) -> Iterator[Guarded]:
    made = started(kind, folder)
    with made.server:
        made.add_users()
        yield made
        assert "pass=word" not in made.server.log_text()


def librdkafka_login(mechanism: str, password: str = PASSWORD) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": USER,
        "sasl.password": password,
    }


def python_login(mechanism: str, password: str = PASSWORD) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.plain.username": USER,
        "sasl.plain.password": password,
    }


def java_login(mechanism: str, password: str = PASSWORD) -> dict[str, str]:
    module = PLAIN_MODULE if mechanism == "PLAIN" else SCRAM_MODULE
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"{module} required username={quoted(USER)} password={quoted(password)};",
    }


def a_client(name: str, guarded: Guarded, request: pytest.FixtureRequest) -> tuple[Client, Any]:
    """The client, and what makes its settings."""
    match name:
        case "confluent":
            return ConfluentClient(guarded.bootstrap), librdkafka_login
        case "kcat":
            try:
                return KcatClient(guarded.bootstrap), librdkafka_login
            except KcatMissing as reason:
                pytest.skip(str(reason))
        case "aiokafka":
            return AiokafkaClient(guarded.bootstrap), python_login
        case "kafka_python":
            return KafkaPythonClient(guarded.bootstrap), python_login
        case "java":
            return JavaClient(request.getfixturevalue("java_driver"), guarded.bootstrap), java_login
        case "kafkajs":
            return KafkajsClient(
                request.getfixturevalue("kafkajs_driver"), guarded.bootstrap
            ), librdkafka_login
    driver = request.getfixturevalue("platformatic_driver")
    return PlatformaticClient(driver, guarded.bootstrap), librdkafka_login


CLIENTS = [
    *("confluent", "kcat", "aiokafka", "kafka_python", "kafkajs", "platformatic"),
    pytest.param("java", marks=pytest.mark.java),
]


@pytest.fixture
def topic(guarded: Guarded) -> str:
    name = f"logins-{next(_serial)}"
    ConfluentClient(guarded.open).create_topic(name)
    return name


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_clients_log_in(
    guarded: Guarded, request: pytest.FixtureRequest, name: str, mechanism: str, topic: str
) -> None:
    client, login = a_client(name, guarded, request)
    if name == "kcat" and mechanism != "PLAIN":
        # librdkafka 2.0 of Debian 12 sends a wrong nonce, which Kafka refuses since 3.9 (CVE-2024-56128).
        with pytest.raises(ClientFailure, match="invalid credentials"):
            client.produce(topic, [Record(value=b"x")], login(mechanism))
        return
    client.produce(topic, [Record(value=b"from " + name.encode())], login(mechanism))
    if isinstance(client, PipedClient) and name != "java":
        # Their drivers ask for offsets before they consume, without settings.
        client = ConfluentClient(guarded.bootstrap)
        login = librdkafka_login
    (record,) = client.consume(topic, count=1, settings=login(mechanism))
    assert record.value == b"from " + name.encode()


@pytest.mark.java
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_java_learns_why_a_login_failed(
    guarded: Guarded, java_driver: JavaDriver, mechanism: str, topic: str
) -> None:
    client = JavaClient(java_driver, guarded.bootstrap)
    with pytest.raises(ClientFailure) as failure:
        client.produce(topic, [Record(value=b"x")], java_login(mechanism, "wrong"))
    assert "Authentication failed" in str(failure.value)


def test_librdkafka_learns_why_a_login_failed(guarded: Guarded) -> None:
    complaints: list[str] = []
    settings = {
        "bootstrap.servers": guarded.bootstrap,
        "log_level": 0,
        **librdkafka_login("SCRAM-SHA-256", "wrong"),
    }
    admin = AdminClient({**settings, "error_cb": lambda error: complaints.append(error.str())})

    def is_told() -> bool:
        admin.poll(0.1)
        return any("invalid credentials with SASL mechanism SCRAM-SHA-256" in each for each in complaints)

    wait_until(is_told, "librdkafka reports the failed login")


@pytest.mark.slow
def test_librdkafka_renews_its_login(guarded: Guarded, topic: str) -> None:
    """Logins end and begin while one producer writes."""
    mechanism = "SCRAM-SHA-512"
    failed: list[object] = []
    settings = {"bootstrap.servers": guarded.brief, "log_level": 0, **librdkafka_login(mechanism)}
    producer = Producer(settings)
    until, sent = time.monotonic() + 1.5 * REAUTH_MS / 1000, 0
    while time.monotonic() < until:
        producer.produce(topic, b"x", on_delivery=lambda error, _: failed.append(error) if error else None)
        sent += 1
        producer.flush(60)
    assert failed == []
    assert sent > 0
    assert "has expired" not in guarded.server.log_text()


@pytest.mark.slow
@pytest.mark.java
def test_kafka_configs_manages_users(guarded: Guarded, java_driver: JavaDriver, tmp_path: Path) -> None:
    tools = KafkaTools(java_driver, guarded.bootstrap)
    config = tmp_path / "client.properties"
    settings = {name: value.replace("\\", "\\\\") for name, value in java_login("SCRAM-SHA-512").items()}
    config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    user = f"tool-{next(_serial)}"
    entity = ["--command-config", str(config), "--entity-type", "users", "--entity-name", user]
    added = tools.run(
        "kafka-configs",
        *entity,
        "--alter",
        "--add-config",
        "SCRAM-SHA-256=[iterations=8192,password=tool-secret],SCRAM-SHA-512=[password=tool-secret]",
        code=1,
    )
    assert "SCRAM" in added, "one mechanism of a user is changed at a time"
    tools.run(
        "kafka-configs",
        *entity,
        "--alter",
        "--add-config",
        "SCRAM-SHA-256=[iterations=8192,password=tool-secret]",
    )
    with guarded.connect() as client:
        log_in(client, user, "tool-secret", "SCRAM-SHA-256")
    printed = tools.run("kafka-configs", *entity, "--describe")
    assert (
        f"SCRAM credential configs for user-principal '{user}' are SCRAM-SHA-256=iterations=8192" in printed
    )
    tools.run("kafka-configs", *entity, "--alter", "--delete-config", "SCRAM-SHA-256")
    with guarded.connect() as client, pytest.raises(AssertionError, match="58"):
        log_in(client, user, "tool-secret", "SCRAM-SHA-256")


def log_in(client: WireClient, user: str, password: str, mechanism: str) -> Any:
    assert client.call(SaslHandshakeRequest(mechanism=mechanism), 1).error_code == ErrorCode.NONE
    login = client_login(mechanism, user, password)
    message = next(login)
    while True:
        answer = client.call(SaslAuthenticateRequest(auth_bytes=message), 2)
        assert answer.error_code == ErrorCode.NONE, int(answer.error_code)
        try:
            message = login.send(bytes(answer.auth_bytes))
        except StopIteration:
            return answer


def test_an_api_key_works_with_scram_everywhere(guarded: Guarded) -> None:
    """Apache Kafka knows its client by the whole name of the key, which the command says."""
    shell = Shell(guarded.open)
    made = json.loads(shell.run("api-keys", "create", "--account", "orders", "--output", "json"))
    is_moldau = isinstance(guarded.server, MoldauBroker)
    assert made["principal"] == ("User:orders" if is_moldau else f"User:{made['key']}")
    assert ("not Moldau's" in shell.run("api-keys", "create", "--account", "x")) != is_moldau

    def works(mechanism: str) -> bool:
        with guarded.connect() as client:
            try:
                log_in(client, made["key"], made["secret"], mechanism)
            except AssertionError:
                return False
            return bool(client.call(DescribeClusterRequest()).error_code == ErrorCode.NONE)

    for mechanism in MECHANISMS[not is_moldau :]:
        wait_until(lambda mechanism=mechanism: works(mechanism), f"the key works with {mechanism}")
    shell.run("api-keys", "delete", made["key"], "--yes")
    for mechanism in MECHANISMS:
        wait_until(lambda mechanism=mechanism: not works(mechanism), f"the key is gone for {mechanism}")


@pytest.mark.java
def test_java_takes_the_printed_lines_of_an_api_key(
    guarded: Guarded, java_driver: JavaDriver, topic: str, tmp_path: Path
) -> None:
    """Apache Kafka checks PLAIN against its login module alone."""
    mechanism = "PLAIN" if isinstance(guarded.server, MoldauBroker) else "SCRAM-SHA-512"
    administrator = tmp_path / "alice.properties"
    lines = [f"{name}={value}" for name, value in librdkafka_login(mechanism).items()]
    administrator.write_text("\n".join(lines))
    as_alice = ("-b", guarded.bootstrap, "--command-config", str(administrator))
    text = Shell(guarded.bootstrap).run("api-keys", "create", "--account", "java", *as_alice)
    printed = dict(line.removeprefix("# ").partition("=")[::2] for line in text.splitlines() if "=" in line)
    assert printed["bootstrap.servers"] == guarded.bootstrap
    settings = {name: printed[name] for name in ("security.protocol", "sasl.mechanism", "sasl.jaas.config")}
    assert settings["sasl.mechanism"] == mechanism
    JavaClient(java_driver, guarded.bootstrap).produce(topic, [Record(value=b"x")], settings)


# --- the same answers as Apache Kafka gives


def test_an_unsupported_mechanism(guarded: Guarded) -> None:
    with guarded.connect() as client:
        answer = client.call(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
        assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert sorted(answer.mechanisms) == MECHANISMS
        assert client.is_closed_by_broker()


@pytest.mark.parametrize(
    ("mechanism", "message", "told"),
    [
        ("PLAIN", b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        ("PLAIN", b"\0nobody\0x", "Authentication failed: Invalid username or password"),
        ("PLAIN", b"x", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        ("PLAIN", b"\0\0x", "Authentication failed: username not specified"),
        ("PLAIN", b"\0x\0", "Authentication failed: password not specified"),
        ("SCRAM-SHA-256", b"n,,n=nobody,r=abc", None),
        ("SCRAM-SHA-256", b"n,a=bob,n=alice,r=abc", "different from username"),
        ("SCRAM-SHA-256", b"y,,n=alice,r=abc", None),
        ("SCRAM-SHA-256", b"p=tls-unique,,n=alice,r=abc", None),
        ("SCRAM-SHA-256", b"n,,n=alice,r=abc,tokenauth=true", None),
    ],
)
def test_refused_logins(guarded: Guarded, mechanism: str, message: bytes, told: str | None) -> None:
    with guarded.connect() as client:
        client.call(SaslHandshakeRequest(mechanism=mechanism), 1)
        answer = client.call(SaslAuthenticateRequest(auth_bytes=message), 2)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        generic = (
            "Authentication failed during authentication due to invalid credentials with SASL mechanism "
        )
        assert (told or generic + mechanism) in answer.error_message
        assert client.is_closed_by_broker()


def test_versions_before_a_login(guarded: Guarded) -> None:
    hello = ApiVersionsRequest(client_software_name="e2e", client_software_version="1")
    with guarded.connect() as client:
        keys = {each.api_key for each in client.call(hello, 3).api_keys}
        assert {17, 36, 50, 51} <= keys
        log_in(client, USER, PASSWORD, "SCRAM-SHA-256")
        assert client.call(hello, 3).error_code == ErrorCode.NONE
    with guarded.connect() as client:
        client.call(hello, 3)
        with pytest.raises(HungUp):
            client.call(hello, 3)


def test_other_requests_before_a_login(guarded: Guarded) -> None:
    for request in (
        MetadataRequest(topics=()),
        DescribeClusterRequest(),
        SaslAuthenticateRequest(auth_bytes=b"x"),
    ):
        with guarded.connect() as client, pytest.raises(HungUp):
            client.call(request)


def test_other_requests_within_a_login(guarded: Guarded) -> None:
    with guarded.connect() as client:
        client.call(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        assert client.call(DescribeClusterRequest()).error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert client.is_closed_by_broker()


def test_sasl_after_a_login(guarded: Guarded) -> None:
    with guarded.connect("BRIEF") as client:
        log_in(client, USER, PASSWORD, "PLAIN")
        log_in(client, USER, PASSWORD, "PLAIN")
        again = client.call(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        assert again.error_code == ErrorCode.ILLEGAL_SASL_STATE, "not twice within a second"
    with guarded.connect() as client:
        log_in(client, USER, PASSWORD, "PLAIN")
        again = client.call(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        assert again.error_code == ErrorCode.ILLEGAL_SASL_STATE, "a login without an end is not renewed"
        answer = client.call(SaslAuthenticateRequest(auth_bytes=b"x"), 2)
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_messages_without_headers(guarded: Guarded) -> None:
    with guarded.connect() as client:
        client.call(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 0)
        login = client_login("SCRAM-SHA-256", USER, PASSWORD)
        message = next(login)
        with pytest.raises(StopIteration):
            while True:
                client.send_bytes(len(message).to_bytes(4, "big") + message)
                message = login.send(client.receive_frame())
        assert client.call(DescribeClusterRequest()).error_code == ErrorCode.NONE


def test_a_session_has_an_end(guarded: Guarded) -> None:
    with guarded.connect("BRIEF") as client:
        assert log_in(client, USER, PASSWORD, "PLAIN").session_lifetime_ms == REAUTH_MS

        def is_closed() -> bool:
            try:
                client.call(DescribeClusterRequest())
            except (HungUp, ConnectionError):
                return True
            return False

        wait_until(is_closed, "the session ends")


def alter(client: WireClient, request: AlterUserScramCredentialsRequest) -> dict[str, tuple[int, str | None]]:
    answer = client.call(request)
    return {each.user: (each.error_code, each.error_message) for each in answer.results}


def upsertion(user: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=user, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=b"s" * 32
    )


def test_altering_credentials(guarded: Guarded) -> None:
    with WireClient(guarded.server.port) as client:
        request = AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name="nobody", mechanism=1),
                ScramCredentialDeletion(name="strange", mechanism=7),
            ],
            upsertions=[
                upsertion("good"),
                upsertion("twice"),
                upsertion("twice", mechanism=2),
                upsertion("few", iterations=4095),
                upsertion("many", iterations=16385),
                upsertion("odd", mechanism=0),
                upsertion(""),
            ],
        )
        assert alter(client, request) == {
            "nobody": (
                ErrorCode.RESOURCE_NOT_FOUND,
                "Attempt to delete a user credential that does not exist",
            ),
            "strange": (ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
            "good": (ErrorCode.NONE, None),
            "twice": (
                ErrorCode.DUPLICATE_RESOURCE,
                "A user credential cannot be altered twice in the same request",
            ),
            "few": (ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
            "many": (ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
            "odd": (ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
            "": (ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        }
        wait_until(
            lambda: described(client, "good")["good"][0] == ErrorCode.NONE, "the broker knows the user"
        )
        assert described(client, "good", "nobody", "good") == {
            "good": (
                ErrorCode.DUPLICATE_RESOURCE,
                "Cannot describe SCRAM credentials for the same user twice in a single request: good",
                [],
            ),
            "nobody": (
                ErrorCode.RESOURCE_NOT_FOUND,
                "Attempt to describe a user credential that does not exist: nobody",
                [],
            ),
        }
        assert described(client)["good"] == (ErrorCode.NONE, "", [(1, 4096)])
        assert described(client)[USER] == (ErrorCode.NONE, "", [(1, 4096), (2, 4096)])


def described(client: WireClient, *users: str) -> dict[str, Any]:
    asked = DescribeUserScramCredentialsRequest(users=[UserName(name=user) for user in users] or None)
    return {
        each.user: (
            each.error_code,
            each.error_message,
            sorted((info.mechanism, info.iterations) for info in each.credential_infos),
        )
        for each in client.call(asked).results
    }


def test_changing_the_user_of_a_login(guarded: Guarded) -> None:
    with guarded.connect("BRIEF") as client:
        log_in(client, USER, PASSWORD, "SCRAM-SHA-256")
        client.call(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        login = client_login("SCRAM-SHA-256", OTHER, PASSWORD)
        first = client.call(SaslAuthenticateRequest(auth_bytes=next(login)), 2)
        final = login.send(bytes(first.auth_bytes))
        answer = client.call(SaslAuthenticateRequest(auth_bytes=final), 2)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert answer.error_message == (
            "Cannot change principals during re-authentication from User.alice: User.bob"
        )
        assert client.is_closed_by_broker()
