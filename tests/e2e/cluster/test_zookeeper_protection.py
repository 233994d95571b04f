"""A real ZooKeeper with logins and TLS, as the documents have it (X10, X20, X30): what a broker does with it, what
others may do with its nodes, and what is said when it does not work."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

from compat.moldau_broker import MoldauBroker
from compat.server_process import free_port
from e2e.cli.shell import Shell
from kerberos_kit import REALM, KerberosMissing, Realm
from moldau.coordination.store import Create, StoreUnavailable
from moldau.coordination.zookeeper import ZooKeeperStore
from moldau.coordination.zookeeper_server import ZooKeeperServer
from moldau.core.errors import ConfigError
from moldau.core.settings.static_layer import static_layer
from moldau.node.zookeeper_access import zookeeper_protection
from store_conformance import Told, eventually
from tls_files import PASSWORD, TlsFiles, make_tls_files, pkcs12_store
from zookeeper_kit import one_zookeeper

SESSION_MS = 60_000
SERVER_JAAS = """
Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_broker="broker-secret" user_other="other-secret";
};
"""
JAAS = "moldau.zookeeper.sasl.jaas.config"
LOGIN = {
    JAAS: 'org.apache.zookeeper.server.auth.DigestLoginModule required username="broker" password="broker-secret";'
}


class Guarded:
    def __init__(self, server: ZooKeeperServer, tls_port: int, files: TlsFiles) -> None:
        self.server = server
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


def store_of(chroot: str, *settings: dict[str, str], connect: str = "") -> ZooKeeperStore:
    merged = {name: value for each in settings for name, value in each.items()}
    parsed = static_layer(overrides=[f"{name}={value}" for name, value in merged.items()]).settings()
    where = connect or merged["zookeeper.connect"]
    return ZooKeeperStore(
        f"{where}/{chroot}", session_timeout_ms=SESSION_MS, protection=zookeeper_protection(parsed)
    )


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
    with one_zookeeper(folder / "zookeeper", settings=settings, java_options=options) as server:
        yield Guarded(server, tls_port, files)


@pytest.fixture
def anyone(guarded: Guarded) -> Iterator[KazooClient]:
    client = KazooClient(guarded.server.address)
    client.start(timeout=60)
    yield client
    client.stop()
    client.close()


def test_a_broker_with_a_login_over_tls_owns_its_nodes(
    guarded: Guarded, anyone: KazooClient, tmp_path: Path
) -> None:
    settings = {**guarded.tls, **LOGIN, "zookeeper.set.acl": "true"}
    settings["zookeeper.connect"] += "/owned"
    with MoldauBroker(tmp_path, settings) as broker:
        shell = Shell(broker.bootstrap)
        shell.run("topics", "create", "clues")
        shell.run("users", "add", "franz", "--password-file", "-", stdin="gregor")
    acls, _ = anyone.get_acls("/owned/brokers/topics/clues")
    assert sorted((acl.id.scheme, acl.id.id, acl.acl_list) for acl in acls) == [
        ("sasl", "broker", ["ALL"]),
        ("world", "anyone", ["READ"]),
    ]
    assert b'"topic_id"' in anyone.get("/owned/brokers/topics/clues")[0]
    changes: list[Callable[[], object]] = [
        lambda: anyone.set("/owned/brokers/topics/clues", b"forged"),
        lambda: anyone.create("/owned/brokers/topics/forged"),
        lambda: anyone.delete("/owned/brokers/topics/clues", recursive=False),
        lambda: anyone.create("/owned/kafka-acl"),
        lambda: anyone.get("/owned/config/users/franz"),
        lambda: anyone.get("/owned/config/brokers/<default>"),
    ]
    for change in changes:
        with pytest.raises(NoAuthError):
            change()


def test_another_login_and_no_login_may_read_only(guarded: Guarded) -> None:
    own = store_of("shared", guarded.tls, LOGIN, {"zookeeper.set.acl": "true"})
    own.create("/brokers", b"1")
    other = {JAAS: LOGIN[JAAS].replace('"broker', '"other')}
    for store in (
        store_of("shared", guarded.tls, other),
        store_of("shared", connect=guarded.server.address),
    ):
        assert store.get("/brokers").data == b"1"
        with pytest.raises(StoreUnavailable, match="/brokers, which belongs to another login"):
            store.set("/brokers", b"2")
        with pytest.raises(StoreUnavailable, match="/brokers, which belongs to another login"):
            store.create("/brokers/ids")
        store.close()
    own.set("/brokers", b"3")
    own.close()


def test_nodes_that_were_open_before_are_told_of(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    before = store_of("before", guarded.tls)
    before.create("/brokers")
    before.close()
    store_of("before", guarded.tls, LOGIN, {"zookeeper.set.acl": "true"}).close()
    assert "everybody may still change /brokers" in caplog.text


def test_a_certificate_is_an_owner_too(guarded: Guarded) -> None:
    store = store_of("certified", guarded.tls, guarded.certificate, {"zookeeper.set.acl": "true"})
    store.create("/a")
    owners, _ = store._client.get_acls("/a")
    assert {acl.id.scheme for acl in owners} == {"x509", "world"}
    store.close()


def test_many_nodes_come_over_tls_and_a_new_connection_logs_in_again(guarded: Guarded) -> None:
    store = store_of("many", guarded.tls, LOGIN, {"zookeeper.set.acl": "true"})
    told = Told()
    store.watch(told)
    store.create("/folder")
    paths = [f"/folder/{number}" for number in range(500)]
    store.multi([Create(path, b"x" * 1000) for path in paths])
    found = store.read_many(paths)
    assert all(reading is not None and reading.data == b"x" * 1000 for reading in found)
    guarded.server.kill()
    eventually(lambda: "disconnected" in told.sessions)
    guarded.server.start()
    eventually(lambda: "same session" in told.sessions)
    store.set("/folder/0", b"mine")
    eventually(lambda: "/folder/0" in told.paths)
    store.close()


def test_what_does_not_work_is_said(guarded: Guarded, tmp_path: Path) -> None:
    wrong = {JAAS: LOGIN[JAAS].replace("broker-secret", "wrong")}
    with pytest.raises(
        StoreUnavailable, match=r"the login to ZooKeeper at 127\.0\.0\.1 failed: the server refu"
    ):
        store_of("x", wrong, connect=guarded.server.address)
    stranger = make_tls_files(tmp_path / "other")
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


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"zookeeper.set.acl": "true"}, f"neither logs in .* set {JAAS}="),
        ({JAAS: "DigestLoginModule required username=a;"}, f"{JAAS} has no password"),
        ({JAAS: "PlainLoginModule required username=a password=b;"}, "ZooKeeper has .*DigestLoginModule"),
        ({JAAS: 'Krb5LoginModule required keyTab="/nowhere" principal="a@B";'}, "no file /nowhere"),
        (
            {"zookeeper.ssl.client.enable": "true", "zookeeper.ssl.truststore.location": "/nowhere"},
            r"cannot read /nowhere \(zookeeper\.ssl\.truststore\.location\)",
        ),
        (
            {
                "zookeeper.ssl.client.enable": "true",
                "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNIO",
            },
            "has no TLS",
        ),
        ({"zookeeper.ssl.client.enable": "true", "zookeeper.ssl.ocsp.enable": "true"}, "OCSP"),
        ({"zookeeper.ssl.client.enable": "true", "zookeeper.ssl.crl.enable": "true"}, "no revocation list"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, str], complaint: str) -> None:
    layers = static_layer(overrides=[f"{name}={value}" for name, value in settings.items()])
    with pytest.raises(ConfigError, match=complaint):
        protection = zookeeper_protection(layers.settings())
        assert protection.tls is not None
        protection.tls()


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
        JAAS: f'{module} keyTab="{broker}" principal="kafka/localhost@{REALM}";',
        "zookeeper.set.acl": "true",
    }
    with (
        realm.serving(),
        one_zookeeper(tmp_path / "zookeeper", settings=settings, java_options=options) as server,
    ):
        store = store_of("kerberos", login, connect=f"localhost:{server.client_port}")
        store.create("/a")
        owners, _ = store._client.get_acls("/a")
        assert ("sasl", f"kafka/localhost@{REALM}") in {(acl.id.scheme, acl.id.id) for acl in owners}
        store.close()
