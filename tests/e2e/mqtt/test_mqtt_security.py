"""TLS and logins, by the proxy's settings."""

import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any, Final

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from e2e.mqtt.conftest import StartProxy
from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import PATIENCE_S, V5, Wire, fresh
from moldau.proxies.mqtt.codec.packets import ConnAck, Connect
from moldau.proxies.mqtt.codec.reason_codes import Reason
from moldau.testing import LocalCluster


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


ALICE: Final[dict[str, Any]] = {"username": "alice", "password": "kde-domov-můj".encode()}
BOB: Final[dict[str, Any]] = {"username": "bob", "password": b"secret"}


def refusals(proxy: MqttProxy, client_id: str) -> list[int]:
    """What another user gets who comes with this client identifier, in both versions, with and without its session."""
    codes = []
    for version in (4, V5):
        for clean_start in (False, True):
            with Wire(proxy.port, version) as wire:
                wire.send(Connect(client_id, version, clean_start=clean_start, **BOB))
                codes.append(wire.expect(ConnAck).code)
                assert wire.is_closed()
    return codes


def test_a_session_belongs_to_the_user_who_made_it(start_proxy: StartProxy, users: Path) -> None:
    proxy = start_proxy(authentication_method="BASIC", authentication_users_file=str(users))
    refused = [5, 5, Reason.NOT_AUTHORIZED, Reason.NOT_AUTHORIZED]
    with Wire(proxy.port) as wire:
        wire.connect("device", clean_start=False, **ALICE)
        wire.subscribe("orders/#", qos=1)
        assert refusals(proxy, "device") == refused
        # Her connection was not taken over.
        assert wire.is_silent()
    with Wire(proxy.port) as other:
        other.connect("sender", **ALICE)
        other.publish("orders/1", b"for alice")
        assert refusals(proxy, "sender") == refused
        assert other.is_silent()
    assert refusals(proxy, "device") == refused
    proxy.kill9()
    proxy.start()
    assert refusals(proxy, "device") == refused
    with Wire(proxy.port) as wire:
        assert wire.connect("device", clean_start=False, **ALICE).session_present
        assert wire.message().payload == b"for alice"
    assert "belongs to User:alice" in proxy.log_text()


def test_a_session_without_a_user_is_anyones_and_a_users_is_not(
    start_proxy: StartProxy, kafka: LocalCluster, users: Path, tmp_path: Path
) -> None:
    names = {"proxy.id": fresh("proxy"), "topic.default": fresh("mqtt-")}
    logins = {"authentication.method": "BASIC", "authentication.users.file": str(users)}
    open_proxy = start_proxy(**{key.replace(".", "_"): value for key, value in names.items()})
    for client_id in ("first", "second"):
        with Wire(open_proxy.port) as wire:
            wire.connect(client_id, clean_start=False)
    assert open_proxy.stop() == 0
    with MqttProxy(tmp_path / "closed", kafka.bootstrap_servers, {**names, **logins}) as proxy:
        with Wire(proxy.port) as wire:
            assert wire.connect("first", clean_start=False, **ALICE).session_present
        assert refusals(proxy, "first") == [5, 5, Reason.NOT_AUTHORIZED, Reason.NOT_AUTHORIZED]
        assert proxy.stop() == 0
    open_proxy.start()
    with Wire(open_proxy.port) as wire:
        wire.send(Connect("first", 4, clean_start=False))
        assert wire.expect(ConnAck).code == 5
    with Wire(open_proxy.port) as wire:
        assert wire.connect("second", clean_start=False).session_present
