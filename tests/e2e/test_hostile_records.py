"""Record batches that lie: refused with Kafka's error, whatever they would unpack to."""

from collections.abc import Callable

import pytest

from e2e import bombs
from e2e.conversation import (
    LATEST,
    PRODUCE_BY_NAME,
    batch_of,
    create_topic,
    list_offset,
    produce,
    produce_request,
    produce_values,
    values_of,
)
from e2e.hostility import Attacked
from e2e.process_facts import MB
from moldau.core.error_codes import ErrorCode
from moldau.protocol.records.batch import (
    ATTRIBUTES_AT,
    CONTROL_FLAG,
    CRC_AT,
    LENGTH_AT,
    MAGIC_AT,
    Compression,
    write_crc,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("undisturbed")]

BROKER_SETTINGS = {"auto.create.topics.enable": "false"}
MEMORY_BYTES_MAX = 512 * MB
"""One batch may be unpacked to 128 MB, and is then held a few times."""

PLAIN = "plain"
COMPACTED = "compacted"
RECODED = "recoded"
LARGE_MESSAGES = {"max.message.bytes": str(16 * MB)}


@pytest.fixture(scope="module", autouse=True)
def topics(attacked: Attacked) -> None:
    with attacked.connect() as client:
        create_topic(client, PLAIN)
        create_topic(client, COMPACTED, configs={"cleanup.policy": "compact", **LARGE_MESSAGES})
        create_topic(client, RECODED, configs={"compression.type": "lz4", **LARGE_MESSAGES})


def refusal(attacked: Attacked, batch: bytes | bytearray, topic: str = PLAIN) -> ErrorCode:
    """How the batch is refused; nothing of it is kept, and the connection goes on."""
    with attacked.connect() as client:
        before = list_offset(client, topic, LATEST)
        answer = produce(client, topic, batch)
        assert list_offset(client, topic, LATEST) == before
        assert answer.base_offset == -1
        code = ErrorCode(answer.error_code)
        assert code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION or answer.error_message
        assert not attacked.lines_about(client), "a refused batch is the client's business, not the log's"
        return code


def changed(position: int, data: bytes, *, is_sealed: bool = True) -> bytearray:
    """A good batch but for the bytes at `position`; with a CRC that matches if `is_sealed`."""
    batch = batch_of([b"value"], key=b"key")
    batch[position : position + len(data)] = data
    if is_sealed:
        write_crc(batch, 0, len(batch))
    return batch


