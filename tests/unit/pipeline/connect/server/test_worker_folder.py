"""Workers that share `state.dir` keep their files apart."""

from pathlib import Path

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.hosting.task_driver import TaskDriver
from moldau.pipeline.connect.server.hosting.worker_folder import WorkerFolder
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.state.cluster_state import ClusterState
from moldau.pipeline.connect.server.state.config_records import connector_record, task_records
from moldau.pipeline.connect.server.topics.status_log import LocalStatuses
from moldau.pipeline.driver_process.application_folder import Wanted
from moldau.pipeline.driver_process.client import DriverAway, DriverClient, free_address
from moldau.pipeline.driver_process.driver_host import Hosted

LINES = Wanted(application_id="lines", content="one", is_paused=False)


def prepared(state_dir: Path) -> WorkerFolder:
    folder = WorkerFolder(str(state_dir))
    folder.prepare()
    return folder


def test_each_worker_sees_only_its_own_files(tmp_path: Path) -> None:
    first, second = prepared(tmp_path), prepared(tmp_path)
    file = Path(first.write(LINES))
    assert second.left_over(()) == []
    second.remove("lines")
    assert file.read_text() == "one"
    assert first.checkpoints != second.checkpoints
    first.release()
    second.release()


def test_the_next_worker_cleans_up_what_a_dead_one_has_left(tmp_path: Path) -> None:
    first, second = prepared(tmp_path), prepared(tmp_path)
    first.write(LINES)
    first.release()
    third = prepared(tmp_path)
    assert third.left_over(()) == ["lines"]
    assert third.folder not in (second.folder, tmp_path)
    second.release()
    third.release()


def test_a_folder_that_was_deleted_is_made_again(tmp_path: Path) -> None:
    folder = prepared(tmp_path)
    folder.folder.rmdir()
    assert Path(folder.write(LINES)).read_text() == "one"
    folder.release()


def test_a_state_dir_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"state\.dir: the worker cannot keep its files in .*/file"):
        prepared(tmp_path / "file")


def test_a_file_that_the_driver_misses_is_written_again(tmp_path: Path) -> None:
    state = ClusterState()
    config = {"name": "lines", "connector.class": "FileStreamSink", "file": "out.txt", "topics": "lines"}
    for key, value in (connector_record("lines", config), *task_records("lines", [{"n": "0"}])):
        state.replay(key, value, state.offset + 1)
    driver = TaskDriver(
        read_configuration(overrides=[f"state.dir={tmp_path}"]),
        lambda: state,
        StateReports(LocalStatuses(), lambda: state, "me:8083"),
    )
    driver.files.prepare()
    driver.own(Shares.everything())
    ((application_id, wanted),) = driver.wanted().items()
    file = Path(driver.files.write(wanted))
    file.unlink()
    with pytest.raises(DriverAway):
        driver._start_again(application_id, Hosted(), DriverClient(free_address()))
    assert file.read_text() == wanted.content
    driver.stop()
