"""A registry with HTTPS and logins, certificates from `moldau certs`, as its clients meet it."""

from pathlib import Path

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from e2e.cli.shell import Shell
from moldau.testing import LocalCluster, LocalRegistry

LOGIN = "alice:wonder land"


@pytest.fixture(scope="module")
def certificates(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certs") / "certs"
    shell = Shell(cluster.bootstrap_servers)
    shell.run("certs", "init", "--folder", str(folder))
    shell.run("certs", "issue", "registry", "--host", "127.0.0.1", "--folder", str(folder))
    (folder / "users").write_text("alice: wonder land\n")
    return folder


def settings_of(certificates: Path) -> dict[str, str]:
    return {
        "listeners": "https://127.0.0.1:0",
        "ssl.keystore.location": str(certificates / "registry.pem"),
        "authentication.method": "BASIC",
        "authentication.users.file": str(certificates / "users"),
        "kafkastore.topic": "_secure_schemas",
        "schema.registry.group.id": "secure-registry",
    }


@pytest.fixture
def registry(cluster: LocalCluster, certificates: Path) -> LocalRegistry:
    return LocalRegistry(cluster.bootstrap_servers, settings_of(certificates))


def test_clients_log_in_and_others_are_refused(
    registry: LocalRegistry, cluster: LocalCluster, certificates: Path
) -> None:
    trust = str(certificates / "trust.pem")
    with registry:
        assert registry.url.startswith("https://")
        settings = {"url": registry.url, "ssl.ca.location": trust}
        with SchemaRegistryClient({**settings, "basic.auth.user.info": LOGIN}) as client:
            assert client.register_schema("secret-value", Schema('"string"', "AVRO")) >= 1
        with (
            SchemaRegistryClient({**settings, "basic.auth.user.info": "alice:wrong"}) as client,
            pytest.raises(SchemaRegistryError) as refused,
        ):
            client.get_subjects()
        assert refused.value.http_status_code == 401

        shell = Shell(cluster.bootstrap_servers)
        shell.environment["MOLDAU_REGISTRY"] = registry.url.replace("//", "//alice:wonder%20land@")
        untrusted = shell.run("schemas", "list", code=1)
        assert "SSL_CERT_FILE=trust.pem" in untrusted
        shell.environment["SSL_CERT_FILE"] = trust
        assert "secret-value" in shell.run("schemas", "list")
        shell.environment["MOLDAU_REGISTRY"] = registry.url
        assert "Unauthorized" in shell.run("schemas", "list", code=1)


def test_an_instance_passes_writes_on_over_https(
    registry: LocalRegistry, cluster: LocalCluster, certificates: Path
) -> None:
    trust = str(certificates / "trust.pem")
    not_primary = {**settings_of(certificates), "leader.eligibility": "false"}
    with (
        registry,
        LocalRegistry(cluster.bootstrap_servers, not_primary) as untrusting,
        LocalRegistry(
            cluster.bootstrap_servers, {**not_primary, "ssl.truststore.location": trust}
        ) as trusting,
    ):
        settings = {"ssl.ca.location": trust, "basic.auth.user.info": LOGIN, "max.retries": 0}
        with SchemaRegistryClient({**settings, "url": trusting.url}) as client:
            assert client.register_schema("passed-on", Schema('"string"', "AVRO")) >= 1
        with (
            SchemaRegistryClient({**settings, "url": untrusting.url}) as client,
            pytest.raises(SchemaRegistryError, match=r"Set ssl\.truststore\.location") as refused,
        ):
            client.register_schema("not-passed-on", Schema('"string"', "AVRO"))
        assert refused.value.error_code == 50003
