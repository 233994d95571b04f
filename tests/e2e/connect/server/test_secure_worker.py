"""A worker of a cluster with TLS and logins, with the settings that Kafka Connect has."""

from pathlib import Path

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.security.tls import pem
from moldau.security.tls.jks import write_jks
from moldau.testing import LocalCluster, Security

LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required username=admin password={};"
STORE_PASSWORD = "swordfish"


def start_and_stop(cluster: LocalCluster, folder: Path, **java: str) -> None:
    given = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "state.dir": str(folder / "state"),
        **{name.replace("_", "."): text for name, text in java.items()},
    }
    overrides = [f"{name}={text}" for name, text in given.items()]
    member = Member(read_configuration(overrides=overrides), "me:8083", is_standalone=True)
    member.start()
    member.stop()


def test_stores_of_java(tmp_path: Path) -> None:
    with LocalCluster(security=Security(users={"admin": "admin-secret"})) as cluster:
        trust = cluster.client_settings("admin")["ssl.ca.location"]
        jks = tmp_path / "trust.jks"
        jks.write_bytes(
            write_jks(STORE_PASSWORD, certificates=pem.certificates_of(Path(trust).read_text()), now_ms=0)
        )
        right = LOGIN.format("admin-secret")
        start_and_stop(
            cluster,
            tmp_path,
            sasl_jaas_config=right,
            ssl_truststore_type="PEM",
            ssl_truststore_location=trust,
        )
        java = {"ssl_truststore_location": str(jks), "ssl_truststore_password": STORE_PASSWORD}
        start_and_stop(cluster, tmp_path, sasl_jaas_config=right, **java)
        wrong = {**java, "sasl_jaas_config": LOGIN.format("guess"), "worker_start_timeout_ms": "5000"}
        with pytest.raises(ConfigError, match=r"no Kafka broker answers .*SASL authentication error"):
            start_and_stop(cluster, tmp_path, **wrong)
        with pytest.raises(ConfigError, match=r"No such configuration property: \"ssl.no\"\. Correct it"):
            start_and_stop(cluster, tmp_path, sasl_jaas_config=right, ssl_no="x", **java)
