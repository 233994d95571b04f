"""The last batches of a run, told through the checkpoint's folder by who runs them to who asked for them: beside a
Spark Connect server the two are different processes, perhaps on different machines.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from moldau.pipeline.spark.batch_runner import BatchDone
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.offset_log import OffsetRange
from moldau.pipeline.spark.orders import SlotReport

BATCHES: Final = "batches.json"
STOP: Final = "stop"
KEPT: Final = 50


class BatchJournal:
    def __init__(self, folder: Folder, run_id: str) -> None:
        """Other runs' entries are not seen."""
        self._folder = folder
        self._run_id = run_id
        self._kept: list[dict[str, Any]] = []
        self._seen = -1

    def add(self, done: BatchDone) -> None:
        entry = {**done._asdict(), "reports": [asdict(report) for report in done.reports]}
        self._kept = [*self._kept[1 - KEPT :], entry]
        self._folder.write(BATCHES, json.dumps({"run": self._run_id, "batches": self._kept}).encode())

    def news(self) -> Iterator[BatchDone]:
        """Those added since the last call; of a great many at once the last."""
        told = json.loads(self._folder.read(BATCHES) or b"{}")
        for entry in told.get("batches", ()) if told.get("run") == self._run_id else ():
            if entry["batch_id"] > self._seen:
                self._seen = entry["batch_id"]
                ranges = [OffsetRange(*one) for one in entry["ranges"]]
                reports = [SlotReport(**one) for one in entry["reports"]]
                yield BatchDone(entry["batch_id"], ranges, reports, entry["took_s"])

    def ask_to_stop(self) -> None:
        self._folder.write(STOP, self._run_id.encode())

    @property
    def is_to_stop(self) -> bool:
        return self._folder.read(STOP) == self._run_id.encode()
