"""What happens to a record that failed: its task fails, or it is counted, logged and made a dead letter. Pure."""

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.runtime.chain_settings import ChainSettings
from moldau.pipeline.connect.runtime.record_failures import (
    Failure,
    Origin,
    RecordFailed,
    context_headers,
)
from moldau.pipeline.connect.runtime.source_chain import ProducerRecord
from moldau.pipeline.connect.runtime.task_settings import TaskSettings

log = logging.getLogger("moldau.connect")

Headers = Sequence[tuple[str, bytes | None]]


class FailedRecords:
    """Of one task."""

    def __init__(
        self,
        chain: ChainSettings,
        settings: TaskSettings,
        connector: str,
        task: int,
        mask: Callable[[str], str] = str,
    ) -> None:
        """`mask` hides secrets in texts."""
        self._chain = chain
        self._settings = settings
        self._connector = connector
        self._task = task
        self._mask = mask

    @property
    def topic(self) -> str:
        """Of dead letters; empty: there are none."""
        return self._settings.dead_letter_topic

    @property
    def replicas(self) -> int:
        return self._settings.dead_letter_replicas

    def judge(
        self, failure: Failure, origin: Origin, key: bytes | None, value: bytes | None, headers: Headers = ()
    ) -> ProducerRecord | None:
        """The dead letter, if there shall be one. Raises RecordFailed when failures are not tolerated."""
        self._log(failure, origin)
        if not self._chain.tolerates:
            raise RecordFailed(failure, described(origin)) from failure.error
        if not self.topic:
            return None
        told: list[tuple[str, str | bytes | None]] = list(headers)
        if self._settings.with_context_headers:
            told += context_headers(failure, origin, self._connector, self._task, self._mask)
        return ProducerRecord(self.topic, value, key, headers=told)

    def judge_source(self, record: SourceRecord, failure: Failure) -> ProducerRecord | None:
        """Of a record that has no bytes: key and value as JSON, as far as they have a form in it."""
        return self.judge(failure, source_origin(record), as_json(record.key), as_json(record.value))

    def _log(self, failure: Failure, origin: Origin) -> None:
        if not self._settings.logs_errors:
            return
        which = f", {described(origin)}" if self._chain.logs_records else ""
        log.error(
            "Error encountered in task %s-%d. Executing stage '%s' with class '%s'%s: %s",
            self._connector,
            self._task,
            failure.stage,
            failure.component,
            which,
            self._mask(str(failure.error)),
        )


def described(origin: Origin) -> str:
    if origin.topic:
        return f"the record {origin.topic}-{origin.partition} at offset {origin.offset}"
    return f"the record of the source partition {origin.partition} at offset {origin.offset}"


def source_origin(record: SourceRecord) -> Origin:
    return Origin(
        "",
        json.dumps(record.source_partition, default=str),
        json.dumps(record.source_offset, default=str),
    )


def as_json(value: Any) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode(errors="replace")
    return json.dumps(value, default=_plain, ensure_ascii=False).encode(errors="replace")


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return dict(zip((one.name for one in value.schema.fields), value.values, strict=True))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)
