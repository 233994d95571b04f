"""The names an expression may use: the columns of the sources, pseudo columns, functions, types."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from moldau.pipeline.code.tree import Apply, Argument, Code, Operation
from moldau.pipeline.sql.expressions.named_types import NamedTypes
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.functions.declaration import Aggregate, Function, Scalar, TableFunction
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree import expressions as tree
from moldau.pipeline.sql.types import BIGINT, INTEGER, SqlType

KEY: Final = "key"
VALUE: Final = "value"
TIMESTAMP_MS: Final = "timestamp_ms"
PARAMETERS: Final = (KEY, VALUE, TIMESTAMP_MS)
"""What the function of a record is given."""

ROWTIME: Final = "ROWTIME"
PSEUDO_COLUMNS: Final = {ROWTIME: BIGINT, "ROWPARTITION": INTEGER, "ROWOFFSET": BIGINT}
WINDOW_BOUNDS: Final = ("WINDOWSTART", "WINDOWEND")
SYSTEM_COLUMNS: Final = frozenset((*PSEUDO_COLUMNS, *WINDOW_BOUNDS))
"""No column of a user's may have one of these names."""


class FunctionLibrary(Protocol):
    def find(self, name: str) -> Function | None: ...

    def names(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Binding:
    """A column that may be named, with the source it belongs to."""

    source: str
    name: str
    type: SqlType
    code: Code
    is_pseudo: bool = False
    """Left out by `*`."""
    is_key: bool = False


def read(parameter: str, index: int) -> Code:
    """A column of a tuple that is there."""
    return Apply(
        Operation(f"{parameter}[{index}]", f"{{0}}[{index}]", takes_null=True, is_read=True),
        (Argument(parameter),),
    )


def read_key(index: int) -> Code:
    """A column of a key that may be missing."""
    operation = Operation(
        f"key[{index}]", f"None if {{0}} is None else {{0}}[{index}]", takes_null=True, is_read=True
    )
    return Apply(operation, (Argument(KEY),))


@dataclass(slots=True)
class QueryScope:
    bindings: Sequence[Binding]
    functions: FunctionLibrary
    types: Mapping[str, SqlType] = field(default_factory=dict)
    settled: dict[tree.Expression, Typed] = field(default_factory=dict)
    """Parts whose value is known otherwise: aggregates and grouping expressions, after the grouping."""
    unknown: Callable[[tree.ColumnName], SqlError] | None = None
    """What is said of a name that is not there, where more is known than its spelling."""
    _by_name: dict[str, list[Binding]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for binding in self.bindings:
            self._by_name.setdefault(binding.name, []).append(binding)

    def known(self, expression: tree.Expression) -> Typed | None:
        return self.settled.get(expression) if self.settled else None

    def named(self, name: str) -> Sequence[Binding]:
        """The columns of that name, one of each source that has it."""
        return self._by_name.get(name, ())

    def column(self, name: tree.ColumnName) -> Typed:
        found = [one for one in self.named(name.name) if name.source in (None, one.source)]
        if not found:
            raise self._unknown(name)
        own = [binding for binding in found if not binding.source]
        if len(found) > 1 and own:
            found = own  # ROWTIME by itself is the joined record's
        if len(found) > 1:
            sources = " or ".join(f"{binding.source}.{binding.name}" for binding in found)
            raise SqlError(f"{name.name} is ambiguous", name.at, hint=f"Write {sources}.")
        return Typed(found[0].type, found[0].code)

    def _unknown(self, name: tree.ColumnName) -> SqlError:
        if self.unknown is not None:
            return self.unknown(name)
        sources = list(dict.fromkeys(binding.source for binding in self.bindings))
        if name.source is not None and name.source not in sources:
            hint = did_you_mean(name.source, sources) or f"The query reads {', '.join(sources)}."
            return SqlError(f"unknown source {name.source}", name.at, hint=hint)
        known = [binding.name for binding in self.bindings if name.source in (None, binding.source)]
        shown = [binding.name for binding in self.bindings if not binding.is_pseudo]
        hint = did_you_mean(name.name, known) or f"The columns are {', '.join(dict.fromkeys(shown))}."
        return SqlError(f"unknown column {name.name}", name.at, hint=hint)

    def scalar(self, call: tree.Call) -> Scalar:
        found = self.function(call)
        match found:
            case Scalar():
                return found
            case Aggregate():
                hint = "Aggregates stand in the SELECT and the HAVING of a query with GROUP BY."
                raise SqlError(f"the aggregate {call.name} cannot stand here", call.at, hint=hint)
            case TableFunction():
                hint = "It stands by itself in the SELECT: it makes several rows of one."
                raise SqlError(f"the table function {call.name} cannot stand here", call.at, hint=hint)
        raise TypeError(f"{found!r} is no function")

    def function(self, call: tree.Call) -> Function:
        found = self.functions.find(call.name)
        if found is None:
            hint = did_you_mean(call.name, self.functions.names()) or "SHOW FUNCTIONS; lists them."
            raise SqlError(f"unknown function {call.name}", call.at, hint=hint)
        return found

    def type_named(self, name: tree.NamedType) -> SqlType:
        return NamedTypes(self.types).type_named(name)
