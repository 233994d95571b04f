"""Deletes what has been read of an application's own topics."""

import time
from collections.abc import Collection
from typing import Final

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from moldau.pipeline.spark.planning.planner import Plan

PURGE_EVERY_S: Final = 30.0


class Purge:
    def __init__(self, admin: AdminClient, topics: Collection[str]) -> None:
        self._admin, self._topics = admin, topics
        self._purged_at = time.monotonic()

    def after(self, plan: Plan) -> None:
        """Deletes what the batches before this one have read: nobody reads it again. Does so every few seconds."""
        now = time.monotonic()
        if not self._topics or now - self._purged_at < PURGE_EVERY_S:
            return
        self._purged_at = now
        read = [
            TopicPartition(one.topic, one.partition, one.start_offset)
            for one in plan.ranges()
            if one.topic in self._topics and one.start_offset > 0
        ]
        if read:
            for future in self._admin.delete_records(read).values():
                # A failure costs disk space only, and the next purge tries again.
                future.exception(PURGE_EVERY_S)
