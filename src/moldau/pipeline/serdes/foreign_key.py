"""The messages between the two sides of a foreign-key join: subscriptions and answers."""

from enum import IntEnum
from typing import Any, NamedTuple

from moldau.pipeline.serdes.framing import pack_frames, unpack_frames
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde


class Instruction(IntEnum):
    """What the foreign side does with a subscription, besides keeping or dropping it (KIP-213)."""

    DELETE_QUIETLY = 0
    DELETE_AND_ANSWER = 1
    ANSWER_EVEN_NULL = 2
    ANSWER_IF_FOUND = 3

    @property
    def deletes(self) -> bool:
        return self in (Instruction.DELETE_QUIETLY, Instruction.DELETE_AND_ANSWER)


class Subscription(NamedTuple):
    """`digest` is of the current left value, to recognise an answer to an older value."""

    digest: bytes | None
    instruction: Instruction
    key: Any
    partition: int


class Answer(NamedTuple):
    digest: bytes | None
    value: Any
    partition: int


class SubscriptionSerde(Serde):
    def __init__(self, key: Serde) -> None:
        self._key = key

    @property
    def name(self) -> str:
        return f"subscription({self._key.name})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        encode = self._key.encoder(topic, is_key=True)
        return lambda one: pack_frames(
            [one.digest, bytes([one.instruction]), encode(one.key), one.partition.to_bytes(4, "big")]
        )

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        decode = self._key.decoder(topic, is_key=True)

        def subscription(data: bytes | None) -> Subscription:
            digest, instruction, key, partition = unpack_frames(data or b"")
            number = int.from_bytes(partition or b"", "big")
            return Subscription(digest, Instruction((instruction or b"\0")[0]), decode(key), number)

        return subscription


class AnswerSerde(Serde):
    def __init__(self, value: Serde) -> None:
        self._value = value

    @property
    def name(self) -> str:
        return f"answer({self._value.name})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        encode = self._value.encoder(topic, is_key=False)
        return lambda one: pack_frames([one.digest, encode(one.value), one.partition.to_bytes(4, "big")])

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        decode = self._value.decoder(topic, is_key=False)

        def answer(data: bytes | None) -> Answer:
            digest, value, partition = unpack_frames(data or b"")
            return Answer(digest, decode(value), int.from_bytes(partition or b"", "big"))

        return answer
