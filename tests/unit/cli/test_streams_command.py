"""`moldau streams` without Spark: describe, list, and files that are no application."""

import json
import socket
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'moldau[spark]'")

from moldau.cli.main import main
from moldau.pipeline.spark.application_record import ApplicationRecord
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.settings import AppSettings

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
    assert json.loads(capsys.readouterr().out) == [{"application": "shout", "topics": ["lines"], "slots": 2}]


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
