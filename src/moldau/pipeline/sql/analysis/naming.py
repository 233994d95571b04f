"""The names of the columns of a SELECT where it gives none. Takes the same time for each column, however many there
are."""

from collections.abc import Iterator, Sequence
from itertools import chain, count

from moldau.pipeline.sql.analysis.scope import Binding
from moldau.pipeline.sql.syntax.tree.expressions import ColumnName, Expression, FieldOf
from moldau.pipeline.sql.syntax.tree.relations import OneColumn, Query


class ColumnNames:
    def __init__(self, query: Query, bindings: Sequence[Binding]) -> None:
        self._taken = {one.alias for one in query.items if isinstance(one, OneColumn) and one.alias}
        self._owners: dict[str, set[str]] = {}
        for binding in bindings:
            self._owners.setdefault(binding.name, set()).add(binding.source)
        self._numbered = (f"KSQL_COL_{number}" for number in count())
        self._of_fields: dict[str, Iterator[str]] = {}

    def take(self, name: str) -> None:
        """The name of a column that is selected."""
        self._taken.add(name)

    def name_of(self, expression: Expression) -> str:
        """A column that several sources have gets the name of its source before its own."""
        match expression:
            case ColumnName(name=name, source=source):
                owners = self._owners.get(name, set())
                return f"{source}_{name}" if source and len(owners - {""}) > 1 else name
            case FieldOf(name=name):
                numbered = chain((name,), (f"{name}_{number}" for number in count(1)))
                candidates = self._of_fields.setdefault(name, numbered)
                return next(one for one in candidates if one not in self._taken)
        return next(one for one in self._numbered if one not in self._taken and one not in self._owners)
