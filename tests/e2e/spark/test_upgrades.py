"""An application whose topology changes while input is waiting keeps the unchanged part of its checkpoint."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.spark.kit import Sent, committed, create_topics, last_values, running, send, wait_for, wait_processed
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.upgrades.comparison import compare
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, Topology

PATIENCE_S = 600


def built(name: str, *writers: Callable[[StreamsBuilder], object]) -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    for write in writers:
        write(builder)
    return builder.build()


def run_to_the_end(topology: Topology, servers: str, folder: Path, **settings: Any) -> None:
    with running(topology, servers, folder, **settings) as app:
        state = app.wait(PipelineState.RUNNING, PipelineState.FAILED, timeout_s=PATIENCE_S)
        assert state is PipelineState.RUNNING, app.metrics.last_error
        record = ApplicationRecord.load(Folder(app.settings.folder), app.settings.application_id)
        assert record is not None and record.inventory is not None
        # Under the names that the checkpoint knows.
        wait_processed(compare(record.inventory, topology, {}).topology, servers)


def refusal(topology: Topology, servers: str, folder: Path, **settings: Any) -> str:
    """Why it does not start."""
    with running(topology, servers, folder, **settings) as app:
        assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
        return app.metrics.last_error or ""


def counted(servers: str, topic: str) -> dict[str, int]:
    """The last count of each key. Each count from 1 on was emitted once."""
    records = committed(servers, topic)
    assert set(Counter((record.key, record.value) for record in records).values()) <= {1}
    return {
        key.decode(): int.from_bytes(value) for key, value in last_values(records).items() if key and value
    }


def lines(first: int, end: int) -> list[Sent]:
    """Over two partitions, each key in one."""
    return [Sent(f"k{number % 7}", f"line {number}", number % 7 % 2) for number in range(first, end)]


def sticks_at(poison: str) -> Callable[[str], str]:
    """Fails for good, so that the batch stays half done."""

    def mapper(value: str) -> str:
        if value == poison:
            raise ValueError("poison")
        return value

    return mapper


def leave_half_done(topology: Topology, servers: str, folder: Path, target: str, count: int) -> None:
    """One of two tasks commits its share of a batch; the other fails until the application is stopped."""
    with running(topology, servers, folder, instances=2, dead_letters=False) as app:
        wait_for(lambda: len(committed(servers, target)) >= count, f"{count} are told: {app.metrics}")
        wait_for(lambda: app.metrics.restarts > 0, "it failed")
    assert len(committed(servers, target)) == count


def test_a_filter_is_added_to_a_stateless_application(servers: str, tmp_path: Path) -> None:
    """While a batch is half done, and more input waits: no record is missing, none comes twice."""
    create_topics(servers, upfilter_in=2, upfilter_out=1)
    send(servers, "upfilter-in", lines(0, 20))
    send(servers, "upfilter-in", [Sent("k", "poison", 1)])
    sticks = sticks_at("poison")
    old = built("upfilter", lambda b: b.stream("upfilter-in").map_values(sticks).to("upfilter-out"))
    done = sum(record.partition == 0 for record in lines(0, 20))
    leave_half_done(old, servers, tmp_path, "upfilter-out", done)
    send(servers, "upfilter-in", lines(20, 40))
    new = built(
        "upfilter",
        lambda b: (
            b.stream("upfilter-in")
            .filter(lambda _, value: value != "poison")
            .map_values(sticks)
            .to("upfilter-out")
        ),
    )
    run_to_the_end(new, servers, tmp_path, instances=2)
    told = Counter(record.value for record in committed(servers, "upfilter-out"))
    assert told == Counter(record.value.encode() for record in lines(0, 40))  # type: ignore[union-attr]


def test_a_filter_before_counts_and_they_go_on(servers: str, tmp_path: Path) -> None:
    """One count has a name, one behind a repartition topic has none: both are found again."""
    create_topics(servers, upcount_in=2, upcount_named=1, upcount_unnamed=1)

    def counts(builder: StreamsBuilder, *, filtered: bool) -> None:
        stream = builder.stream("upcount-in")
        if filtered:
            stream = stream.filter(lambda _, value: not value.endswith("5")).peek(lambda _, value: None)
        by_key = stream.group_by_key().count(store="counts")
        by_key.to_stream().to("upcount-named", value=LONG)
        by_end = stream.group_by(lambda _, value: f"ends with {value[-1]}").count()
        by_end.to_stream().to("upcount-unnamed", value=LONG)

    send(servers, "upcount-in", lines(0, 100))
    run_to_the_end(built("upcount", lambda b: counts(b, filtered=False)), servers, tmp_path)
    send(servers, "upcount-in", lines(100, 300))
    run_to_the_end(built("upcount", lambda b: counts(b, filtered=True)), servers, tmp_path)

    seen = [
        record
        for number, record in enumerate(lines(0, 300))
        if number < 100 or not str(record.value).endswith("5")
    ]
    assert counted(servers, "upcount-named") == Counter(record.key for record in seen)
    assert counted(servers, "upcount-unnamed") == Counter(
        f"ends with {str(record.value)[-1]}" for record in seen
    )


def test_a_store_is_removed_only_when_it_may_be_dropped(servers: str, tmp_path: Path) -> None:
    """When it comes back it starts empty: its old content in the files of its tasks does not count."""
    create_topics(servers, updrop_in=2, updrop_kept=1, updrop_gone=1)

    def kept(builder: StreamsBuilder) -> None:
        counts = builder.stream("updrop-in").group_by_key().count(store="kept")
        counts.to_stream().to("updrop-kept", value=LONG)

    def both(builder: StreamsBuilder) -> None:
        stream = builder.stream("updrop-in")
        stream.group_by_key().count(store="kept").to_stream().to("updrop-kept", value=LONG)
        stream.group_by_key().count(store="gone").to_stream().to("updrop-gone", value=LONG)

    send(servers, "updrop-in", lines(0, 70))
    run_to_the_end(built("updrop", both), servers, tmp_path)
    send(servers, "updrop-in", lines(70, 140))
    why = refusal(built("updrop", kept), servers, tmp_path)
    assert "store gone is removed: its state would be lost" in why and "--on-change drop" in why
    assert counted(servers, "updrop-kept") == {f"k{n}": 10 for n in range(7)}
    run_to_the_end(built("updrop", kept), servers, tmp_path, on_change="drop")
    assert counted(servers, "updrop-kept") == {f"k{n}": 20 for n in range(7)}
    send(servers, "updrop-in", lines(140, 210))
    run_to_the_end(built("updrop", both), servers, tmp_path)
    assert counted(servers, "updrop-kept") == {f"k{n}": 30 for n in range(7)}
    assert last_values(committed(servers, "updrop-gone")) == {
        f"k{n}".encode(): (10).to_bytes(8) for n in range(7)
    }


def test_parts_that_get_other_numbers_keep_their_state(servers: str, tmp_path: Path) -> None:
    """A new source comes first in the file, while a batch is half done and more input waits."""
    create_topics(servers, upmoved_in=2, upmoved_new=3, upmoved_out=1, upmoved_out2=1)

    def counts(builder: StreamsBuilder, poison: str) -> None:
        stream = builder.stream("upmoved-in").map_values(sticks_at(poison))
        stream.group_by_key().count(store="counts").to_stream().to("upmoved-out", value=LONG)

    def others(builder: StreamsBuilder) -> None:
        stream = builder.stream("upmoved-new")
        stream.group_by_key().count(store="others").to_stream().to("upmoved-out2", value=LONG)

    send(servers, "upmoved-in", [Sent(f"p{n % 2}", "x", n % 2) for n in range(20)])
    run_to_the_end(built("upmoved", lambda b: counts(b, "poison")), servers, tmp_path, instances=2)
    send(servers, "upmoved-in", [Sent(f"p{n % 2}", "poison" if n == 9 else "x", n % 2) for n in range(20)])
    leave_half_done(built("upmoved", lambda b: counts(b, "poison")), servers, tmp_path, "upmoved-out", 30)
    send(servers, "upmoved-in", [Sent(f"p{n % 2}", "x", n % 2) for n in range(20)])
    send(servers, "upmoved-new", [Sent(f"p{n % 3}", "x", n % 3) for n in range(30)])
    run_to_the_end(built("upmoved", others, lambda b: counts(b, "none")), servers, tmp_path, instances=2)
    assert counted(servers, "upmoved-out") == {"p0": 30, "p1": 30}
    assert len(committed(servers, "upmoved-out")) == 60
    assert counted(servers, "upmoved-out2") == {f"p{n}": 10 for n in range(3)}
    # And once more, back to how it was: the new store goes.
    send(servers, "upmoved-in", [Sent("p0", "x", 0)])
    back = built("upmoved", lambda b: counts(b, "none"))
    run_to_the_end(back, servers, tmp_path, instances=2, on_change="drop")
    assert counted(servers, "upmoved-out") == {"p0": 31, "p1": 30}


def test_parts_that_are_joined_and_cut_apart_again_keep_their_state(servers: str, tmp_path: Path) -> None:
    create_topics(servers, upjoin_a=2, upjoin_b=2, upjoin_as=1, upjoin_bs=1, upjoin_sum=1)

    def counts(builder: StreamsBuilder, *, joined: bool) -> None:
        a, b = (builder.stream(f"upjoin-{one}").group_by_key().count(store=f"{one}s") for one in "ab")
        for table, topic in ((a, "upjoin-as"), (b, "upjoin-bs")):
            table.to_stream().to(topic, value=LONG)
        if joined:
            a.join(b, lambda one, other: one + other, value=LONG).to_stream().to("upjoin-sum")

    def send_both(count: int) -> None:
        for topic in ("upjoin-a", "upjoin-b"):
            send(servers, topic, [Sent(f"p{n % 2}", "x", n % 2) for n in range(count)])

    send_both(10)
    run_to_the_end(built("upjoin", lambda b: counts(b, joined=False)), servers, tmp_path)
    send_both(20)
    run_to_the_end(built("upjoin", lambda b: counts(b, joined=True)), servers, tmp_path)
    assert counted(servers, "upjoin-as") == counted(servers, "upjoin-bs") == {"p0": 15, "p1": 15}
    sums = last_values(committed(servers, "upjoin-sum"))
    assert sums == {b"p0": (30).to_bytes(8), b"p1": (30).to_bytes(8)}
    send_both(10)
    run_to_the_end(built("upjoin", lambda b: counts(b, joined=False)), servers, tmp_path)
    assert counted(servers, "upjoin-as") == counted(servers, "upjoin-bs") == {"p0": 20, "p1": 20}


@pytest.mark.parametrize("lost", ["a file", "the last file", "a folder"])
def test_a_checkpoint_that_is_half_deleted_is_noticed(lost: str, servers: str, tmp_path: Path) -> None:
    name = f"uplost-{lost.replace(' ', '-')}"
    create_topics(servers, **{f"{name}_in".replace("-", "_"): 1, f"{name}_out".replace("-", "_"): 1})
    topology = built(
        name,
        lambda b: (
            b.stream(f"{name}-in").group_by_key().count(store="s").to_stream().to(f"{name}-out", value=LONG)
        ),
    )
    for _ in range(3):
        send(servers, f"{name}-in", [Sent("a", "x", 0)])
        run_to_the_end(topology, servers, tmp_path)
    folder = tmp_path / name / "state" / "0_0"
    files = sorted(folder.iterdir(), key=lambda file: int(file.name.partition(".")[0]))
    assert len(files) == 3
    if lost == "a folder":
        shutil.rmtree(folder)
    else:
        files[1 if lost == "a file" else 2].unlink()
    send(servers, f"{name}-in", [Sent("a", "x", 0)])
    why = refusal(topology, servers, tmp_path)
    assert str(folder) in why and "restore the checkpoint" in why and f"moldau streams reset {name}" in why
    if lost == "a file":
        assert files[2].name in why
    assert counted(servers, f"{name}-out") == {"a": 3}
