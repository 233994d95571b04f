"""A thousand connections, and readers that do not read: what they do to the others' latency.

python bench/connections.py [--connections N] [--seconds S] [--rounds N] [--system moldau|kafka]

Calm and disturbed runs take turns; ends with code 1 when the p99 of the connections that behave is more than
a fifth worse, in the median, with one more slow reader each second than without.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from load_client import compiled, load
from process_cost import memory
from systems import SYSTEMS, ServerProcess, create_topic, stop_servers_on_sigterm
from wire_frames import fetch_frame, produce_frame

BULK_RECORDS = 200_000
RATIO_MAX = 1.2


def run_crowd(
    server: ServerProcess, frames: Path, connections: int, seconds: int, slow_per_s: int
) -> dict[str, float]:
    arguments = [server.port, connections, 2 * connections, seconds]
    arguments += [frames / "small", frames / "bulk", slow_per_s]
    command = [str(compiled("crowd")), *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 60)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--system", choices=sorted(SYSTEMS), default="moldau")
    arguments = parser.parse_args()
    stop_servers_on_sigterm()
    with tempfile.TemporaryDirectory(prefix="moldau-connections-") as folder:
        frames = Path(folder)
        with SYSTEMS[arguments.system](frames / "server") as server:
            topic, bulk = create_topic(server, 1), create_topic(server, 1)
            (frames / "small").write_bytes(produce_frame(topic, records=1))
            (frames / "bulk").write_bytes(fetch_frame(bulk, partitions=1, bytes_max=50 << 20))
            load("produce", server.bootstrap, bulk, record_bytes=1024, records=BULK_RECORDS)
            run_crowd(server, frames, arguments.connections, min(arguments.seconds, 5), 0)
            return _compare(server, frames, arguments)


def _compare(server: ServerProcess, frames: Path, arguments: argparse.Namespace) -> int:
    ratios = []
    print(
        f"{'':12}{'requests':>10}{'skipped':>9}{'slow':>6}{'p50 us':>10}{'p99 us':>10}{'p99.9 us':>10}{'RSS MB':>8}"
    )
    runs = [("calm", 0), ("disturbed", 1)]
    for _ in range(arguments.rounds):
        p99_us = {}
        for name, slow_per_s in runs:
            run = run_crowd(server, frames, arguments.connections, arguments.seconds, slow_per_s)
            p99_us[name] = run["p99_us"]
            print(
                f"{name:12}{run['requests']:>10}{run['skipped']:>9}{run['slow_readers']:>6}{run['p50_us']:>10.0f}"
                f"{run['p99_us']:>10.0f}{run['p999_us']:>10.0f}{memory(server.pid).rss_mb:>8.0f}",
                flush=True,
            )
        runs.reverse()
        ratios.append(p99_us["disturbed"] / p99_us["calm"])
    ratio = statistics.median(ratios)
    verdict = "pass" if ratio <= RATIO_MAX else "FAIL"
    print(
        f"p99 disturbed to calm: {ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f}), at most {RATIO_MAX}: {verdict}"
    )
    return 0 if verdict == "pass" else 1


if __name__ == "__main__":
    sys.exit(main())
