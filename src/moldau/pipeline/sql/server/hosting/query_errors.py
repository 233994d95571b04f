"""Errors of persistent queries, as those who write SQL are told of them: advice in SQL, and lines in the log."""

import logging
import re
import threading
from typing import Final

from moldau.pipeline.driver_process.process import Status
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.sql.engine import PersistentQuery

NOT_WELL: Final = (PipelineState.FAILED, PipelineState.RESTARTING)

log = logging.getLogger("moldau.sql")


def in_sql(message: str, query: PersistentQuery, application_id: str) -> str:
    """Pipelines advise commands for applications; a query is not one that its author started."""
    command = rf"moldau streams reset(?: {re.escape(application_id)})?(?: --checkpoint-lost)?"
    if query.kind == "INSERT" or query.target is None:
        advice = f"TERMINATE {query.id}; and then its INSERT INTO {query.sink} again"
    else:
        advice = (
            f"TERMINATE {query.id}; DROP {query.target.kind.value} {query.sink}; and then its CREATE again"
        )
    return re.sub(command, lambda _: advice, message)


class StateChanges:
    """Writes to the log when a query changes to ERROR, and when it runs again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._not_well: set[str] = set()

    def heard(self, query: PersistentQuery, application_id: str, status: Status | None) -> None:
        """None: the query is not there any more."""
        state = None if status is None else status["state"]
        with self._lock:
            was_not_well = query.id in self._not_well
            if state in NOT_WELL:
                self._not_well.add(query.id)
            elif state in (None, PipelineState.RUNNING, PipelineState.PAUSED):
                self._not_well.discard(query.id)
        if status is not None and state in NOT_WELL and not was_not_well:
            why = in_sql(str(status.get("last_error")), query, application_id)
            goes_on = "it is started again" if state == PipelineState.RESTARTING else "it cannot run"
            log.error("the query %s is in the state ERROR, %s: %s", query.id, goes_on, why)
        elif was_not_well and state == PipelineState.RUNNING:
            log.info("the query %s is in the state RUNNING again", query.id)
