"""Persistent queries as files that the driver process loads: one for each query, in a folder of the state."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moldau.pipeline.sql.engine import Catalog, QueryState
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog
from moldau.pipeline.sql.server.settings import ServerSettings

OWNER_ONLY: Final = 0o600
TEMPLATE: Final = '''"""{query_id}, a query of the SQL server, which writes this file: changes are lost."""

from moldau.pipeline.sql.engine import topology_from
{log_import}
PROGRAM = {program!r}


def build():
    return topology_from(PROGRAM{log})
'''
LOG_IMPORT: Final = "from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog\n"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query as it shall run."""

    query_id: str
    application_id: str
    content: str
    """Of its file: another content is another topology."""
    is_paused: bool

    @property
    def file_name(self) -> str:
        return f"{self.application_id}.py"


class ApplicationFiles:
    """`failures_of` gives the processing log of a query, if it has one."""

    def __init__(self, settings: ServerSettings, failures_of: Callable[[str], FailureLog | None]) -> None:
        self._settings = settings
        self._failures_of = failures_of
        state = Path(settings.state_dir).absolute()
        self.folder = state / "queries"
        self.checkpoints = state / "checkpoints"

    def wanted(self, catalog: Catalog, function_paths: tuple[str, ...]) -> dict[str, Wanted]:
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
            found[name] = Wanted(query.id, name, content, query.state is QueryState.PAUSED)
        return found

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.checkpoints.mkdir(parents=True, exist_ok=True)

    def write(self, wanted: Wanted) -> str:
        """The path of the file, written if its content is another."""
        path = self.folder / wanted.file_name
        if not path.is_file() or path.read_text() != wanted.content:
            new = path.with_suffix(".new")
            # It may have the registry's password.
            new.touch(OWNER_ONLY)
            new.write_text(wanted.content)
            new.replace(path)
        return str(path)

    def remove(self, application_id: str) -> None:
        (self.folder / f"{application_id}.py").unlink(missing_ok=True)

    def left_over(self, wanted: Collection[str]) -> list[str]:
        """Application ids of files of queries that are no longer wanted: they ended while no server hosted them."""
        return [path.stem for path in self.folder.glob("*.py") if path.stem not in wanted]
