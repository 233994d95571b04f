"""`moldau perf` against a broker in a process of its own."""

import json
import re

from e2e.cli.shell import Shell


def test_records_are_written_and_read_with_figures(shell: Shell, orders: str) -> None:
    line = shell.run("perf", "produce", orders, "-n", "5000", "--record-size", "50")
    assert re.fullmatch(
        r"5000 records sent, [\d.]+ records/sec \([\d.]+ MB/sec\), [\d.]+ ms avg latency, [\d.]+ ms max latency, "
        r"\d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99.9th\.\n",
        line,
    )
    heading, row = shell.run("perf", "consume", orders, "-n", "5000").splitlines()
    assert heading.startswith("start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, ")
    assert row.split(", ")[4] == "5000"
    assert row.split(", ")[2] == f"{5000 * 50 / 1024 / 1024:.4f}"


def test_a_rate_is_kept(shell: Shell, orders: str) -> None:
    done = json.loads(shell.run("perf", "produce", orders, "-n", "300", "--throughput", "200", "-o", "json"))
    assert done["records"] == 300
    assert done["seconds"] >= 1.45


def test_fewer_records_than_asked_for_are_said_to_be(shell: Shell, orders: str) -> None:
    shell.run("perf", "produce", orders, "-n", "10")
    done = shell.finished("perf", "consume", orders, "-n", "20", "--timeout", "6", "-o", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["records"] == 10
    assert "Only 10 records of 20 came" in done.stderr


def test_there_and_back(shell: Shell, orders: str) -> None:
    text = shell.run("perf", "latency", orders, "-n", "50")
    assert re.search(r"^Avg latency: [\d.]+ ms$", text, re.MULTILINE)
    assert re.search(r"^Percentiles: 50th = [\d.]+, 99th = [\d.]+, 99\.9th = [\d.]+$", text, re.MULTILINE)


def test_a_topic_that_is_not_there(shell: Shell, topic: str) -> None:
    for noun in ("produce", "consume", "latency"):
        assert f"there is no topic '{topic}'" in shell.run("perf", noun, topic, code=1)
