"""Settings of Java's Kafka clients, as librdkafka takes them."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.connectors.mirror.client_settings import client_settings
from moldau.pipeline.connect.data.java_clients import librdkafka_settings
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.security.tls.jks import write_jks
from tls_files import PASSWORD, TlsFiles, make_tls_files, pkcs12_store

LOGIN = "org.apache.kafka.common.security"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> TlsFiles:
    return make_tls_files(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize(
    ("jaas", "wanted"),
    [
        (
            rf'{LOGIN}.plain.PlainLoginModule required username="me" password="a\"b;";',
            {"sasl.username": "me", "sasl.password": 'a"b;'},
        ),
        (
            f'{LOGIN}.oauthbearer.OAuthBearerLoginModule required clientId="me" clientSecret="word" scope="all";',
            {
                "sasl.oauthbearer.client.id": "me",
                "sasl.oauthbearer.client.secret": "word",
                "sasl.oauthbearer.scope": "all",
                "sasl.oauthbearer.method": "oidc",
            },
        ),
        (
            f'{LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="me";',
            {"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": "principal=me"},
        ),
        (
            'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/k" principal="me@R";',
            {"sasl.kerberos.keytab": "/k", "sasl.kerberos.principal": "me@R"},
        ),
        ("com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true;", {}),
    ],
)
def test_logins(jaas: str, wanted: dict[str, str]) -> None:
    assert librdkafka_settings({"sasl.jaas.config": jaas}).settings == wanted


def test_names() -> None:
    java = {
        "fetch.max.wait.ms": "7",
        "ssl.endpoint.identification.algorithm": "",
        "ssl.enabled.protocols": "TLSv1.3",
        "client.id": "me",
    }
    translated = librdkafka_settings(java, of="consumer.override.")
    assert translated.settings == {
        "fetch.wait.max.ms": "7",
        "ssl.endpoint.identification.algorithm": "none",
        "client.id": "me",
    }
    assert translated.ignored == ["consumer.override.ssl.enabled.protocols"]


def test_stores(tmp_path: Path, files: TlsFiles) -> None:
    der = files.authority.certificate.public_bytes(Encoding.DER)
    trust, key, text = tmp_path / "trust.jks", tmp_path / "key.p12", tmp_path / "trust.pem"
    trust.write_bytes(write_jks(PASSWORD, certificates=[der], now_ms=0))
    mine = files.issue("mirror", hosts=("localhost",))
    key.write_bytes(pkcs12_store(mine, files.authority))
    text.write_text(files.authority.certificate_pem)
    java = {
        "ssl.truststore.location": str(trust),
        "ssl.truststore.password": PASSWORD,
        "ssl.keystore.location": str(key),
        "ssl.keystore.password": PASSWORD,
        "ssl.keystore.type": "PKCS12",
    }
    found = client_settings(
        {f"source.cluster.{name}": value for name, value in java.items()}, "source", "admin"
    )
    assert found["ssl.ca.pem"] == files.authority.certificate_pem
    assert found["ssl.key.pem"] == mine.key_pem
    assert found["ssl.certificate.pem"].startswith(mine.certificate_pem)
    assert not any("store" in name for name in found)
    worker = read_configuration(f"ssl.truststore.type=PEM\nssl.truststore.location={text}\n")
    assert worker.client["ssl.ca.location"] == str(text)
    assert not any("store" in name for name in worker.client)


def test_what_cannot_be_used_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"source.cluster.sasl.jaas.config has no username"):
        librdkafka_settings({"sasl.jaas.config": "x required;"}, of="source.cluster.")
    with pytest.raises(ConfigError, match=r"source.cluster.ssl.*cannot read .*ssl.truststore.location"):
        librdkafka_settings({"ssl.truststore.location": str(tmp_path / "no")}, of="source.cluster.")
