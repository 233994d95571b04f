"""`moldau streams` without Spark: describe, list, and files that are no application."""

import json
import os
import socket
import time
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'moldau[spark]'")

from moldau.cli.main import main
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.owner import Owner
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.streams import STRING, StreamsBuilder
from moldau.testing import LocalCluster

APP = """
from moldau.pipeline.streams import STRING, StreamsBuilder

builder = StreamsBuilder("shout", key=STRING, value=STRING)
builder.stream("lines").map_values(str.upper).to("loud")
"""


def test_describe_shows_the_topology(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "app.py"
    file.write_text(APP)
    assert main(["streams", "describe", str(file)]) == 0
    told = capsys.readouterr().out
    assert "lines" in told and "loud" in told
    assert main(["streams", "describe", str(file), "--graph", "mermaid"]) == 0
    assert "-->" in capsys.readouterr().out


def test_a_function_may_build_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "app.py"
    indented = APP.replace("\n", "\n    ")
    file.write_text(f"def build():{indented}\n    return builder\n")
    assert main(["streams", "describe", str(file)]) == 0
    assert "loud" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("x = 1\n", "defines no application"),
        (f"{APP}\nother = StreamsBuilder('b')\ndel builder, other\n", "defines no application"),
        ("def build():\n    return 7\n", "is a int, neither"),
    ],
)
def test_a_file_that_is_no_application(
    content: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "app.py"
    file.write_text(content)
    assert main(["streams", "describe", str(file)]) == 1
    assert complaint in capsys.readouterr().err


def test_list_shows_who_has_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["streams", "list", "--checkpoint-dir", str(tmp_path)]) == 0
    assert "No applications" in capsys.readouterr().err
    settings = AppSettings("shout", "nowhere:1", str(tmp_path))
    record = ApplicationRecord.new("shout", "print", {"lines": "id"}, {"lines": {"0": 0}}, 2, {})
    record.save(Folder(settings.folder))
    assert main(["streams", "list", "--checkpoint-dir", str(tmp_path), "--output", "json"]) == 0
    nobody = {"runs": False, "process": None, "host": None}
    listed = {"application": "shout", "topics": ["lines"], "slots": 2}
    assert json.loads(capsys.readouterr().out) == [{**listed, **nobody}]


def a_checkpoint(root: Path) -> Folder:
    folder = Folder(AppSettings("shout", "nowhere:1", str(root)).folder)
    ApplicationRecord.new("shout", "print", {"lines": "id"}, {"lines": {"0": 0}}, 2, {}).save(folder)
    return folder


def test_reset_refuses_while_the_application_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = a_checkpoint(tmp_path)
    owner = Owner(folder, "shout", "token")
    owner.claim()
    where = ["--checkpoint-dir", str(tmp_path)]
    assert main(["streams", "reset", "shout", "--yes", *where, "-b", "127.0.0.1:1"]) == 1
    running = f"shout is running, as process {os.getpid()} on {socket.gethostname()}: stop it first"
    assert running in capsys.readouterr().err
    assert folder.read("application.json") is not None
    assert main(["streams", "list", *where]) == 0
    assert f"as process {os.getpid()} on {socket.gethostname()}" in capsys.readouterr().out
    owner.release()
    assert main(["streams", "list", *where]) == 0
    assert " no " in capsys.readouterr().out


