"""Many applications of one process, without Spark: none of them is started."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

from starlette.testclient import TestClient

from moldau.core.errors import ConfigError
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.driver.__main__ import _is_over
from moldau.pipeline.spark.driver.app_file import application_files
from moldau.pipeline.spark.driver.hosting import Host
from moldau.pipeline.spark.driver.http.status_http import host_server, serve_in_thread
from moldau.pipeline.spark.session import SparkSettings

APP = """
from moldau.pipeline.streams import STRING, StreamsBuilder

builder = StreamsBuilder("{name}", key=STRING, value=STRING)
builder.stream("lines").map_values(str.upper).to("loud")
"""


def write(folder: Path, name: str, text: str | None = None) -> str:
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(text or APP.format(name=name))
    return str(file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "apps").mkdir()
    return tmp_path / "apps"


@pytest.fixture
def host(folder: Path, tmp_path: Path) -> Host:
    settings = {"bootstrap_servers": "127.0.0.1:1", "checkpoint_dir": str(tmp_path / "ck")}
    return Host(settings, SparkSettings(), [folder])


@pytest.fixture
def http(host: Host) -> Iterator[TestClient]:
    with TestClient(host_server(host)) as client:
        yield client


def added(host: Host, *files: str) -> None:
    for file in files:
        host.add(file, PipelineState.STOPPED)


def test_a_folder_gives_its_files_but_not_what_they_keep_to_themselves(folder: Path) -> None:
    one, two = write(folder, "a"), write(folder, "b")
    write(folder, "_private")
    assert application_files([two, str(folder)]) == [(two, True), (one, False)]


def test_an_application_runs_once_in_a_process(host: Host, folder: Path) -> None:
    first = write(folder, "shout")
    added(host, first)
    with pytest.raises(ConfigError, match="is in this process already"):
        added(host, first)
    with pytest.raises(ConfigError, match=r"defines the application shout, which .*shout.py already defines"):
        added(host, write(folder, "again", APP.format(name="shout")))
    assert [one.name for one in host.all()] == ["shout"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import nothing_there\n", r"bad.py, line 1: ModuleNotFoundError: No module named 'nothing_there'"),
        ("x = 1\nif x\n", r"bad.py, line 2: expected ':'"),
        ("raise SystemExit(3)\n", r"bad.py, line 1: SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_with_its_line(
    host: Host, folder: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        host.add(write(folder, "bad", text))


def test_neighbours_of_one_name_do_not_pass_for_each_other(host: Host, tmp_path: Path) -> None:
    text = "import seen_neighbour\n" + APP
    for name in ("left", "right"):
        write(tmp_path / name, "seen_neighbour", f"where = {name!r}\n")
    added(host, write(tmp_path / "left", "one", text.format(name="one")))
    with pytest.raises(
        ConfigError, match=r"imports seen_neighbour from its folder, but this process has a module"
    ):
        added(host, write(tmp_path / "right", "two", text.format(name="two")))


def test_one_that_failed_to_load_is_shown_and_started_once_it_is_mended(
    host: Host, http: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(folder, "late", "import nothing_there\n")
    host.add_refused(file, "no such module")
    told = http.get("/applications/late.py").json()
    assert (told["state"], told["last_error"], told["lag_records"]) == ("failed", "no such module", None)
    refused = http.post("/applications/late.py/start")
    assert refused.status_code == 400 and "nothing_there" in refused.json()["message"]
    assert "nothing_there" in http.get("/").json()["last_error"]
    write(folder, "late")
    started: list[str] = []
    monkeypatch.setattr(
        "moldau.pipeline.spark.application.PipelineApp.start",
        lambda app: started.append(app.topology.application_id),
    )
    assert http.post("/applications/late.py/start").json()["application_id"] == "late"
    assert started == ["late"]
    assert [one.name for one in host.all()] == ["late"]


def test_one_application_answers_as_it_did_when_it_was_alone(
    host: Host, http: TestClient, folder: Path
) -> None:
    added(host, write(folder, "shout"))
    assert http.get("/").json()["application_id"] == "shout"
    assert "loud" in http.get("/topology").text
    added(host, write(folder, "whisper"))
    listed = http.get("/").json()["applications"]
    assert [one["application_id"] for one in listed] == ["shout", "whisper"]
    assert listed == http.get("/applications").json()["applications"]
    refused = http.get("/topology")
    assert refused.status_code == 404
    assert refused.json()["message"].endswith("(shout, whisper): ask for /applications/NAME/topology")
    assert "loud" in http.get("/applications/whisper/topology").text
    assert "-->" in http.get("/applications/whisper/topology?as=mermaid").text


@pytest.mark.parametrize(
    ("method", "path", "code", "complaint"),
    [
        ("GET", "/applications/nobody", 404, "has no application 'nobody'; it has: shout"),
        ("POST", "/applications/shout/pause", 409, "shout is created: start it before you pause it"),
        ("GET", "/applications/shout/topology?as=tea", 400, "as=tea is none of text, mermaid, dot"),
        ("GET", "/applications/shout/views", 404, "serves no views"),
        ("GET", "/nowhere", 404, "GET /nowhere is not served here"),
        ("PUT", "/applications", 405, "PUT /applications is not served here"),
        ("POST", "/applications", 400, "say which file"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(
    host: Host, http: TestClient, folder: Path, method: str, path: str, code: int, complaint: str
) -> None:
    added(host, write(folder, "shout"))
    answer = http.request(method, path)
    assert (answer.status_code, complaint in answer.json()["message"]) == (code, True), answer.text


def test_only_files_of_the_folders_named_at_the_start_are_added(
    host: Host, http: TestClient, folder: Path, tmp_path: Path
) -> None:
    outside = write(tmp_path, "outside")
    (folder / "link.py").symlink_to(outside)
    for file in (outside, "../outside.py", "link.py", "missing.py", str(tmp_path)):
        refused = http.post("/applications", json={"file": file})
        assert refused.status_code == 400
        assert "is no file of the folders this process was started with" in refused.json()["message"]
    assert host.all() == []


def test_a_file_that_never_comes_back_holds_up_no_other_application(host: Host, folder: Path) -> None:
    added(host, write(folder, "shout"))
    begun, let_go = folder / "begun", folder / "let-go"
    waits = f"""
