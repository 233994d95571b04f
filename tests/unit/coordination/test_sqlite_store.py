"""The embedded store's own promises: files, crashes, threads, speed."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import Create, Node, SetData
from moldau.core.errors import StorageFault

WRITER = """
import sys
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import Create, SetData
store = SqliteStore(sys.argv[1])
store.create("/n", b"0")
store.create("/live", ephemeral=True)
number = 0
while True:
    number += 1
    store.multi([SetData("/n", str(number).encode()), Create(f"/n/{number}")])
    print(number, flush=True)
"""


def test_nodes_outlive_the_store_and_ephemerals_do_not(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    store = SqliteStore(path)
    store.create("/a", b"x")
    store.create("/here", ephemeral=True)
    store.close()
    again = SqliteStore(path)
    assert again.get("/a") == Node(b"x", 0)
    assert not again.exists("/here")
    again.close()


def test_what_was_answered_survives_kill_9_and_multi_is_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    with subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if line.strip() == "20":
                break
        os.kill(writer.pid, signal.SIGKILL)
        answered = max([20, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    store = SqliteStore(path)
    found = int(store.get("/n").data)
    assert found >= answered
    assert len(store.children("/n")) == found
    assert not store.exists("/live"), "the session of a dead process is over"
    store.close()


def test_several_threads_take_turns(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "c.db"))
    store.create("/n", b"")

    def write(worker: int) -> None:
        for number in range(50):
            store.multi([Create(f"/n/{worker}-{number}"), SetData("/n", b"x")])

    workers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(store.children("/n")) == 200
    assert store.get("/n").version == 200
    store.close()


def test_it_opens_within_ten_milliseconds(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    SqliteStore(path).close()
    best = 1.0
    for _ in range(10):
        start = time.perf_counter()
        store = SqliteStore(path)
        best = min(best, time.perf_counter() - start)
        store.close()
    assert best < 0.010


def test_ten_thousand_nodes_in_one_multi_are_quick(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "c.db"))
    start = time.perf_counter()
    store.multi([Create("/t"), *(Create(f"/t/{number}", b"{}") for number in range(10_000))])
    assert time.perf_counter() - start < 2
    assert len(store.children("/t")) == 10_000
    store.close()


def test_the_file_and_its_log_are_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with closing(SqliteStore(str(path))) as store:
        store.create("/secret", b"salt")
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert modes == {"c.db": 0o600, "c.db-wal": 0o600, "c.db-shm": 0o600}
    path.chmod(0o640)
    SqliteStore(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_is_none_of_ours_is_a_storage_fault(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    path.write_bytes(b"this is not a database, " * 100)
    with pytest.raises(StorageFault, match=r"c\.db"):
        SqliteStore(str(path))
    with pytest.raises(StorageFault, match="free space"):
        SqliteStore(str(tmp_path / "missing" / "c.db"))


def test_a_store_of_a_later_program_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    store = SqliteStore(path)
    store._db.execute("PRAGMA user_version=99")
    store.close()
    with pytest.raises(StorageFault, match="version 99"):
        SqliteStore(path)


def test_the_order_of_creations_goes_on_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    store = SqliteStore(path)
    store.create("/live", ephemeral=True)
    before = store.stat("/live")
    store.close()
    again = SqliteStore(path)
    again.create("/live", ephemeral=True)
    after = again.stat("/live")
    assert before is not None and after is not None and after.created > before.created
    again.close()


def test_a_store_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = str(tmp_path / "c.db")
    with closing(sqlite3.connect(path)) as first:
        first.executescript(
            """
            CREATE TABLE node (path TEXT PRIMARY KEY, parent TEXT NOT NULL, data BLOB NOT NULL,
                               version INTEGER NOT NULL, ephemeral INTEGER NOT NULL) WITHOUT ROWID;
            CREATE INDEX node_parent ON node (parent);
            INSERT INTO node VALUES ('/', '', x'', 0, 0), ('/a', '/', x'41', 3, 0), ('/e', '/', x'', 0, 1);
            PRAGMA user_version=1;
            """
        )
    store = SqliteStore(path)
    assert store.get("/a") == Node(b"A", 3)
    assert store.children("/") == ["a"], "ephemeral nodes of the old process are gone"
    store.create("/b")
    old, new = store.stat("/a"), store.stat("/b")
    assert old is not None and new is not None and old.created < new.created
    store.close()