def test_bad_crc(attacked: Attacked) -> None:
    batch = changed(CRC_AT, b"\x01\x02\x03\x04", is_sealed=False)
    assert refusal(attacked, batch) is ErrorCode.CORRUPT_MESSAGE
    last_byte_changed = batch_of([b"value"])
    last_byte_changed[-1] ^= 1
    assert refusal(attacked, last_byte_changed) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("magic", "code"),
    [
        (0, ErrorCode.INVALID_RECORD),
        (1, ErrorCode.INVALID_RECORD),
        (3, ErrorCode.CORRUPT_MESSAGE),
        (255, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_wrong_magic(attacked: Attacked, magic: int, code: ErrorCode) -> None:
    assert refusal(attacked, changed(MAGIC_AT, bytes([magic]))) is code


@pytest.mark.parametrize(
    ("length", "code"),
    [
        (-1, ErrorCode.CORRUPT_MESSAGE),
        (0, ErrorCode.CORRUPT_MESSAGE),
        (13, ErrorCode.CORRUPT_MESSAGE),
        (40, ErrorCode.CORRUPT_MESSAGE),
        (1000, ErrorCode.INVALID_RECORD),
        (2**31 - 1, ErrorCode.INVALID_RECORD),
    ],
)
def test_wrong_batch_length(attacked: Attacked, length: int, code: ErrorCode) -> None:
    batch = changed(LENGTH_AT, length.to_bytes(4, "big", signed=True), is_sealed=False)
    assert refusal(attacked, batch) is code


def test_cut_batch(attacked: Attacked) -> None:
    batch = batch_of([b"value"])
    for size in (1, 11, 12, 17, 60, 61, len(batch) - 1):
        assert refusal(attacked, batch[:size]) is ErrorCode.INVALID_RECORD, size


def test_two_batches(attacked: Attacked) -> None:
    assert refusal(attacked, batch_of([b"one"]) + batch_of([b"two"])) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("count", [-1, 0, 2, 2**31 - 1])
def test_count_that_contradicts_the_offsets(attacked: Attacked, count: int) -> None:
    records = bytes(batch_of([b"value"])[61:])
    batch = bombs.sealed(records, Compression.NONE, count, last_offset_delta=0)
    assert refusal(attacked, batch) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("count", [2, 1_000_000, 2**31 - 1])
@pytest.mark.parametrize("topic", [COMPACTED, RECODED])
def test_count_that_contradicts_the_records(attacked: Attacked, count: int, topic: str) -> None:
    records = bytes(batch_of([b"value"], key=b"key")[61:])
    assert (
        refusal(attacked, bombs.sealed(records, Compression.NONE, count), topic) is ErrorCode.INVALID_RECORD
    )


def test_codec_that_does_not_exist(attacked: Attacked) -> None:
    for codec in (5, 6, 7):
        batch = changed(ATTRIBUTES_AT, codec.to_bytes(2, "big"))
        assert refusal(attacked, batch) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("topic", [COMPACTED, RECODED])
@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_records_that_are_not_compressed_as_said(attacked: Attacked, codec: int, topic: str) -> None:
    if topic == RECODED and codec == Compression.LZ4:
        pytest.skip("stored as it is: the codec is the topic's")
    batch = changed(ATTRIBUTES_AT, codec.to_bytes(2, "big"))
    assert refusal(attacked, batch, topic) is ErrorCode.INVALID_RECORD


def test_clients_write_no_control_records(attacked: Attacked) -> None:
    batch = changed(ATTRIBUTES_AT, CONTROL_FLAG.to_bytes(2, "big"))
    assert refusal(attacked, batch) is ErrorCode.INVALID_RECORD


def test_too_large(attacked: Attacked) -> None:
    assert refusal(attacked, batch_of([bytes(2 * MB)])) is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("topic", [COMPACTED, RECODED])
@pytest.mark.parametrize(
    "bomb", [bombs.zstd_bomb, bombs.gzip_bomb, bombs.snappy_bomb, bombs.snappy_liar, bombs.lz4_bomb]
)
def test_compression_bomb(attacked: Attacked, bomb: Callable[[], bytearray], topic: str) -> None:
    if topic == RECODED and bomb is bombs.lz4_bomb:
        pytest.skip("stored as it is: the codec is the topic's")
    assert refusal(attacked, bomb(), topic) is ErrorCode.INVALID_RECORD


def test_compression_bomb_is_not_unpacked_where_nobody_asks(attacked: Attacked) -> None:
    """As in Kafka's log: what the topic does not need to see stays as it came."""
    with attacked.connect() as client:
        assert produce(client, PLAIN, bombs.zstd_bomb()).error_code == 0


def test_swarm_of_bad_records(attacked: Attacked) -> None:
    """Eighteen million records to complain about, in a few kilobytes."""
    count = 127 * MB // 7
    assert refusal(attacked, bombs.swarm(count), COMPACTED) is ErrorCode.INVALID_RECORD


def test_error_without_acknowledgements_closes(attacked: Attacked) -> None:
    """The only way to tell a client that asked for no answer."""
    with attacked.connect() as client:
        batch = changed(CRC_AT, b"\x01\x02\x03\x04", is_sealed=False)
        client.send(produce_request(PLAIN, {0: batch}, acks=0), PRODUCE_BY_NAME)
        assert client.is_closed_by_broker()
        assert "CORRUPT_MESSAGE" in attacked.the_line_about(client)


def test_good_batches_still_pass(attacked: Attacked) -> None:
    with attacked.connect() as client:
        for setting, value in (("cleanup.policy", "compact"), ("compression.type", "lz4")):
            topic = f"good.{value}"
            create_topic(client, topic, configs={setting: value})
            for codec in Compression:
                produce_values(client, topic, [b"good %d" % codec], key=b"%d" % codec, compression=codec)
            assert set(values_of(client, topic)) >= {b"good %d" % codec for codec in Compression}