def test_status_tells_position_and_lag_of_one_that_does_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from confluent_kafka import Consumer, Producer, TopicPartition
    from confluent_kafka.admin import AdminClient, NewTopic

    where = ["--checkpoint-dir", str(tmp_path)]
    folder = a_checkpoint(tmp_path)
    with LocalCluster() as cluster:
        servers = cluster.bootstrap_servers
        client = {"bootstrap.servers": servers}
        admin = AdminClient(client)
        admin.create_topics([NewTopic("lines", 2)])["lines"].result(60)
        producer = Producer(client)
        for partition, count in ((0, 5), (1, 2)):
            for _ in range(count):
                producer.produce("lines", b"x", partition=partition)
        assert producer.flush(60) == 0
        # Batch 4 was planned; only partition 0 of it was committed.
        plan = Plan(4, {"lines": {0: 1, 1: 1}}, {"lines": {0: 3, 1: 2}}, int(time.time() * 1000))
        Ledger(folder.within("plans")).write(plan)
        consumer = Consumer({**client, "group.id": "shout"})
        marker = str(Marker("checkpoint", 4))
        consumer.commit(offsets=[TopicPartition("lines", 0, 3, marker)], asynchronous=False)
        consumer.close()
        assert main(["streams", "status", "shout", *where, "-b", servers, "--output", "json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["runs"], told["last_batch"], told["lag"], told["problem"]) == (False, 4, 3, None)
        assert [(one["position"], one["end"], one["lag"]) for one in told["partitions"]] == [
            (3, 5, 2),
            (1, 2, 1),
        ]
        assert main(["streams", "status", *where, "-b", servers, "--output", "csv"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "application,topic,partition,position,end,lag",
            "shout,lines,0,3,5,2",
            "shout,lines,1,1,2,1",
        ]
        assert main(["streams", "status", *where, "-b", servers]) == 0
        assert capsys.readouterr().out.splitlines()[0].split() == [
            "APPLICATION",
            "RUNS",
            "LAST",
            "BATCH",
            "AT",
            "LAG",
        ]
    # The broker is away: what the checkpoint knows is shown, and what is missing is said.
    assert main(["streams", "status", *where, "-b", "127.0.0.1:1"]) == 0
    shown = capsys.readouterr()
    assert "shout" in shown.out and "127.0.0.1:1" in shown.err


def test_status_of_an_unknown_application_names_the_near_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_checkpoint(tmp_path)
    where = ["--checkpoint-dir", str(tmp_path), "-b", "127.0.0.1:1"]
    assert main(["streams", "status", "shuot", *where]) == 1
    told = capsys.readouterr().err
    assert "no checkpoint of application shuot" in told and "Did you mean shout?" in told


def test_status_of_a_process_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["streams", "status", "--http", "127.0.0.1:1"]) == 1
    told = capsys.readouterr().err
    assert "cannot get the status of applications from 127.0.0.1:1" in told and "streams run --http" in told


def test_an_application_without_a_broker_says_so_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "app.py"
    file.write_text(APP)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        assert main(["streams", "run", str(file), "-b", address]) == 1
    assert f"nothing answers at {address} (connection refused)" in capsys.readouterr().err


def test_the_timeout_is_for_a_broker_that_does_not_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "app.py"
    file.write_text(APP)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert main(["streams", "run", str(file), "-b", address, "--timeout", "1"]) == 1
    assert f"no answer from {address} within 1 s" in capsys.readouterr().err


def test_a_partitioner_that_does_not_exist_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "app.py"
    file.write_text(APP)
    assert main(["streams", "run", str(file), "--partitioner", "lines=murmur3"]) == 1
    told = capsys.readouterr().err
    assert "--partitioner lines: there is no partitioner 'murmur3'; there are murmur2" in told


def test_reset_touches_nothing_but_a_checkpoint_of_the_application(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the folder of all checkpoints, nor one outside it, nor an application that runs with another."""
    a_checkpoint(tmp_path / "cp")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    where = ["--yes", "--checkpoint-dir", str(tmp_path / "cp"), "-b", "127.0.0.1:1"]
    for name in ("", "..", "../precious"):
        assert main(["streams", "reset", name, *where]) == 1
        assert "application" in capsys.readouterr().err
    assert main(["streams", "reset", "other", *where]) == 1
    told = capsys.readouterr().err
    assert "holds no checkpoint of other" in told and "--checkpoint-lost" in told
    assert (precious / "file").exists() and (tmp_path / "cp" / "shout" / "application.json").exists()


def test_reset_removes_the_topics_of_the_application_alone(tmp_path: Path) -> None:
    """Not those of one whose name begins alike, nor what it reads and writes."""
    from confluent_kafka.admin import AdminClient, NewTopic

    builder = StreamsBuilder("shop", key=STRING, value=STRING)
    builder.stream("shop-in").group_by(lambda _, value: value).count(store="counts").to_stream().to(
        "shop-out"
    )
    topology = builder.build()
    record = ApplicationRecord.new("shop", "print", {"shop-in": "id"}, {}, 1, {}).with_inventory(topology)
    record.save(Folder(AppSettings("shop", "nowhere:1", str(tmp_path)).folder))
    own = {"shop-counts-repartition", "shop-counts-changelog"}
    others = {"shop-in", "shop-out", "shop-two-counts-changelog", "shop-two-counts-repartition"}
    with LocalCluster() as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        for future in admin.create_topics([NewTopic(name, 1) for name in own | others]).values():
            future.result(60)
        where = ["--yes", "--checkpoint-dir", str(tmp_path), "-b", cluster.bootstrap_servers]
        assert own <= set(topology.internal_topics) | {"shop-counts-changelog"}
        assert main(["streams", "reset", "shop", *where]) == 0
        assert others <= set(admin.list_topics(timeout=60).topics)
        assert not own & set(admin.list_topics(timeout=60).topics)
