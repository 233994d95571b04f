"""The foreign-key join of two tables (KIP-213), in three steps with a topic between each.

subscribe (left side) -> answer (right side, by foreign key) -> resolve (left side again). An answer has the digest of
the left value that subscribed. It is dropped if that value has changed meanwhile.

An inner join asks for an answer only if that may change its result: a row without a result does not need one when
nothing is found. While an answer is outstanding, it is not known whether the row has a result, because the answer may
be dropped. Such a row always asks for an answer; otherwise its previous result would stay.
"""

import hashlib
import struct
from typing import Any

from moldau.pipeline.operators.history import latest_only
from moldau.pipeline.operators.records import Headers
from moldau.pipeline.operators.wiring import Push, Wiring, builds
from moldau.pipeline.plan.nodes import ForeignKeyAnswer, ForeignKeyResolve, ForeignKeySubscribe, JoinKind
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.serdes.foreign_key import Answer, Instruction, Subscription, SubscriptionSerde

_LENGTH = struct.Struct(">i")


def digest_of(stored: bytes | None) -> bytes | None:
    return None if stored is None else hashlib.blake2b(stored, digest_size=16).digest()


class _Unanswered:
    """Left rows with an outstanding answer: key to the digest of the subscription."""

    def __init__(self, spec: StoreSpec, wiring: Wiring) -> None:
        self._store = wiring.state.key_value(spec.name)
        self._encode_key, _, _ = wiring.store_codecs(spec)

    def asked(self, key: Any, digest: bytes | None, instruction: Instruction) -> Instruction:
        """Returns the instruction to send instead."""
        if instruction is Instruction.DELETE_QUIETLY:
            return instruction
        place = self._encode_key(key) or b""
        if instruction is Instruction.ANSWER_IF_FOUND:
            if self._store.get(place) is None:
                return instruction
            instruction = Instruction.ANSWER_EVEN_NULL
        self._store.put(place, digest or b"", 0)
        return instruction

    def is_asked(self, key: Any) -> bool:
        return self._store.get(self._encode_key(key) or b"") is not None

    def answered(self, key: Any, digest: bytes | None) -> None:
        place = self._encode_key(key) or b""
        asked = self._store.get(place)
        if asked is not None and asked[0] == (digest or b""):
            self._store.put(place, None, 0)


def _unanswered(node: ForeignKeySubscribe | ForeignKeyResolve, wiring: Wiring) -> _Unanswered | None:
    return None if node.unanswered is None else _Unanswered(node.unanswered, wiring)


@builds(ForeignKeySubscribe)
def subscribe(node: ForeignKeySubscribe, wiring: Wiring) -> list[Push]:
    forward, extract, context = wiring.downstream(node), node.extractor, wiring.context
    encode_value = node.left_value_serde.encoder(node.name, is_key=False)
    instructions = _left_instructions if node.kind is JoinKind.LEFT else _inner_instructions

    unanswered = _unanswered(node, wiring)

    def push(key: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        old_foreign = None if old is None else extract(old)
        new_foreign = None if new is None else extract(new)
        digest = digest_of(encode_value(new))
        told = instructions(old, new, old_foreign, new_foreign)
        if not told and unanswered is not None and unanswered.is_asked(key):
            # The row refers to nothing, as before, but what took its result away may be dropped.
            told = [(None, Instruction.ANSWER_EVEN_NULL)]
        for foreign, instruction in told:
            if unanswered is not None:
                instruction = unanswered.asked(key, digest, instruction)
            subscription = Subscription(digest, instruction, key, context.partition)
            forward(foreign, subscription, timestamp_ms, headers)

    return [latest_only(node.parents[0], push, wiring)]


def _left_instructions(
    old: Any, new: Any, old_foreign: Any, new_foreign: Any
) -> list[tuple[Any, Instruction]]:
    if old is None and new is None:
        return []
    told: list[tuple[Any, Instruction]] = []
    if old_foreign is not None and old_foreign != new_foreign:
        told.append((old_foreign, Instruction.DELETE_QUIETLY))
    return [*told, (new_foreign, Instruction.ANSWER_EVEN_NULL)]


def _inner_instructions(
    old: Any, new: Any, old_foreign: Any, new_foreign: Any
) -> list[tuple[Any, Instruction]]:
    if new_foreign is None:
        return [] if old_foreign is None else [(old_foreign, Instruction.DELETE_AND_ANSWER)]
    if old_foreign is None or old_foreign == new_foreign:
        return [(new_foreign, Instruction.ANSWER_IF_FOUND)]
    return [(old_foreign, Instruction.DELETE_QUIETLY), (new_foreign, Instruction.ANSWER_EVEN_NULL)]


@builds(ForeignKeyAnswer)
def answer(node: ForeignKeyAnswer, wiring: Wiring) -> list[Push]:
    forward, lookup = wiring.downstream(node), wiring.getter(node.table)
    store = wiring.state.key_value(node.store.name)
    encode_foreign = node.foreign_key_serde.encoder(node.name, is_key=True)
    encode_key = node.left_key_serde.encoder(node.name, is_key=True)
    serde = SubscriptionSerde(node.left_key_serde)
    encode, decode = serde.encoder(node.name, is_key=False), serde.decoder(node.name, is_key=False)

    def prefix_of(foreign: Any) -> bytes:
        data = encode_foreign(foreign) or b""
        return _LENGTH.pack(len(data)) + data

    def subscribed(foreign: Any, one: Subscription, timestamp_ms: int, headers: Headers) -> None:
        if foreign is None and one.instruction is not Instruction.ANSWER_EVEN_NULL:
            return
        found = None
        if foreign is not None:
            place = prefix_of(foreign) + (encode_key(one.key) or b"")
            store.put(place, None if one.instruction.deletes else encode(one), timestamp_ms)
            found = lookup(foreign)
        if one.instruction is Instruction.DELETE_QUIETLY:
            return
        if found is None and one.instruction is Instruction.ANSWER_IF_FOUND:
            return
        value = None if found is None or one.instruction.deletes else found[0]
        result_ms = timestamp_ms if found is None else max(timestamp_ms, found[1])
        forward(one.key, Answer(one.digest, value, one.partition), result_ms, headers)

    def changed(foreign: Any, new: Any, old: Any, timestamp_ms: int, headers: Headers) -> None:
        if foreign is None:
            return
        for _, (stored, _) in list(store.with_prefix(prefix_of(foreign))):
            one = decode(stored)
            forward(one.key, Answer(one.digest, new, one.partition), timestamp_ms, headers)

    return [subscribed, latest_only(node.table, changed, wiring)]


@builds(ForeignKeyResolve)
def resolve(node: ForeignKeyResolve, wiring: Wiring) -> list[Push]:
    forward, lookup, joiner = wiring.downstream(node), wiring.getter(node.table), node.joiner
    encode_value = node.left_value_serde.encoder(node.name, is_key=False)
    left = node.kind is JoinKind.LEFT

    unanswered = _unanswered(node, wiring)

    def push(key: Any, answered: Answer, timestamp_ms: int, headers: Headers) -> None:
        if unanswered is not None:
            unanswered.answered(key, answered.digest)
        found = lookup(key)
        value = None if found is None else found[0]
        if digest_of(encode_value(value)) != answered.digest:
            return
        nothing = answered.value is None and (not left or value is None)
        forward(key, None if nothing else joiner(value, answered.value), timestamp_ms, headers)

    return [push]
