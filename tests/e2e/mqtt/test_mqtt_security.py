"""TLS and logins, by the proxy's settings."""

import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from e2e.mqtt.conftest import StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import PATIENCE_S, V5, Wire
from moldau.proxies.mqtt.codec.packets import ConnAck, Connect
from moldau.proxies.mqtt.codec.reason_codes import Reason


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A PEM file with key and certificate of 127.0.0.1."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, found = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=proxy"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(found)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    both = tmp_path / "both.pem"
    both.write_text(key.read_text() + found.read_text())
    return both


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users"
    file.write_text("alice: kde-domov-můj\nbob: secret,guests\n")
    return file


def test_tls(start_proxy: StartProxy, certificate: Path) -> None:
    proxy = start_proxy(
        ssl_keystore_location=str(certificate),
        scheme="mqtts",
    )
    client = paho.Client(CallbackAPIVersion.VERSION2, client_id="secure")
    client.tls_set(ca_certs=str(certificate))
    client.connect("127.0.0.1", proxy.port)
    client.loop_start()
    sent = client.publish("a/b", b"x" * 200_000, 1)
    sent.wait_for_publish(PATIENCE_S)
    assert sent.is_published()
    client.disconnect()
    client.loop_stop()
    address = ("127.0.0.1", proxy.port)
    with (
        socket.create_connection(address, PATIENCE_S) as untrusting,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        ssl.create_default_context().wrap_socket(untrusting, server_hostname="127.0.0.1")
    with Wire(proxy.port) as plain:
        plain.send(Connect("plain"))
        assert plain.is_closed()


def answer(proxy: MqttProxy, version: int, name: str | None, password: bytes | None) -> int:
    with Wire(proxy.port, version) as wire:
        wire.send(Connect("someone", version, username=name, password=password))
        code = wire.expect(ConnAck).code
        if code:
            assert wire.is_closed()
        return code


def test_logins(start_proxy: StartProxy, users: Path) -> None:
    proxy = start_proxy(
        authentication_method="BASIC", authentication_users_file=str(users), authentication_roles="guests"
    )
    assert answer(proxy, 4, "bob", b"secret") == 0
    assert answer(proxy, 4, "bob", b"wrong") == 4
    assert answer(proxy, 4, "alice", "kde-domov-můj".encode()) == 4  # she has not the role
    assert answer(proxy, 4, None, None) == 5
    assert answer(proxy, V5, "bob", b"secret") == 0
    assert answer(proxy, V5, "bob", b"\xff") == Reason.BAD_USER_NAME_OR_PASSWORD
    assert answer(proxy, V5, None, None) == Reason.NOT_AUTHORIZED
    assert "secret" not in proxy.log_text()
