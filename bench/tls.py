"""What TLS costs: the same client produces and consumes, plain and encrypted, with Moldau and with Apache Kafka.

python bench/tls.py [--repeats N] [--quick] [--systems moldau kafka] [--output json]

Both brokers have a plain listener and one with TLS, with the same certificate (EC P-256). The runs of a repeat follow
each other, in turning order. Ends with code 1 if Moldau with TLS is slower than Kafka with TLS.
"""

import argparse
import json
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from arena import Arena, Scale
from load_client import load
from process_cost import cpu_seconds
from systems import (
    SYSTEMS,
    ServerProcess,
    create_topic,
    delete_topic,
    stop_servers_on_sigterm,
)
from tls_files import TlsFiles, make_tls_files

RECORDS = {100: 5_000_000, 1024: 1_000_000}
PARTITIONS = 6
CONSUMES = 3
QUICK_SHARE = 0.1


@dataclass(frozen=True)
class Run:
    """One way to reach one broker."""

    system: str
    is_encrypted: bool

    @property
    def name(self) -> str:
        return f"{self.system} {'TLS' if self.is_encrypted else 'plain'}"


class Contestant:
    def __init__(self, system: str, folder: Path, files: TlsFiles) -> None:
        self.tls_port = free_port()
        self.server: ServerProcess = SYSTEMS[system](folder / system)
        plain = f"PLAINTEXT://127.0.0.1:{self.server.port},SSL://127.0.0.1:{self.tls_port}"
        settings = {**files.broker_settings(), "listeners": plain}
        if system == "kafka":
            (own,) = [
                line.partition("=")[2]
                for line in (folder / system / "server.properties").read_text().splitlines()
                if line.startswith("listeners=")
            ]
            controller = own.rpartition(",")[2]
            settings["listeners"] = f"{plain},{controller}"
            settings["listener.security.protocol.map"] = "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT"
            with (folder / system / "server.properties").open("a") as properties:
                properties.writelines(f"{name}={text}\n" for name, text in settings.items())
        else:
            self.server._settings.update(settings)
        self.server.start()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def measured(contestant: Contestant, run: Run, record_bytes: int, arena: Arena, ca: Path) -> dict[str, float]:
    server = contestant.server
    records = arena.scale.count(RECORDS[record_bytes])
    topic = create_topic(server, PARTITIONS)
    bootstrap = f"127.0.0.1:{contestant.tls_port}" if run.is_encrypted else server.bootstrap
    shape = {"partitions": PARTITIONS, "record_bytes": record_bytes, "records": records}
    if run.is_encrypted:
        shape["ca"] = str(ca)  # type: ignore[assignment]
    values = {}
    for way, times in (("produce", 1), ("consume", CONSUMES)):
        arena.settle(2 * records * (record_bytes + 10) if way == "produce" else 0)
        before = cpu_seconds(server.pid)
        results = [load(way, bootstrap, topic, **shape) for _ in range(times)]
        gigabytes = sum(result.bytes for result in results) / 1e9
        values[f"{way} MB/s"] = gigabytes * 1000 / sum(result.seconds for result in results)
        values[f"{way} broker s/GB"] = (cpu_seconds(server.pid) - before) / gigabytes
    delete_topic(server, topic)
    return values


def race(
    systems: Sequence[str], repeats: int, scale: Scale, folder: Path
) -> dict[int, dict[str, list[dict[str, float]]]]:
    files = make_tls_files(folder / "tls")
    arena = Arena(folder, scale)
    contestants = {system: Contestant(system, folder, files) for system in systems}
    runs = [Run(system, is_encrypted) for system in systems for is_encrypted in (False, True)]
    found: dict[int, dict[str, list[dict[str, float]]]] = {}
    try:
        for record_bytes in RECORDS:
            values = found[record_bytes] = {run.name: [] for run in runs}
            for repeat in range(-1, repeats):  # The first round warms up.
                for run in runs if repeat % 2 == 0 else list(reversed(runs)):
                    print(f"{record_bytes} bytes: {run.name}, {repeat + 1}", file=sys.stderr, flush=True)
                    result = measured(contestants[run.system], run, record_bytes, arena, files.ca)
                    if repeat >= 0:
                        values[run.name].append(result)
    finally:
        for contestant in contestants.values():
            contestant.server.stop()
    return found


def ratio(values: dict[str, list[dict[str, float]]], over: str, under: str, measure: str) -> float:
    """The median of the ratios of runs that lay next to each other."""
    pairs = zip(values[over], values[under], strict=True)
    return median(one[measure] / other[measure] for one, other in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a tenth of the load: a look, not a figure")
    parser.add_argument("--systems", nargs="+", default=["moldau", "kafka"], choices=["moldau", "kafka"])
    parser.add_argument("--output", choices=["table", "json"], default="table")
    arguments = parser.parse_args()
    stop_servers_on_sigterm()
    with tempfile.TemporaryDirectory(prefix="moldau-tls-bench-") as folder:
        scale = Scale(QUICK_SHARE if arguments.quick else 1.0)
        found = race(arguments.systems, arguments.repeats, scale, Path(folder))
    if arguments.output == "json":
        print(json.dumps(found))
    is_met = True
    for record_bytes, values in found.items():
        print(f"{record_bytes}-byte records, {PARTITIONS} partitions, medians of {arguments.repeats}:")
        for name, runs in values.items():
            figures = ", ".join(
                f"{measure} {median(run[measure] for run in runs):.2f}" for measure in runs[0]
            )
            print(f"  {name:<13} {figures}")
        for way in ("produce", "consume"):
            measure = f"{way} MB/s"
            for system in arguments.systems:
                share = ratio(values, f"{system} TLS", f"{system} plain", measure)
                print(f"  {way}: {system} TLS / plain {share:.2f}")
            if len(arguments.systems) == 2:
                share = ratio(values, "moldau TLS", "kafka TLS", measure)
                is_met = is_met and share >= 1.0
                print(f"  {way}: moldau TLS / kafka TLS {share:.2f}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
