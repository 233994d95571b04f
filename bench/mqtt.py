"""The MQTT proxy beside mosquitto: publishes of QoS 1 per second, and what ten thousand idle connections take.

python bench/mqtt.py [--case publish|bridge|idle|all] [--connections N] [--window N] [--seconds S] [--rounds N]
                     [--idle N]

Moldau's PUBACK means that the record is in Kafka (`acks=all`), mosquitto's that it has the message. The client sends
windows of prepared packets over some connections and counts the bytes of the answers, so that it costs little. The
two take turns; the figures are medians. Ends with code 1 when a bar is missed.

`bridge` compares the ways into Kafka: clients of the proxy, and clients of a mosquitto whose bridge hands their
messages on to the proxy. Counted are records in Kafka when the time is over.
"""

import argparse
import contextlib
import os
import resource
import selectors
import shutil
import socket
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from process_cost import cpu_seconds, memory
from systems import ServerProcess, StockMoldau

PAYLOAD = b"x" * 100
CONNACK = b"\x20\x02\0\0"
RATIO_MIN = 1.0
IDLE_MB_MAX = 200.0
OPEN_FILES = 60_000
PATIENCE_S = 60
STILL_S = 1.0


class Proxy(ServerProcess):
    """`moldau mqtt` in front of a broker."""

    def __init__(self, folder: Path, bootstrap: str) -> None:
        super().__init__(folder)
        self._bootstrap = bootstrap

    def command(self) -> list[str]:
        moldau = str(Path(sys.executable).with_name("moldau"))
        return [moldau, "mqtt", "-b", self._bootstrap, "--listen", f"mqtt://127.0.0.1:{self.port}"]

    def is_ready(self) -> bool:
        return any(line.startswith("ready") for line in self.log_text().splitlines())


class Mosquitto(ServerProcess):
    """Stock, except for the port, and TCP_NODELAY: without it the answers of a window wait for each other.

    With a port of a proxy it has a bridge, which drops nothing.
    """

    def __init__(self, folder: Path, proxy_port: int | None = None) -> None:
        super().__init__(folder)
        self._bridge = ""
        if proxy_port is not None:
            self._bridge = (
                "max_queued_messages 0\nconnection kafka\n"
                f"address 127.0.0.1:{proxy_port}\nremote_clientid bench-bridge\ncleansession false\n"
                "restart_timeout 1\ntopic bench/# out 1\n"
            )

    def command(self) -> list[str]:
        binary = shutil.which("mosquitto", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
        if binary is None:
            raise SystemExit("mosquitto is not installed: apt-get install mosquitto")
        file = self.folder / "mosquitto.conf"
        file.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n{self._bridge}"
        )
        return [binary, "-c", str(file)]

    def is_ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def moldau(folder: Path) -> Iterator[tuple[int, list[int]]]:
    """Port and processes."""
    with StockMoldau(folder / "broker") as broker, Proxy(folder / "proxy", broker.bootstrap) as proxy:
        yield proxy.port, [proxy.pid, broker.pid]


@contextmanager
def mosquitto(folder: Path) -> Iterator[tuple[int, list[int]]]:
    """Port and process."""
    with Mosquitto(folder / "mosquitto") as server:
        yield server.port, [server.pid]


SYSTEMS = {"moldau": moldau, "mosquitto": mosquitto}


def connected(port: int, client_id: str) -> socket.socket:
    """A connection whose CONNECT was accepted: 3.1.1, a clean session, no keep alive."""
    one = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    name = client_id.encode()
    body = b"\0\4MQTT\4\2\0\0" + struct.pack(">H", len(name)) + name
    one.sendall(bytes((0x10, len(body))) + body)
    answer = b""
    while len(answer) < len(CONNACK):
        answer += one.recv(16)
    assert answer == CONNACK, answer
    return one


def publishes(topic: str, window: int) -> bytes:
    """A window of packets with the identifiers 1, 2, 3..."""
    name = topic.encode()
    head = bytes((0x32, 2 + len(name) + 2 + len(PAYLOAD))) + struct.pack(">H", len(name)) + name
    return b"".join(head + struct.pack(">H", number) + PAYLOAD for number in range(1, window + 1))


def publish_rate(port: int, connections: int, window: int, seconds: float) -> float:
    """Acknowledged publishes per second."""
    selector = selectors.DefaultSelector()
    wire = [publishes(f"bench/{number}", window) for number in range(connections)]
    clients = [connected(port, f"bench-{number}") for number in range(connections)]
    missing = [4 * window] * connections
    for number, client in enumerate(clients):
        selector.register(client, selectors.EVENT_READ, number)
        client.sendall(wire[number])
    acknowledged = 0
    began = time.monotonic()
    end = began + seconds
    while time.monotonic() < end:
        for key, _ in selector.select(1):
            number = key.data
            got = len(clients[number].recv(1 << 16))
            assert got, "the server has closed a connection"
            acknowledged += got
            missing[number] -= got
            if missing[number] <= 0:
                missing[number] += 4 * window
                clients[number].sendall(wire[number])
    took_s = time.monotonic() - began
    for client in clients:
        client.close()
    return acknowledged / 4 / took_s


