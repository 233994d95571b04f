"""Rows to records: INSERT VALUES."""

import asyncio
from typing import Any

from moldau.pipeline.sql.definitions import SourceInfo


class Inserts:
    """One idempotent producer for the process, acks=all."""

    def send(
        self,
        source: SourceInfo,
        key: tuple[Any, ...] | None,
        value: tuple[Any, ...] | None,
        timestamp_ms: int,
    ) -> "asyncio.Future[None]":
        """For an event loop: returns at once; the future is done when the record is acknowledged, or fails. Thousands
        may be outstanding. The fields are those of `engine.InsertRow`; `value` holds the `stored_columns`."""
        raise NotImplementedError

    async def insert(
        self,
        source: SourceInfo,
        key: tuple[Any, ...] | None,
        value: tuple[Any, ...] | None,
        timestamp_ms: int,
    ) -> None:
        """Returns when the record is acknowledged."""
        await self.send(source, key, value, timestamp_ms)

    def close(self) -> None:
        raise NotImplementedError
