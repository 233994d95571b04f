"""A real ZooKeeper with TLS and logins, and what it says when they do not work."""

import socket
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.server_process import free_port
from e2e.cluster.on_demand import on_demand
from kerberos_kit import REALM, KerberosMissing, Realm
from moldau.coordination.store import Create, StoreUnavailable
from moldau.coordination.zookeeper import ZooKeeperStore
from moldau.core.settings.static_layer import static_layer
from moldau.node.zookeeper_access import JAAS_SETTING, zookeeper_protection
from store_conformance import SessionConformance, StoreConformance, Told, eventually
from tls_files import PASSWORD, TlsFiles, make_tls_files, pkcs12_store
from zookeeper_kit import one_zookeeper

SESSION_MS = 60_000
DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule required"
LOGIN = {JAAS_SETTING: f'{DIGEST} username="broker" password="broker-secret";'}
OWN = {"zookeeper.set.acl": "true"}
SERVER_JAAS = f'Server {{ {DIGEST} user_broker="broker-secret" user_other="other-secret"; }};'


class Guarded:
    def __init__(self, tls_port: int, files: TlsFiles) -> None:
        self.tls_port = tls_port
        self.files = files

    @property
    def tls(self) -> dict[str, str]:
        return {
            "zookeeper.connect": f"localhost:{self.tls_port}",
            "zookeeper.ssl.client.enable": "true",
            "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
            "zookeeper.ssl.truststore.location": str(self.files.ca),
            "zookeeper.ssl.truststore.type": "PEM",
        }

    @property
    def certificate(self) -> dict[str, str]:
        return {"zookeeper.ssl.keystore.location": str(self.files.pem("alice"))}


def store_of(guarded: Guarded, chroot: str, *settings: dict[str, str]) -> ZooKeeperStore:
    """With TLS, as a broker with these settings has it."""
    merged = {name: value for each in (guarded.tls, *settings) for name, value in each.items()}
    parsed = static_layer(overrides=[f"{name}={value}" for name, value in merged.items()]).settings()
    where = f"{merged['zookeeper.connect']}/{chroot}"
    return ZooKeeperStore(where, session_timeout_ms=SESSION_MS, protection=zookeeper_protection(parsed))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    files = make_tls_files(folder / "tls")
    store = folder / "zookeeper.p12"
    store.write_bytes(pkcs12_store(files.issue("zookeeper", hosts=("localhost",)), files.authority))
    jaas = folder / "server.jaas"
    jaas.write_text(SERVER_JAAS)
    tls_port = free_port()
    settings = {
        "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "requireClientAuthScheme": "sasl",
        "jaasLoginRenew": "3600000",
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "secureClientPort": str(tls_port),
        "ssl.keyStore.location": str(store),
        "ssl.keyStore.password": PASSWORD,
        "ssl.trustStore.location": str(files.ca),
        "ssl.trustStore.type": "PEM",
        "ssl.clientAuth": "want",
    }
    options = [f"-Djava.security.auth.login.config={jaas}"]
    with one_zookeeper(folder / "zookeeper", settings=settings, java_options=options):
        yield Guarded(tls_port, files)


@pytest.fixture
def connect(guarded: Guarded) -> Iterator[Callable[[], ZooKeeperStore]]:
    """Sessions in a part of the tree that no other test sees."""
    where = f"conformance/{uuid.uuid4()}"
    opened: list[ZooKeeperStore] = []

    def open_one() -> ZooKeeperStore:
        opened.append(store_of(guarded, where, LOGIN, OWN))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def store(connect: Callable[[], ZooKeeperStore]) -> ZooKeeperStore:
    return connect()


@on_demand
class TestGuardedStore(StoreConformance):
    pass


@on_demand
class TestGuardedSessions(SessionConformance):
    pass


def test_another_login_and_no_login_may_read_only(guarded: Guarded) -> None:
    own = store_of(guarded, "shared", LOGIN, OWN)
    own.create("/brokers", b"1")
    for login in ({JAAS_SETTING: LOGIN[JAAS_SETTING].replace('"broker', '"other')}, {}):
        store = store_of(guarded, "shared", login)
        assert store.get("/brokers").data == b"1"
        with pytest.raises(StoreUnavailable, match="/brokers, which belongs to another login"):
            store.set("/brokers", b"2")
        with pytest.raises(StoreUnavailable, match="/brokers, which belongs to another login"):
            store.create("/brokers/ids")
        store.close()
    own.set("/brokers", b"3")
    own.close()


