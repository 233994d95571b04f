"""What commands say, and how soon, when they and the broker do not agree on TLS or logins."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.cli.shell import Shell
from moldau.cli.client.mismatch import mismatch
from moldau.cli.client.wire_security import Security as ClientSecurity
from moldau.security.certificates.certificate_folder import CertificateFolder
from moldau.security.certificates.export import StoreKind, key_store
from moldau.testing import LocalCluster, Security

PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def secured() -> Iterator[LocalCluster]:
    """Asks its clients for certificates."""
    with LocalCluster(security=Security(protocol="SSL", users={"admin": ""})) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> CertificateFolder:
    """Nobody trusts this authority."""
    found = CertificateFolder(tmp_path_factory.mktemp("stranger"))
    found.create("stranger")
    found.issue("admin")
    return found


def said(cluster: LocalCluster, **properties: object) -> str | None:
    host, _, port = cluster.bootstrap_servers.partition(":")
    texts = {name.replace("_", "."): str(value) for name, value in properties.items()}
    found = mismatch((host, int(port)), ClientSecurity(texts), PATIENCE_S)
    return None if found is None else f"{found.message} {found.hint}"


def test_what_is_wrong(secured: LocalCluster, stranger: CertificateFolder) -> None:
    own = secured.certificates
    trusting = {"security_protocol": "ssl", "ssl_ca_location": own.trust}
    assert "speaks TLS" in str(said(secured))
    distrusting = str(said(secured, security_protocol="ssl", ssl_ca_location=stranger.trust))
    assert "is not accepted" in distrusting and "set ssl.ca.location" in distrusting
    assert "asks for a certificate" in str(said(secured, **trusting))
    refused = said(
        secured,
        **trusting,
        ssl_certificate_location=stranger.certificate_file("admin"),
        ssl_key_location=stranger.key_file("admin"),
    )
    assert "refuses the certificate" in str(refused)


def test_nothing_is_wrong(secured: LocalCluster, tmp_path: Path) -> None:
    """In each of the ways in which librdkafka takes a certificate."""
    own = secured.certificates
    trusting = {"security_protocol": "ssl", "ssl_ca_location": own.trust}
    certificate, key = own.certificate_file("admin"), own.key_file("admin")
    assert said(secured, **trusting, ssl_certificate_location=certificate, ssl_key_location=key) is None
    pem = {"ssl_certificate_pem": certificate.read_text(), "ssl_key_pem": key.read_text()}
    inline = {"security_protocol": "ssl", "ssl_ca_pem": own.trust.read_text().replace("\n", "\\n")}
    assert said(secured, **inline, **pem) is None
    store = tmp_path / "admin.p12"
    issued = own.find("admin")
    store.write_bytes(
        key_store(StoreKind.PKCS12, "admin", issued, own.authority().certificate, "geheim", now_ms=0)
    )
    assert said(secured, **trusting, ssl_keystore_location=store, ssl_keystore_password="geheim") is None


def test_tls_to_a_listener_without(stranger: CertificateFolder) -> None:
    with LocalCluster() as plain:
        found = said(plain, security_protocol="ssl", ssl_ca_location=stranger.trust)
        assert "does not speak TLS" in str(found)
        assert said(plain) is None


def test_logins() -> None:
    login = {"sasl_username": "admin", "sasl_password": "any"}
    with LocalCluster(security=Security(protocol="SASL_PLAINTEXT")) as cluster:
        missing = str(said(cluster))
        assert "asks for a login, and security.protocol=plaintext has none" in missing
        assert "sasl.mechanism (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)" in missing
        other = said(cluster, security_protocol="sasl_plaintext", sasl_mechanism="OAUTHBEARER")
        assert "does not support sasl.mechanism=OAUTHBEARER. It supports PLAIN" in str(other)
        assert said(cluster, security_protocol="sasl_plaintext", sasl_mechanism="PLAIN", **login) is None
    with LocalCluster() as plain:
        found = said(plain, security_protocol="sasl_plaintext", sasl_mechanism="PLAIN", **login)
        assert "has no logins" in str(found)


@pytest.mark.parametrize("command", [("topics", "list"), ("groups", "list"), ("produce", "x")])
def test_commands_do_not_wait_for_their_timeout(secured: LocalCluster, command: tuple[str, ...]) -> None:
    shell = Shell(secured.bootstrap_servers)
    begun_s = time.monotonic()
    error = shell.run(*command, "--timeout", str(PATIENCE_S), code=1, stdin="x\n")
    assert "speaks TLS, and security.protocol=plaintext does not" in error
    assert "Set security.protocol=ssl" in error
    assert time.monotonic() - begun_s < PATIENCE_S
