"""The cluster of the book's chapter on security: two brokers with three listeners each, keys made with keytool and
openssl, a JAAS file, ACLs, and a ZooKeeper that wants a login."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import free_port
from kerberos_kit import REALM, KerberosMissing, Realm
from moldau.coordination.zookeeper_server import ZooKeeperServer
from zookeeper_kit import one_zookeeper

PASSWORD = "masquerade"
NAME = "CN=kia.manning.com, OU=TEST, O=MASQUERADE, L=Portland, S=Or, C=US"
BROKER = "User:CN=kia.manning.com,OU=TEST,O=MASQUERADE,L=Portland,ST=Or,C=US"
USERS = ("Franz", "Hemingway", "Clueless")
KERBEROS_MODULE = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"


class Stores:
    """The steps of the book (X1, X2): a key for the broker, an authority, a certificate signed by it, and both
    certificates in the stores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca = folder / "ca.crt"
        self.keys, self.trust = folder / "kafka.broker0.keystore.jks", folder / "kafka.server.truststore.jks"
        secrets = ("-storepass", PASSWORD, "-keypass", PASSWORD)
        request, signed, names = folder / "cert-file", folder / "cert-signed", folder / "names"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self._run(
            "keytool", "-genkey", "-noprompt", "-alias", "localhost", "-dname", NAME, "-keystore", self.keys,
            "-keyalg", "RSA", "-keysize", "2048", "-validity", "365", *secrets,
        )  # fmt: skip
        key = folder / "ca.key"
        self._run(
            "openssl", "req", "-new", "-x509", "-nodes", "-days", "365", "-subj", "/CN=kia", "-keyout", key,
            "-out", self.ca,
        )  # fmt: skip
        authority = ("-importcert", "-noprompt", "-alias", "CARoot", "-file", self.ca, "-storepass", PASSWORD)
        self._run("keytool", *authority, "-keystore", self.trust)
        self._run(
            "keytool", "-certreq", "-alias", "localhost", "-keystore", self.keys, "-file", request, *secrets
        )
        self._run(
            "openssl", "x509", "-req", "-CA", self.ca, "-CAkey", key, "-CAcreateserial", "-days", "365",
            "-in", request, "-out", signed, "-extfile", names,
        )  # fmt: skip
        self._run("keytool", *authority, "-keystore", self.keys)
        self._run(
            "keytool", "-importcert", "-noprompt", "-alias", "localhost", "-file", signed, "-keystore", self.keys,
            *secrets,
        )  # fmt: skip

    def _run(self, tool: str, *arguments: str | Path) -> None:
        command = shutil.which(tool)
        if command is None:
            pytest.skip(f"{tool} is not installed")
        quick = ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"] if tool == "keytool" else []
        done = subprocess.run(
            [command, *quick, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stdout + done.stderr


class BookCluster:
    def __init__(self, folder: Path, stores: Stores, realm: Realm, zookeeper: ZooKeeperServer) -> None:
        self.stores, self.zookeeper = stores, zookeeper
        self.client_keys = realm.keys_of("kafkaclient")
        broker_keys = realm.keys_of("kafka/localhost")
        users = " ".join(f'user_{user}="{user}-secret"' for user in USERS)
        self.jaas = folder / "kafka_server_jaas.conf"
        self.jaas.write_text(f"""
KafkaServer {{
  {KERBEROS_MODULE} keyTab="{broker_keys}" principal="kafka/localhost@{REALM}";
  org.apache.kafka.common.security.plain.PlainLoginModule required {users};
}};
Client {{
  org.apache.zookeeper.server.auth.DigestLoginModule required username="broker" password="broker-secret";
}};
""")
        self.jaas.chmod(0o600)
        self.brokers = [self._broker(folder / f"broker{number}", number) for number in (0, 1)]

    def _broker(self, folder: Path, number: int) -> MoldauBroker:
        ports = {name: free_port() for name in ("PLAINTEXT", "SSL", "SASL_SSL")}
        settings = {
            "broker.id": str(number),
            "zookeeper.connect": f"{self.zookeeper.address}/book",
            "zookeeper.set.acl": "true",
            "listeners": ",".join(f"{name}://localhost:{port}" for name, port in ports.items()),
            "ssl.truststore.location": str(self.stores.trust),
            "ssl.truststore.password": PASSWORD,
            "ssl.keystore.location": str(self.stores.keys),
            "ssl.keystore.password": PASSWORD,
            "ssl.key.password": PASSWORD,
            # So that a broker is somebody for the other one.
            "ssl.client.auth": "requested",
            "security.inter.broker.protocol": "SSL",
            "sasl.enabled.mechanisms": "GSSAPI,PLAIN",
            "authorizer.class.name": "kafka.security.auth.SimpleAclAuthorizer",
            "super.users": f"User:Franz;{BROKER}",
            "offsets.topic.replication.factor": "1",
            "group.initial.rebalance.delay.ms": "0",
        }
        broker = MoldauBroker(folder, settings)
        broker.port = ports["PLAINTEXT"]
        return broker

    def address(self, listener: str) -> str:
        listeners = self.brokers[0]._settings["listeners"].split(",")
        return next(each for each in listeners if each.startswith(f"{listener}:")).partition("://")[2]

    def login(self, user: str) -> dict[str, str]:
        return {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.stores.ca),
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": f"{user}-secret",
        }


@contextmanager
def book_cluster(folder: Path) -> Iterator[BookCluster]:
    """Of the environment, `KAFKA_OPTS` and the variables of Kerberos are changed for a while."""
    server_jaas = folder / "zookeeper_jaas.conf"
    server_jaas.write_text(
        'Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_broker="broker-secret"; };'
    )
    stores = Stores(folder)
    settings = {
        "authProvider.1": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "requireClientAuthScheme": "sasl",
        "jaasLoginRenew": "3600000",
    }
    options = [f"-Djava.security.auth.login.config={server_jaas}"]
    try:
        realm = Realm(folder)
    except KerberosMissing as reason:
        pytest.skip(str(reason))
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in realm.environment.items():
            patch.setenv(name, value)
        stack.enter_context(realm.serving())
        server = stack.enter_context(
            one_zookeeper(folder / "zookeeper", settings=settings, java_options=options)
        )
        cluster = BookCluster(folder, stores, realm, server)
        patch.setenv(
            "KAFKA_OPTS",
            f"-Djava.security.auth.login.config={cluster.jaas} -Djava.security.krb5.conf={realm.config} "
            "-Dsun.security.krb5.debug=true",
        )
        for broker in cluster.brokers:
            stack.enter_context(broker)
        yield cluster
