"""What happens to a failure: asks the topology's error handlers, then stops the task, skips, or adds a dead letter.

A handler is called once for each failure, however often a batch is attempted.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.operators.decoding import decoding_error
from moldau.pipeline.operators.failures import (
    ProcessingError,
    ProductionError,
    PunctuationError,
    dead_record,
    place_of,
    reason_of,
    trace_of,
)
from moldau.pipeline.operators.records import (
    NO_HEADERS,
    SKIPPED,
    Columns,
    DeadRecord,
    Headers,
    OutputRecord,
)
from moldau.pipeline.plan.handlers import Choice, ErrorContext, ErrorHandlers, Handler, choose
from moldau.pipeline.plan.nodes import Node, Source

Refused = Mapping[tuple[str, bytes | None, bytes | None, int], str]
"""Records that the broker has rejected, as (topic, key, value, timestamp_ms), and why."""


class HeldRecord(NamedTuple):
    """A record that an operator held back and now releases, as its store has it."""

    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: Headers


class Verdicts:
    def __init__(self, handlers: ErrorHandlers, context: RecordContext) -> None:
        self._handlers = handlers
        self._context = context
        self._chosen: dict[Any, Choice] = {}

    def new_batch(self) -> None:
        self._chosen.clear()

    def stops_at(self, failure: BaseException) -> bool:
        """Whether it stops the task, whatever happens when the batch is run again."""
        return self._handlers.processing == "fail" and not isinstance(failure, ProductionError)

    @property
    def may_skip_failures(self) -> bool:
        return self._handlers.processing == "skip" or callable(self._handlers.processing)

    def on_undecodable(
        self, source: Source, columns: Columns, index: int, failure: BaseException, reason: str
    ) -> None:
        handler, place = self._handlers.deserialization, ("bytes", id(columns), index)
        if place in self._chosen:
            return  # another source of the topic could not read it either
        match self._choice(handler, source.name, columns, index, failure, place):
            case "fail":
                raise decoding_error(source, columns, index, failure, reason) from failure
            case "skip":
                self._context.outputs.drop(source.name, reason)
            case "dead_letter":
                self._context.outputs.dead.append(dead_record(columns, index, failure))

    def on_record(self, source: Source, columns: Columns, index: int, failure: BaseException) -> None:
        """Its effects have been rolled back."""
        place = ("record", id(columns), index)
        if isinstance(failure, ProductionError):  # the production handler has chosen
            choice: Choice = "dead_letter"
        else:
            choice = self._choice(self._handlers.processing, source.name, columns, index, failure, place)
        if choice == "fail":
            raise self.stop_at_record(columns, index, failure) from failure
        if choice == "skip":
            self._context.outputs.drop(source.name, SKIPPED)
        else:
            self._context.outputs.dead.append(dead_record(columns, index, failure))

    def stop_at_record(self, columns: Columns, index: int, failure: BaseException) -> ProcessingError:
        place = place_of(columns, index)
        return ProcessingError(f"the record of {place} could not be processed: {reason_of(failure)}")

    def on_held(self, node: Node, held: HeldRecord, failure: BaseException) -> None:
        """A held record could not be processed when it was released. It is no longer held."""
        handler, context = self._handlers.processing, self._context
        where = ErrorContext(
            node.name, "", context.partition, -1, held.timestamp_ms, held.key, held.value, held.headers
        )
        choice = self._remembered(handler, where, failure, (node.name, held.key, held.timestamp_ms))
        if choice == "fail":
            raise self.stop_at_held(node, held, failure) from failure
        if choice == "skip":
            context.outputs.drop(node.name, SKIPPED)
            return
        reason, trace = reason_of(failure), trace_of(failure)
        context.outputs.dead.append(
            DeadRecord(
                node.name,
                context.partition,
                -1,
                held.timestamp_ms,
                held.key,
                held.value,
                held.headers,
                reason,
                trace,
            )
        )

    def stop_at_held(self, node: Node, held: HeldRecord, failure: BaseException) -> ProcessingError:
        return ProcessingError(
            f"{node.where}: what {node.name} held back for the key {held.key!r}, of time {held.timestamp_ms}, could "
            f"not be processed when it was released: {reason_of(failure)}"
        )

    def on_punctuation(self, owner: str, failure: BaseException) -> None:
        """No record is to blame, so nothing can go to the dead letters."""
        where = ErrorContext(owner, "", -1, -1, self._context.timestamp_ms)
        place = ("punctuation", owner, self._context.timestamp_ms)
        if not self.may_skip_failures or self._remembered(
            self._handlers.processing, where, failure, place
        ) in ("fail", "dead_letter"):
            raise self.stop_at_punctuation(owner, failure) from failure
        self._context.outputs.drop(owner, SKIPPED)

    def stop_at_punctuation(self, owner: str, failure: BaseException) -> PunctuationError:
        return PunctuationError(
            f"a punctuation of {owner} failed at {self._context.timestamp_ms} ms: {reason_of(failure)}. It is no "
            "record's fault, so nothing goes to the dead letters; correct the function, or choose to skip"
        )

    def on_refused(self, output: OutputRecord, reason: str) -> None:
        """The broker rejects an output record. Raises unless only this output is skipped."""
        context = self._context
        where = ErrorContext(
            output.topic,
            context.topic,
            context.record_partition,
            context.offset,
            context.timestamp_ms,
            output=output,
        )
        failure = ProductionError(f"the broker rejects its output for {output.topic}: {reason}")
        place = ("output", output.topic, output.key, output.value, output.timestamp_ms)
        choice = self._remembered(self._handlers.production, where, failure, place)
        if choice == "fail":
            made_of = f"{context.topic}-{context.record_partition} at offset {context.offset}"
            raise ProcessingError(
                f"the broker rejects a record for {output.topic}: {reason}"
                + (f"; its input was the record of {made_of}" if context.columns else "")
            )
        if choice == "skip":
            context.outputs.drop(output.topic, SKIPPED)
        elif context.columns is not None:
            raise failure
        else:
            context.outputs.dead.append(
                DeadRecord(
                    output.topic,
                    -1 if output.partition is None else output.partition,
                    -1,
                    output.timestamp_ms,
                    output.key,
                    output.value,
                    output.headers,
                    reason_of(failure),
                    "",
                )
            )

    def _choice(
        self,
        handler: Handler | None,
        node: str,
        columns: Columns,
        index: int,
        failure: BaseException,
        place: Any,
    ) -> Choice:
        where = ErrorContext(
            node,
            columns.topic,
            columns.partition,
            columns.offsets[index],
            columns.timestamps_ms[index],
            columns.keys[index],
            columns.values[index],
            columns.headers[index] if columns.headers else NO_HEADERS,
        )
        return self._remembered(handler, where, failure, place)

    def _remembered(
        self, handler: Handler | None, where: ErrorContext, failure: BaseException, place: Any
    ) -> Choice:
        choice = self._chosen.get(place)
        if choice is None:
            choice = self._chosen[place] = choose(handler, where, failure)
        return choice


class CheckedRecords(list[OutputRecord]):
    """The outputs of a batch with records that are known to be rejected."""

    def __init__(self, refused: Refused, verdicts: Verdicts) -> None:
        super().__init__()
        self._refused = refused
        self._verdicts = verdicts

    def append(self, output: OutputRecord) -> None:
        reason = self._refused.get((output.topic, output.key, output.value, output.timestamp_ms))
        if reason is None:
            super().append(output)
        else:
            self._verdicts.on_refused(output, reason)