import time
from pathlib import Path

Path({str(begun)!r}).touch()
deadline = time.monotonic() + 120
while not Path({str(let_go)!r}).exists() and time.monotonic() < deadline:
    time.sleep(0.01)
"""

    def add() -> None:
        with pytest.raises(ConfigError, match="defines no application"):
            host.add_from_folders("waits.py")

    adding = threading.Thread(target=add, daemon=True)
    write(folder, "waits", waits)
    adding.start()
    deadline = time.monotonic() + 60
    while not begun.exists():
        assert time.monotonic() < deadline, "the file is not loaded"
        time.sleep(0.01)
    removing = threading.Thread(target=host.remove, args=("shout",), daemon=True)
    removing.start()
    removing.join(60)
    assert not removing.is_alive() and host.all() == []
    let_go.touch()
    adding.join(60)


@pytest.mark.parametrize("asked_again", [False, True], ids=["added", "started"])
def test_a_request_for_a_file_that_never_comes_back_is_answered(
    folder: Path, tmp_path: Path, asked_again: bool
) -> None:
    settings = {"bootstrap_servers": "127.0.0.1:1", "checkpoint_dir": str(tmp_path / "ck")}
    host = Host(settings, SparkSettings(), [folder], load_s_max=0.2)
    let_go = folder / "let-go"
    if asked_again:
        added(host, write(folder, "waits"))
    write(
        folder,
        "waits",
        f"import time\nfrom pathlib import Path\nwhile not Path({str(let_go)!r}).exists():\n    time.sleep(0.01)\n",
    )
    try:
        with TestClient(host_server(host)) as http:
            if asked_again:
                answer = http.post("/applications/waits/start")
            else:
                answer = http.post("/applications", json={"file": "waits.py"})
            assert answer.status_code == 400
            assert (
                "waits.py is not loaded after 0.2 s: the file, or a module that" in answer.json()["message"]
            )
            added(host, write(folder, "shout"))
            assert "shout" in [one.name for one in host.all()], "other files are loaded meanwhile"
    finally:
        let_go.touch()


def test_a_request_does_not_wait_forever_for_a_file_of_the_start(folder: Path, tmp_path: Path) -> None:
    settings = {"bootstrap_servers": "127.0.0.1:1", "checkpoint_dir": str(tmp_path / "ck")}
    host = Host(settings, SparkSettings(), [folder], load_s_max=0.2)
    begun, let_go = folder / "begun", folder / "let-go"
    waits = write(
        folder,
        "waits",
        f"import time\nfrom pathlib import Path\nPath({str(begun)!r}).touch()\n"
        f"while not Path({str(let_go)!r}).exists():\n    time.sleep(0.01)\n{APP.format(name='waits')}",
    )
    starting = threading.Thread(target=host.add, args=(waits, PipelineState.STOPPED), daemon=True)
    starting.start()
    try:
        deadline = time.monotonic() + 60
        while not begun.exists():
            assert time.monotonic() < deadline, "the file is not loaded"
            time.sleep(0.01)
        write(folder, "shout")
        with pytest.raises(ConfigError, match=r"shout\.py is not loaded after 0\.2 s: another file is still"):
            host.add_from_folders("shout.py")
    finally:
        let_go.touch()
        starting.join(60)
    assert [one.name for one in host.all()] == ["waits"]


def test_removing_forgets_it_here(host: Host, http: TestClient, folder: Path) -> None:
    added(host, write(folder, "shout"), write(folder, "whisper"))
    assert http.delete("/applications/shout").json()["removed"] is True
    assert [one.name for one in host.all()] == ["whisper"]
    assert 'moldau_streams_state{application="whisper",state="created"} 1' in http.get("/metrics").text


def test_a_name_that_is_taken_is_no_address(host: Host) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"cannot listen on {address} .*Address already in use"):
            serve_in_thread(host_server(host), address)
    with pytest.raises(ConfigError, match="'8084' is no address to listen on"):
        serve_in_thread(host_server(host), "8084")


def test_a_process_ends_when_nothing_in_it_can_go_on(host: Host, folder: Path) -> None:
    assert not _is_over(host, is_served=True), "applications may still be added"
    failed: Any = host.add_refused(write(folder, "bad"), "why")
    assert failed.state is PipelineState.FAILED
    assert _is_over(host, is_served=True) and _is_over(host, is_served=False)
    added(host, write(folder, "shout"))
    assert _is_over(host, is_served=False)
    assert not _is_over(host, is_served=True), "it can be started over HTTP"