def compare_publishes(folder: Path, arguments: argparse.Namespace) -> bool:
    rates: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    with contextlib.ExitStack() as stack:
        ports = {name: stack.enter_context(start(folder / name)) for name, start in SYSTEMS.items()}
        for number in range(arguments.rounds + 1):
            for name, (port, pids) in ports.items():
                before = sum(cpu_seconds(pid) for pid in pids)
                rate = publish_rate(port, arguments.connections, arguments.window, arguments.seconds)
                cpu_s = sum(cpu_seconds(pid) for pid in pids) - before
                if number:  # the first round warms up
                    rates[name].append(rate)
                    per_us = cpu_s / (rate * arguments.seconds) * 1e6
                    print(f"{name:10}{rate:>10,.0f} publishes/s{per_us:>8.1f} us of CPU each", flush=True)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    ratio = medians["moldau"] / medians["mosquitto"]
    verdict = "pass" if ratio >= RATIO_MIN else "FAIL"
    print(
        f"QoS 1, {arguments.connections} connections, windows of {arguments.window}: "
        f"moldau {medians['moldau']:,.0f}/s, mosquitto {medians['mosquitto']:,.0f}/s, "
        f"ratio {ratio:.2f}, at least {RATIO_MIN}: {verdict}"
    )
    return ratio >= RATIO_MIN


def records(bootstrap: str) -> int:
    """In the topic of the proxy."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench"})
    partitions = consumer.list_topics("mqtt", PATIENCE_S).topics["mqtt"].partitions
    ends = [consumer.get_watermark_offsets(TopicPartition("mqtt", one), PATIENCE_S)[1] for one in partitions]
    consumer.close()
    return sum(ends)


def compare_bridge(folder: Path, arguments: argparse.Namespace) -> bool:
    rates: dict[str, list[float]] = {"moldau": [], "bridge": []}
    with (
        StockMoldau(folder / "broker") as broker,
        Proxy(folder / "proxy", broker.bootstrap) as proxy,
        Mosquitto(folder / "mosquitto", proxy.port) as bridge,
    ):
        for number in range(arguments.rounds + 1):
            for name, port in (("moldau", proxy.port), ("bridge", bridge.port)):
                before = records(broker.bootstrap)
                taken = publish_rate(port, arguments.connections, arguments.window, arguments.seconds)
                arrived = (records(broker.bootstrap) - before) / arguments.seconds
                if number:
                    rates[name].append(arrived)
                    print(
                        f"{name:10}{taken:>10,.0f} publishes/s{arrived:>10,.0f} records/s in Kafka",
                        flush=True,
                    )
                wait_until_still(broker.bootstrap)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    ratio = medians["moldau"] / max(medians["bridge"], 1)
    verdict = "pass" if ratio >= RATIO_MIN else "FAIL"
    print(
        f"into Kafka, {arguments.connections} connections, windows of {arguments.window}: moldau "
        f"{medians['moldau']:,.0f}/s, mosquitto with its bridge {medians['bridge']:,.0f}/s, ratio {ratio:.2f}, "
        f"at least {RATIO_MIN}: {verdict}"
    )
    return ratio >= RATIO_MIN


def wait_until_still(bootstrap: str) -> None:
    """What mosquitto has kept for its bridge has arrived."""
    before = -1
    while (now := records(bootstrap)) != before:
        before = now
        time.sleep(STILL_S)


def compare_idle(folder: Path, arguments: argparse.Namespace) -> bool:
    taken = {}
    for name, start in SYSTEMS.items():
        with start(folder / f"idle-{name}") as (port, pids):
            alone = memory(pids[0]).rss_mb
            clients = [connected(port, f"idle-{number}") for number in range(arguments.idle)]
            taken[name] = memory(pids[0]).rss_mb
            print(
                f"{name:10}{arguments.idle:,} idle connections: {taken[name]:.1f} MB, {alone:.1f} MB without them",
                flush=True,
            )
            for client in clients:
                client.close()
    verdict = "pass" if taken["moldau"] <= IDLE_MB_MAX else "FAIL"
    print(f"{arguments.idle:,} idle connections: at most {IDLE_MB_MAX:.0f} MB: {verdict}")
    return taken["moldau"] <= IDLE_MB_MAX


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--case", choices=("publish", "bridge", "idle", "all"), default="all")
    parser.add_argument("--connections", type=int, default=10)
    parser.add_argument("--window", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle", type=int, default=10_000)
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, hard), hard))
    passed = True
    with tempfile.TemporaryDirectory(prefix="moldau-mqtt-") as folder:
        if arguments.case in ("publish", "all"):
            passed &= compare_publishes(Path(folder), arguments)
        if arguments.case in ("bridge", "all"):
            passed &= compare_bridge(Path(folder) / "bridge", arguments)
        if arguments.case in ("idle", "all"):
            passed &= compare_idle(Path(folder), arguments)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
