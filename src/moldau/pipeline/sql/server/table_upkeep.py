"""Keeps ready for pull queries what the catalog says: tables made by a query, and those of CREATE SOURCE TABLE."""

import logging
from collections.abc import Iterator

from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine import Catalog, PersistentQuery
from moldau.pipeline.sql.engine.state import Definitions
from moldau.pipeline.sql.queries.tables import Tables
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.statements import CreateAsSelect

log = logging.getLogger("moldau.sql")


class TableUpkeep:
    def __init__(self, tables: Tables, catalog: Catalog) -> None:
        self._tables = tables
        self._catalog = catalog
        self._kept: dict[str, SourceInfo] = {}

    def keep_up(self) -> None:
        """Called after each change of the catalog."""
        definitions = self._catalog.definitions
        wanted = dict(asked_tables(definitions))
        for name in self._kept.keys() - wanted.keys():
            self._tables.remove(name)
            del self._kept[name]
        for name, query in wanted.items():
            source = definitions.sources[name]
            if self._kept.get(name) != source:
                self._tables.add(source, None if query is None else self._retention_ms(query))
                self._kept[name] = source

    def _retention_ms(self, query: PersistentQuery) -> int | None:
        """How long the query keeps its windows."""
        if query.target is None or query.target.window is None:
            return None
        statement = parse(query.statement)[0].statement
        assert isinstance(statement, CreateAsSelect)
        sources = {one.name: one for one in query.inputs}
        try:
            plan = analyse(statement.query, sources, self._catalog.library, query.types, is_persistent=True)
        except SqlError as wrong:
            log.warning("the windows of %s are kept for good: %s", query.sink, wrong)
            return None
        grouping = plan.grouping
        return None if grouping is None or grouping.window is None else grouping.window.retention_ms


def asked_tables(definitions: Definitions) -> Iterator[tuple[str, PersistentQuery | None]]:
    """By name, with the query that writes each of them."""
    for name, source in definitions.sources.items():
        query = definitions.own_query(name)
        if source.is_table and (query is not None or source.is_read_only):
            yield name, query
