"""Persistent queries as files that the driver process loads: one for each query, in a folder of the state."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moldau.pipeline.driver_process.application_folder import ApplicationFolder, Wanted
from moldau.pipeline.sql.engine import Catalog, QueryState
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog
from moldau.pipeline.sql.server.settings import ServerSettings

TEMPLATE: Final = '''"""{query_id}, a query of the SQL server, which writes this file: changes are lost."""

from moldau.pipeline.sql.engine import topology_from
{log_import}
PROGRAM = {program!r}


def build():
    return topology_from(PROGRAM{log})
'''
LOG_IMPORT: Final = "from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedQuery(Wanted):
    query_id: str


class ApplicationFiles(ApplicationFolder):
    """`failures_of` gives the processing log of a query, if it has one."""

    def __init__(self, settings: ServerSettings, failures_of: Callable[[str], FailureLog | None]) -> None:
        state = Path(settings.state_dir).absolute()
        super().__init__(state / "queries")
        self._settings = settings
        self._failures_of = failures_of
        self.checkpoints = state / "checkpoints"

    def wanted(self, catalog: Catalog, function_paths: tuple[str, ...]) -> dict[str, WantedQuery]:
        """By application id."""
        found = {}
        for query in list(catalog.queries.values()):
            name = self._settings.application_id(query.id)
            program = program_of(query.id, catalog, function_paths, name).to_json()
            failures = self._failures_of(query.id)
            content = TEMPLATE.format(
                query_id=query.id,
                program=program,
                log_import=LOG_IMPORT if failures else "",
                log=f", {failures!r}" if failures else "",
            )
            found[name] = WantedQuery(
                query_id=query.id,
                application_id=name,
                content=content,
                is_paused=query.state is QueryState.PAUSED,
            )
        return found

    def prepare(self) -> None:
        super().prepare()
        self.checkpoints.mkdir(parents=True, exist_ok=True)