def test_nodes_that_were_open_before_are_told_of(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    before = store_of(guarded, "before")
    before.create("/brokers")
    before.close()
    store_of(guarded, "before", LOGIN, OWN).close()
    assert "everybody may still change /brokers" in caplog.text


def test_a_certificate_is_an_owner_too(guarded: Guarded) -> None:
    store = store_of(guarded, "certified", guarded.certificate, OWN)
    store.create("/a")
    owners, _ = store._client.get_acls("/a")
    assert {acl.id.scheme for acl in owners} == {"x509", "world"}
    store.close()


def test_many_nodes_come_over_tls_and_a_new_connection_logs_in_again(guarded: Guarded) -> None:
    store = store_of(guarded, "many", LOGIN, OWN)
    told = Told()
    store.watch(told)
    store.create("/folder")
    paths = [f"/folder/{number}" for number in range(500)]
    store.multi([Create(path, b"x" * 1000) for path in paths])
    found = store.read_many(paths)
    assert all(reading is not None and reading.data == b"x" * 1000 for reading in found)
    store._client._connection._socket.shutdown(socket.SHUT_RDWR)
    eventually(lambda: "same session" in told.sessions)
    store.set("/folder/0", b"mine")
    eventually(lambda: "/folder/0" in told.paths)
    store.close()


def test_what_does_not_work_is_said(guarded: Guarded, tmp_path: Path) -> None:
    wrong = {JAAS_SETTING: LOGIN[JAAS_SETTING].replace("broker-secret", "wrong")}
    with pytest.raises(
        StoreUnavailable, match=r"the login to ZooKeeper at localhost failed: the server refuses"
    ):
        store_of(guarded, "x", wrong)
    stranger = make_tls_files(tmp_path)
    untrusted = {**guarded.tls, "zookeeper.ssl.truststore.location": str(stranger.ca)}
    settings = static_layer(overrides=[f"{name}={value}" for name, value in untrusted.items()]).settings()
    for patience_ms in (500, 5_000, 60_000):
        with pytest.raises(StoreUnavailable) as refused:
            ZooKeeperStore(
                untrusted["zookeeper.connect"],
                connection_timeout_ms=patience_ms,
                protection=zookeeper_protection(settings),
            )
        if "TLS" in str(refused.value):
            break
    assert "TLS with ZooKeeper at localhost:" in str(refused.value)
    assert "its certificate is refused: " in str(refused.value)


@on_demand
def test_a_login_by_kerberos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gssapi", reason="the package gssapi is not installed")
    try:
        realm = Realm(tmp_path)
    except KerberosMissing as reason:
        pytest.skip(str(reason))
    for name, value in realm.environment.items():
        monkeypatch.setenv(name, value)
    module = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true useTicketCache=false"
    keys, broker = realm.keys_of("zookeeper/localhost"), realm.keys_of("kafka/localhost")
    jaas = tmp_path / "server.jaas"
    jaas.write_text(f'Server {{ {module} keyTab="{keys}" principal="zookeeper/localhost@{REALM}"; }};')
    options = [f"-Djava.security.auth.login.config={jaas}", f"-Djava.security.krb5.conf={realm.config}"]
    settings = {"authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"}
    login = {
        JAAS_SETTING: f'{module} keyTab="{broker}" principal="kafka/localhost@{REALM}";',
        "zookeeper.set.acl": "true",
    }
    layers = static_layer(overrides=[f"{name}={value}" for name, value in login.items()])
    with (
        realm.serving(),
        one_zookeeper(tmp_path / "zookeeper", settings=settings, java_options=options) as server,
    ):
        store = ZooKeeperStore(
            f"localhost:{server.client_port}/kerberos",
            session_timeout_ms=SESSION_MS,
            protection=zookeeper_protection(layers.settings()),
        )
        store.create("/a")
        owners, _ = store._client.get_acls("/a")
        assert ("sasl", f"kafka/localhost@{REALM}") in {(acl.id.scheme, acl.id.id) for acl in owners}
        store.close()
