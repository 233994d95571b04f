"""`moldau perf` against a broker in a process of its own."""

import json
import re
from pathlib import Path

from e2e.cli.shell import Shell
from moldau.testing import LocalCluster


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
    assert "Only 10 records of 20 arrived" in done.stderr


def test_there_and_back(shell: Shell, orders: str) -> None:
    text = shell.run("perf", "latency", orders, "-n", "50")
    assert re.search(r"^Avg latency: [\d.]+ ms$", text, re.MULTILINE)
    assert re.search(r"^Percentiles: 50th = [\d.]+, 99th = [\d.]+, 99\.9th = [\d.]+$", text, re.MULTILINE)


def test_a_topic_that_is_not_there(shell: Shell, topic: str) -> None:
    for noun in ("produce", "consume", "latency"):
        assert f"there is no topic '{topic}'" in shell.run("perf", noun, topic, code=1)


def test_payloads_of_a_file(shell: Shell, orders: str, tmp_path: Path) -> None:
    file = tmp_path / "payloads.txt"
    file.write_text("a;bb;ccc;")
    options = ("--payload-file", str(file), "--payload-delimiter", ";")
    done = json.loads(shell.run("perf", "produce", orders, "-n", "4", *options, "-o", "json"))
    assert (done["records"], done["bytes"]) == (4, 7)
    assert shell.run("consume", orders).split() == ["a", "bb", "ccc", "a"]
    file.write_text("")
    assert "contains no payload" in shell.run("perf", "produce", orders, *options, code=1)
    assert "Pass only one of" in shell.run("perf", "produce", orders, *options, "--record-size", "5", code=2)


def test_what_the_client_counted(shell: Shell, orders: str) -> None:
    text = shell.run("perf", "produce", orders, "-n", "50", "--print-metrics")
    assert re.search(r"^producer\.txmsgs +50\.000$", text, re.MULTILINE)
    assert re.search(rf"^topic-{orders}\.batchcnt\.avg +[\d.]+$", text, re.MULTILINE)
    read = json.loads(shell.run("perf", "consume", orders, "-n", "50", "--print-metrics", "-o", "json"))
    assert read["metrics"]["consumer.rxmsgs"] == 50


def test_records_made_up_for_a_schema(orders: str, tmp_path: Path) -> None:
    avro, plain = tmp_path / "order.avsc", tmp_path / "order.json"
    fields = [{"name": "id", "type": "long"}, {"name": "item", "type": "string"}]
    avro.write_text(json.dumps({"type": "record", "name": "Order", "fields": fields}))
    plain.write_text(
        json.dumps({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}})
    )
    with LocalCluster(registry=True) as cluster:
        shell = Shell(cluster.bootstrap_servers)
        at = ("--registry", cluster.registry_url)
        for topic, file, form in (("o", avro, "avro"), ("j", plain, "json-schema")):
            cluster.create_topic(topic)
            shell.run("perf", "produce", topic, "-n", "20", "--schema", f"@{file}", "--key-field", "id", *at)
            lines = shell.run("consume", topic, "--value-format", form, "--print-key", *at).splitlines()
            assert len(lines) == 20
            for key, value in (line.split("\t") for line in lines):
                assert str(json.loads(value)["id"]) == key
        cluster.create_topic("plain")
        shell.run("perf", "produce", "plain", "-n", "5", "--schema", f"@{avro}", "--as-json")
        made = [json.loads(line) for line in shell.run("consume", "plain").splitlines()]
        assert len(made) == 5 and all(set(value) == {"id", "item"} for value in made)
        missing = ("--schema", f"@{avro}", "--as-json", "--key-field", "none")
        assert "has no field 'none'" in shell.run("perf", "produce", "plain", *missing, code=2)
