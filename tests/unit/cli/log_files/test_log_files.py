"""Dumping and verifying log files: sound ones, and ones that were damaged in every way we could think of."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moldau.cli.log_files.log_file import find_files, recognise
from moldau.cli.log_files.verify import Account, verify
from moldau.cli.main import main
from moldau.protocol.records.batch import ATTRIBUTES_AT, HEADER_SIZE, Compression
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.control import ControlType, build_end_transaction_marker
from moldau.protocol.records.record import Record
from moldau.protocol.stored.classic_groups import OffsetCommitKey, OffsetCommitValue
from moldau.protocol.stored.framing import encode_key, encode_versioned

NOW_MS = 1_700_000_000_000
BASE = 100


def batch(offset: int, count: int = 2, codec: Compression = Compression.NONE, epoch: int = 3) -> bytes:
    records = [
        Record(
            offset + number, NOW_MS + offset + number, b"k", f"v{offset + number}".encode(), (("h", b"x"),)
        )
        for number in range(count)
    ]
    return bytes(build_batch(records, base_offset=offset, compression=codec, leader_epoch=epoch))


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """A sound log of two segments with all that belongs to it; three batches of two records in the first."""
    folder = tmp_path / "orders-0"
    folder.mkdir()
    batches = [batch(BASE), batch(BASE + 2, codec=Compression.ZSTD), batch(BASE + 4)]
    first = folder / f"{BASE:020d}.log"
    first.write_bytes(b"".join(batches))
    first.with_suffix(".index").write_bytes(struct.pack(">iiii", 1, 0, 3, len(batches[0])))
    first.with_suffix(".timeindex").write_bytes(struct.pack(">qi", NOW_MS + BASE + 3, 3))
    first.with_suffix(".txnindex").write_bytes(struct.pack(">hqqqq", 0, 7, BASE, BASE + 4, BASE + 5))
    marker = build_end_transaction_marker(
        ControlType.COMMIT,
        producer_id=7,
        producer_epoch=0,
        coordinator_epoch=1,
        timestamp_ms=NOW_MS,
        base_offset=BASE + 6,
        leader_epoch=4,
    )
    (folder / f"{BASE + 6:020d}.log").write_bytes(bytes(marker))
    producer = struct.pack(">qhiqiqiq", 7, 0, -1, BASE + 6, 0, NOW_MS, 1, -1)
    body = struct.pack(">i", 1) + producer
    (folder / f"{BASE + 7:020d}.snapshot").write_bytes(struct.pack(">hI", 1, crc32c(body)) + body)
    (folder / "leader-epoch-checkpoint").write_text(f"0\n2\n3 {BASE}\n4 {BASE + 6}\n")
    (folder / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA\n")
    return folder


def verified(folder: Path, deep: bool = True) -> Account:
    return verify(find_files(folder), deep)


def problems(folder: Path) -> list[str]:
    return [damage.problem for damage in verified(folder).damages]


def test_a_sound_log_has_nothing_to_complain_of(partition: Path) -> None:
    account = verified(partition)
    assert account.damages == []
    assert (account.partitions, account.files, account.batches, account.records) == (1, 7, 4, 7)


def edit(name: str, change: Callable[[bytearray], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / name
        data = bytearray(path.read_bytes())
        change(data)
        path.write_bytes(data)

    return apply


LOG, SECOND = f"{BASE:020d}.log", f"{BASE + 6:020d}.log"
INDEX, TIME_INDEX = f"{BASE:020d}.index", f"{BASE:020d}.timeindex"
TXN_INDEX, SNAPSHOT = f"{BASE:020d}.txnindex", f"{BASE + 7:020d}.snapshot"
EPOCHS = "leader-epoch-checkpoint"


def replaced(place: int, layout: str, value: int) -> Callable[[bytearray], None]:
    return lambda data: struct.pack_into(layout, data, place, value)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (edit(LOG, replaced(HEADER_SIZE + 3, ">b", 99)), "the CRC does not match"),
        (edit(LOG, lambda data: data.pop()), "is truncated"),
        (edit(LOG, lambda data: data.extend(b"xyz")), "3 bytes remain, too few"),
        (edit(LOG, replaced(16, ">b", 1)), "a batch of format 1"),
        (edit(LOG, replaced(8, ">i", 5)), "claims to have 17 bytes"),
        (
            edit(LOG, replaced(0, ">q", BASE - 9)),
            f"begins at offset {BASE - 9}, but at least {BASE} is expected",
        ),
        (edit(SECOND, replaced(12, ">i", 1)), "leader epoch 1 after 3"),
        (edit(INDEX, lambda data: data.pop()), "7 bytes remain, but an entry has 8"),
        (edit(INDEX, replaced(8, ">i", 1)), "is not after the previous one"),
        (edit(INDEX, replaced(12, ">i", 7)), "names position 7, at which no batch begins"),
        (edit(INDEX, replaced(0, ">i", -5)), f"names offset {BASE - 5}, but its batch begins at {BASE}"),
        (edit(TIME_INDEX, replaced(0, ">q", NOW_MS)), f"but an earlier record has {NOW_MS + BASE + 3}"),
        (edit(TIME_INDEX, lambda data: data.extend(bytes(5))), "5 bytes remain"),
        (edit(TXN_INDEX, replaced(0, ">h", 1)), "version 1"),
        (edit(TXN_INDEX, replaced(10, ">q", BASE + 9)), f"from {BASE + 9} to {BASE + 4}"),
        (edit(SNAPSHOT, replaced(12, ">b", 1)), "the CRC does not match"),
        (edit(SNAPSHOT, lambda data: data.clear()), "too few for a snapshot"),
        (edit(SNAPSHOT, replaced(0, ">h", 9)), "version 9"),
        (edit(EPOCHS, lambda data: data.extend(b"5 x\n")), "3 lines instead of 2"),
        (edit(EPOCHS, replaced(4, ">b", ord("9"))), "comes after epoch 9"),
    ],
)
def test_damage_is_found_and_named(partition: Path, damage: Callable[[Path], None], problem: str) -> None:
    damage(partition)
    found = problems(partition)
    assert any(problem in each for each in found), found


def test_segments_that_overlap(partition: Path) -> None:
    (partition / SECOND).rename(partition / f"{BASE + 5:020d}.log")
    assert "the segment begins at 105, but the previous one ends at 105" in problems(partition)


def test_records_that_lie_about_themselves_are_found_in_depth_only(partition: Path) -> None:
    """Their checksum is right: whoever wrote them was wrong."""
    path = partition / LOG
    data = bytearray(path.read_bytes())
    struct.pack_into(">i", data, HEADER_SIZE - 4, 9)
    size = len(batch(BASE))
    struct.pack_into(">I", data, ATTRIBUTES_AT - 4, crc32c(bytes(data[ATTRIBUTES_AT:size])))
    path.write_bytes(data)
    assert verified(partition, deep=False).damages == []
    assert any("the records cannot be read" in each for each in problems(partition))


def test_space_taken_in_advance_is_no_damage(partition: Path) -> None:
    for name in (LOG, INDEX, TIME_INDEX):
        edit(name, lambda data: data.extend(bytes(240)))(partition)
    assert problems(partition) == []


def test_indexes_without_an_entry_are_sound(tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / LOG).write_bytes(batch(BASE, count=1) + batch(BASE + 1, count=1))
    for name in (INDEX, TIME_INDEX):
        (folder / name).write_bytes(bytes(240))
    assert problems(folder) == []


def test_an_empty_log_is_sound(tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    folder.mkdir()
    for suffix in (".log", ".index", ".timeindex"):
        (folder / f"{0:020d}{suffix}").touch()
    assert problems(folder) == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.integers(ATTRIBUTES_AT, len(batch(BASE)) - 1), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(partition: Path, place: int, bit: int) -> None:
    sound = (partition / LOG).read_bytes()
    edit(LOG, replaced(place, ">B", sound[place] ^ 1 << bit))(partition)
    found = problems(partition)
    (partition / LOG).write_bytes(sound)
    assert found


def test_dump_in_the_form_of_kafka(partition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "dump", str(partition / LOG), "--records"]) == 0
    heading, start, first, *rest = capsys.readouterr().out.splitlines()
    assert heading == f"Dumping {partition / LOG}" and start == f"Log starting offset: {BASE}"
    assert first.startswith(
        "baseOffset: 100 lastOffset: 101 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
        "partitionLeaderEpoch: 3 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "
        f"position: 0 CreateTime: {NOW_MS + 101} size: "
    )
    assert first.endswith("isvalid: true") and "magic: 2 compresscodec: none crc: " in first
    assert rest[0] == (
        f"| offset: 100 CreateTime: {NOW_MS + 100} keySize: 1 valueSize: 4 sequence: -1 headerKeys: [h] "
        "key: k payload: v100"
    )
    assert "compresscodec: zstd" in rest[2] and len(rest) == 8


def test_every_kind_of_file_is_dumped(partition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "dump", str(partition), "-r"]) == 0
    text = capsys.readouterr().out
    for line in (
        "offset: 101 position: 0",
        f"timestamp: {NOW_MS + 103} offset: 103",
        "version: 0 producerId: 7 firstOffset: 100 lastOffset: 104 lastStableOffset: 105",
        "| offset: 106 endTxnMarker: COMMIT coordinatorEpoch: 1",
        "epoch: 4 startOffset: 106",
    ):
        assert line in text.splitlines()
    assert "producerId: 7 producerEpoch: 0 lastSequence: -1 lastOffset: 106" in text


def test_a_dump_for_programs(partition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "dump", str(partition / LOG), "-r", "-o", "json", "--from-offset", "104"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["type"] for line in found] == ["batch", "record", "record"]
    assert (found[0]["base_offset"], found[0]["compression"], found[0]["is_valid"]) == (104, "none", True)
    assert (found[1]["offset"], found[1]["key"], found[1]["value"]) == (104, "k", "v104")


def test_offsets_of_groups_are_shown_by_their_fields(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "__consumer_offsets-3"
    folder.mkdir()
    key = encode_key(OffsetCommitKey(group="g", topic="orders", partition=1))
    value = encode_versioned(
        OffsetCommitValue(offset=17, leader_epoch=0, metadata="", commit_timestamp=NOW_MS), 3
    )
    records = [Record(0, NOW_MS, key, value), Record(1, NOW_MS, key, None)]
    (folder / f"{0:020d}.log").write_bytes(bytes(build_batch(records)))
    assert main(["log", "dump", str(folder), "-r", "-o", "json"]) == 0
    _, commit, tombstone = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert commit["kind"] == "OffsetCommit"
    assert commit["key"] == {"group": "g", "topic": "orders", "partition": 1}
    assert commit["value"]["offset"] == 17
    assert tombstone["value"] is None


def test_damage_is_shown_as_far_as_it_goes_and_ends_with_1(
    partition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(LOG, lambda data: data.pop())(partition)
    assert main(["log", "dump", str(partition / LOG)]) == 1
    captured = capsys.readouterr()
    assert captured.out.count("isvalid: true") == 2
    assert "is damaged at byte " in captured.err
    assert main(["log", "verify", str(partition)]) == 1
    assert "1 problem found." in capsys.readouterr().out
    assert main(["log", "verify", str(partition), "-o", "json"]) == 1
    [found] = json.loads(capsys.readouterr().out)["damages"]
    assert found["file"] == str(partition / LOG) and found["position"] > 0


def test_a_sound_log_is_said_to_be(partition: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "verify", str(partition.parent), "--deep"]) == 0
    assert capsys.readouterr().out.startswith("7 files of 1 partition with 7 records in 4 batches, ")


def test_what_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stranger = tmp_path / "notes.txt"
    stranger.touch()
    assert main(["log", "verify", str(stranger)]) == 1
    assert "is not a log file" in capsys.readouterr().err
    assert main(["log", "dump", str(tmp_path)]) == 1
    assert "there are no log files in" in capsys.readouterr().err


def test_files_may_be_named_twice_and_in_any_order(
    partition: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [partition / SECOND, partition / INDEX, partition / LOG, partition]
    assert main(["log", "verify", *map(str, named)]) == 0
    assert capsys.readouterr().out.startswith("7 files of 1 partition ")


def test_names() -> None:
    file = recognise(Path("/data/my-topic-12/00000000000000000042.timeindex"))
    assert file is not None
    assert (file.base_offset, file.kind, file.topic) == (42, ".timeindex", "my-topic")
    deleted = recognise(Path("/data/a-0.0123456789abcdef0123456789abcdef-delete/00000000000000000000.log"))
    assert deleted is not None and deleted.topic == "a"
    assert recognise(Path("00000000000000000042.log.deleted")) is None
