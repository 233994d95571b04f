"""`moldau streams run` with several files: one process, independent applications, and a true status of each."""

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compat.moldau_broker import MoldauBroker
from e2e.process_facts import children
from e2e.spark.kit import PATIENCE_S, Sent, committed, create_topics, kill9, last_values, send, wait_for

AGAIN = "Spark has ended; restarting it"
MOLDAU = str(Path(sys.executable).with_name("moldau"))
COUNT = """
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder

builder = StreamsBuilder("{name}", key=STRING, value=STRING)
builder.stream("{source}").group_by_key().count(store="counts").to_stream().to("{sink}", value=LONG)
"""
FUSSY = """
from moldau.pipeline.streams import STRING, StreamsBuilder, tumbling

builder = StreamsBuilder("fussy", key=STRING, value=STRING)
numbers = builder.stream("fussy-in").map_values(lambda value: str(int(value)))
numbers.to("fussy-out")
numbers.group_by_key().windowed_by(tumbling(1_000)).count(name="per-second")
"""


class Run:
    """`moldau streams run`: what it prints, and what it answers."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path, address: str) -> None:
        self.process, self._log, self.address = process, log, address

    @property
    def text(self) -> str:
        return self._log.read_text()

    def ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.address}{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            content = answer.read()
        return (
            json.loads(content) if answer.headers["Content-Type"] == "application/json" else content.decode()
        )

    def state(self, name: str) -> str:
        try:
            told: str = self.ask(f"/applications/{name}")["state"]
        except urllib.error.URLError:
            return "not there yet"
        return told

    def wait_state(self, name: str, state: str) -> None:
        wait_for(lambda: self.state(name) == state, f"{name} is {state}: {self.text}")

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def run(servers: str, folder: Path, *files: str | Path, options: tuple[str, ...] = ()) -> Iterator[Run]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [MOLDAU, "streams", "run", *map(str, files), "-b", servers, "--http", address]
    where = ["--checkpoint-dir", str(folder / "checkpoints"), "--master", "local[2]"]
    log = folder / "run.log"
    with log.open("wb") as file:
        process = subprocess.Popen([*command, *where, *options], stdout=file, stderr=file)
        try:
            yield Run(process, log, address)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(PATIENCE_S)


def counted(servers: str, topic: str) -> dict[str, int]:
    last = last_values(committed(servers, topic))
    return {key.decode(): int.from_bytes(value) for key, value in last.items() if key and value}


def is_java(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text().strip() == "java"


def moldau(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MOLDAU, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)


def test_two_applications_of_one_process(servers: str, tmp_path: Path) -> None:
    create_topics(servers, host_in=2, host_left=2, host_right=2)
    apps = tmp_path / "apps"
    apps.mkdir()
    (apps / "left.py").write_text(COUNT.format(name="left", source="host-in", sink="host-left"))
    (apps / "right.py").write_text(COUNT.format(name="right", source="host-in", sink="host-right"))
    (apps / "broken.py").write_text("import nothing_there\n")
    (apps / "neighbour.py").write_text("used_by = 'others'\n")
    send(servers, "host-in", [Sent(f"k{number % 5}", "x") for number in range(100)])
    all_of = {f"k{number}": 20 for number in range(5)}
    with run(servers, tmp_path, apps) as driver:
        for sink in ("host-left", "host-right"):
            wait_for(lambda sink=sink: counted(servers, sink) == all_of, f"{sink} counts: {driver.text}")  # type: ignore[misc]
        driver.wait_state("left", "running")
        driver.wait_state("right", "running")
        listed = {one["application_id"]: one["state"] for one in driver.ask("/applications")["applications"]}
        assert listed == {"broken.py": "failed", "left": "running", "right": "running"}
        assert "broken.py failed: " in driver.text and "nothing_there" in driver.text

        # One is paused; the other continues.
        driver.ask("/applications/left/pause", "POST")
        driver.wait_state("left", "paused")
        send(servers, "host-in", [Sent(f"k{number % 5}", "x") for number in range(50)])
        more = {f"k{number}": 30 for number in range(5)}
        wait_for(lambda: counted(servers, "host-right") == more, "the other one counts on")
        assert counted(servers, "host-left") == all_of
        status = [
            "streams",
            "status",
            "left",
            "--checkpoint-dir",
            str(tmp_path / "checkpoints"),
            "-b",
            servers,
        ]
        standing = json.loads(moldau(*status, "-o", "json").stdout)
        assert (standing["lag"], standing["runs"]) == (50, True)
        driver.ask("/applications/left/resume", "POST")
        wait_for(lambda: counted(servers, "host-left") == more, "it goes on where it was")

        # Metrics and lines say what happened.
        wait_for(lambda: driver.ask("/applications/right")["records_in"] == 150, "all batches are counted")
        metrics = driver.ask("/metrics").splitlines()
        assert 'moldau_streams_records_in_total{application="right"} 150' in metrics
        assert 'moldau_streams_lag_records{application="right"} 0' in metrics
        assert 'moldau_streams_state{application="broken.py",state="failed"} 1' in metrics
        wait_for(lambda: "right 150 records in, " in driver.text, f"progress is told: {driver.text}")
        assert "left paused" in driver.text
        wait_for(lambda: len(driver.ask("/applications/right/views/counts")) == 5, "the view has all")

        # While it runs it is not reset, nor run twice.
        refused = moldau("streams", "reset", "right", "--yes", *status[3:])
        assert refused.returncode == 1 and "right is running, as process " in refused.stderr
        second = moldau("streams", "run", str(apps / "right.py"), *status[3:], "--master", "local[1]")
        assert second.returncode == 1 and "right runs already, as process " in second.stderr

        # One is stopped, another added, one forgotten.
        assert driver.ask("/applications/right/stop", "POST")["state"] == "stopped"
        assert driver.state("left") == "running"
        (apps / "third.py").write_text(COUNT.format(name="third", source="host-in", sink="host-left"))
        assert driver.ask("/applications", "POST", {"file": "third.py"})["application_id"] == "third"
        driver.wait_state("third", "running")
        assert driver.ask("/applications/third", "DELETE")["removed"] is True
        driver.wait_state("left", "running")
        assert driver.end() == 1, "one of them could not run"
        assert "left stopped: 150 records in, " in driver.text
        assert "1 of 3 applications failed: broken.py" in driver.text
    assert json.loads(moldau(*status, "-o", "json").stdout)["runs"] is False


def test_what_was_stopped_stays_stopped_when_spark_is_started_again(servers: str, tmp_path: Path) -> None:
    create_topics(servers, again_in=1, again_left=1, again_right=1)
    for name in ("left", "right"):
        text = COUNT.format(name=f"again-{name}", source="again-in", sink=f"again-{name}")
        (tmp_path / f"{name}.py").write_text(text)
    with run(servers, tmp_path, tmp_path / "left.py", tmp_path / "right.py") as driver:
        driver.wait_state("again-left", "running")
        driver.wait_state("again-right", "running")
        driver.ask("/applications/again-left/stop", "POST")
        wait_for(lambda: "again-left stopped" in driver.text, "it is told")
        owner_file = tmp_path / "checkpoints" / "again-right" / "owner.json"
        for count, what in enumerate(("the JVM", "the driver"), 1):
            pid = json.loads(owner_file.read_bytes())["pid"]
            kill9(next(child for child in children(pid) if is_java(child)) if what == "the JVM" else pid)
            send(servers, "again-in", [Sent("k", "x")])
            wait_for(lambda count=count: driver.text.count(AGAIN) == count, f"{what} is missed")  # type: ignore[misc]
            wait_for(
                lambda count=count: counted(servers, "again-right") == {"k": count},  # type: ignore[misc]
                f"it goes on: {driver.text}",
            )
            driver.wait_state("again-right", "running")
        assert driver.state("again-left") == "created"
        assert committed(servers, "again-left") == []
        assert driver.end(signal.SIGTERM) == 0, driver.text


def test_a_restart_loop_is_not_called_running(own_broker: MoldauBroker, tmp_path: Path) -> None:
    servers = own_broker.bootstrap
    create_topics(servers, fussy_in=1, fussy_out=1)
    (tmp_path / "fussy.py").write_text(FUSSY)
    # The second is behind the first in the log, and later than its window allows.
    send(servers, "fussy-in", [Sent("a", "1", timestamp_ms=100_000), Sent("a", "2", timestamp_ms=58_000)])
    with run(servers, tmp_path, tmp_path / "fussy.py", options=("--no-dead-letters",)) as driver:
        driver.wait_state("fussy", "running")
        late = "1 late at per-second (the latest by 42 s)"
        wait_for(lambda: late in driver.text, f"what is dropped is on the line: {driver.text}")
        dropped = (
            'moldau_streams_records_dropped_total{application="fussy",operator="per-second",reason="late"} 1'
        )
        assert dropped in driver.ask("/metrics")
        send(servers, "fussy-in", [Sent("b", "one", timestamp_ms=100_000)])
        wait_for(lambda: driver.ask("/")["restarts"] > 2, f"it fails again and again: {driver.text}")
        told = driver.ask("/")
        assert (told["state"], told["lag_records"]) == ("restarting", None), told
        assert "invalid literal for int" in told["last_error"]
        after = driver.text.partition("restarting")[2]
        assert after and "fussy running" not in after
        assert "fussy restarting at " in driver.text and "(in " in driver.text
        assert 'moldau_streams_state{application="fussy",state="restarting"} 1' in driver.ask("/metrics")
        assert driver.end() == 0

    # With dead letters it continues and says so. It also reports a broker that is unreachable.
    with run(servers, tmp_path, tmp_path / "fussy.py") as driver:
        wait_for(lambda: "1 dead letter in fussy-dlq" in driver.text, f"it is on the line: {driver.text}")
        own_broker.kill9()
        driver.wait_state("fussy", "restarting")
        assert driver.ask("/")["lag_records"] is None
        own_broker.start()
        driver.wait_state("fussy", "running")
        assert driver.end() == 0
    assert [one.value for one in committed(servers, "fussy-out")] == [b"1", b"2"]
