"""The plans of an application in its checkpoint, one small file per batch, written before the batch runs.

A repeated batch is the same batch, because its plan is read from here and not computed again. A new run only needs the
last plan; a few more are kept for inspection.
"""

import json
from dataclasses import asdict
from typing import Final

from moldau.core.errors import MoldauError
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.positions import positions_from_json

PLANS_KEPT: Final = 5
VERSION: Final = 1


class Ledger:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def last(self) -> Plan | None:
        """None before the first batch."""
        batches = self._batches()
        if not batches:
            return None
        content = self._folder.read(str(batches[-1]))
        if content is None:
            raise MoldauError(
                f"the plan {self._folder.address}/{batches[-1]} is missing: restore the checkpoint"
            )
        try:
            return _parsed(content)
        except (ValueError, KeyError, TypeError) as broken:
            raise MoldauError(
                f"the plan {self._folder.address}/{batches[-1]} cannot be read ({broken}): restore the checkpoint "
                "or reset the application"
            ) from None

    def write(self, plan: Plan) -> None:
        content = {"version": VERSION, **asdict(plan)}
        self._folder.write(str(plan.batch_id), json.dumps(content).encode())
        old = plan.batch_id - PLANS_KEPT
        if old >= 0:
            self._folder.remove(str(old))

    def _batches(self) -> list[int]:
        return sorted(int(name) for name in self._folder.names() if name.isdigit())


def _parsed(content: bytes) -> Plan:
    entry = json.loads(content)
    if entry.pop("version") != VERSION:
        raise ValueError("it has another version")
    entry["starts"] = positions_from_json(json.dumps(entry["starts"]))
    entry["ends"] = positions_from_json(json.dumps(entry["ends"]))
    entry["delayed"] = {
        topic: tuple({int(partition): offset for partition, offset in one.items()} for one in later)
        for topic, later in entry["delayed"].items()
    }
    entry["woken"] = tuple(entry["woken"])
    return Plan(**entry)
