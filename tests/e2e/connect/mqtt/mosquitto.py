"""A mosquitto for tests: with a user, rights by topic, a session store, and TLS on a second port."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from connect_kit import eventually
from database_servers import free_port

USER, PASSWORD = "moldau", "kde-domov-můj"
STARTS_MAX = 3


class Mosquitto:
    """Listens on 127.0.0.1. It can be stopped and started again on the same ports, and then has its sessions."""

    def __init__(self, folder: Path, binary: str) -> None:
        self.folder = folder
        self._binary = binary
        self.port = self.tls_port = 0
        self.certificate = folder / "server.pem"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def config(self) -> dict[str, str]:
        """What a connector needs to reach it."""
        return {
            "name": "gauges",
            "mqtt.server.uri": f"tcp://127.0.0.1:{self.port}",
            "mqtt.username": USER,
            "mqtt.password": PASSWORD,
            "mqtt.connect.timeout.seconds": "60",
        }

    def prepare(self) -> None:
        self.port, self.tls_port = free_port(), free_port()
        (self.folder / "rights").write_text(
            f"user {USER}\ntopic readwrite sensors/#\ntopic readwrite orders/#\ntopic readwrite orders\n"
            "topic write write-only\n"
        )
        passwords = self.folder / "passwords"
        passwords.touch()
        run("mosquitto_passwd", "-b", str(passwords), USER, PASSWORD)
        run(
            *(
                "openssl",
                "req",
                "-x509",
                "-nodes",
                "-newkey",
                "rsa:2048",
                "-days",
                "2",
                "-subj",
                "/CN=gauges",
            ),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(self.folder / "server.key")),
            *("-out", str(self.certificate)),
        )
        (self.folder / "mosquitto.conf").write_text(
            f"per_listener_settings false\n"
            f"allow_anonymous false\npassword_file {passwords}\nacl_file {self.folder / 'rights'}\n"
            f"persistence true\npersistence_location {self.folder}/\nmax_queued_messages 0\n"
            f"max_packet_size 100000\n"
            f"listener {self.port} 127.0.0.1\n"
            f"listener {self.tls_port} 127.0.0.1\n"
            f"certfile {self.certificate}\nkeyfile {self.folder / 'server.key'}\n"
            + ("user root\n" if os.geteuid() == 0 else "")
        )

    def start(self) -> bool:
        with (self.folder / "log").open("ab") as out:
            self._process = subprocess.Popen(
                [self._binary, "-c", str(self.folder / "mosquitto.conf")], stdout=out, stderr=out
            )
        return (
            bool(eventually(lambda: self._is_up() or self._has_ended(), "mosquitto starts")) and self._is_up()
        )

    def stop(self) -> None:
        """It stores its sessions."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(60)
            self._process = None

    def _is_up(self) -> bool:
        with socket.socket() as one:
            return not self._has_ended() and one.connect_ex(("127.0.0.1", self.port)) == 0

    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    @contextmanager
    def client(self, *topics: str) -> Iterator["Peer"]:
        """Of the test, subscribed to the topics."""
        peer = Peer(self.port)
        try:
            peer.subscribe(*topics)
            yield peer
        finally:
            peer.close()


class Peer:
    """Another client of the server."""

    def __init__(self, port: int) -> None:
        self.found: list[tuple[str, bytes, int, bool]] = []
        self._subscribed = 0
        self._client = paho.Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv311)
        self._client.username_pw_set(USER, PASSWORD)
        self._client.on_message = self._take
        self._client.on_subscribe = self._count_subscription
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()
        eventually(self._client.is_connected, "the test's client is connected")

    def subscribe(self, *topics: str) -> None:
        for topic in topics:
            self._client.subscribe(topic, 2)
        eventually(lambda: self._subscribed == len(topics), f"subscriptions to {topics}")

    def publish(self, topic: str, payload: str | bytes, qos: int = 1, *, retain: bool = False) -> None:
        """Returns when the server has the message."""
        sent = self._client.publish(topic, payload, qos, retain)
        eventually(sent.is_published, "the server has the message")

    def publish_all(self, topic: str, payloads: list[str]) -> None:
        sent = [self._client.publish(topic, one, 1) for one in payloads]
        eventually(lambda: all(one.is_published() for one in sent), "the server has the messages")

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _count_subscription(self, *_: object) -> None:
        self._subscribed += 1

    def _take(self, client: object, data: object, message: paho.MQTTMessage) -> None:
        self.found.append((message.topic, bytes(message.payload), message.qos, message.retain))


@contextmanager
def mosquitto(folder: Path) -> Iterator[Mosquitto]:
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    binary = shutil.which("mosquitto", path=path)
    for name, found in (
        ("mosquitto", binary),
        *((one, shutil.which(one)) for one in ("mosquitto_passwd", "openssl")),
    ):
        if found is None:
            pytest.skip(f"{name} is not installed")
    assert binary is not None
    server = Mosquitto(folder, binary)
    try:
        for attempt in range(STARTS_MAX):
            server.prepare()
            if server.start():
                break
            assert attempt + 1 < STARTS_MAX, (folder / "log").read_text()
        yield server
    finally:
        server.stop()


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
