"""What a pull query asks of a table: keys, and a condition for the rest. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from moldau.pipeline.code.source import FAILURES, compile_value
from moldau.pipeline.code.tree import Code, Constant
from moldau.pipeline.sql.analysis.scope import FunctionLibrary, QueryScope
from moldau.pipeline.sql.analysis.walking import parts
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.expressions.casts import cast
from moldau.pipeline.sql.expressions.operators import comparable
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import expressions as tree
from moldau.pipeline.sql.types import SqlType

KEYS_MAX: Final = 10_000
"""More combinations of keys than this are a scan."""
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TableLookup:
    keys: tuple[Key, ...] | None
    """The keys to be looked up; None: the whole table is scanned."""
    condition: Callable[[Any, Any, int], bool] | None
    row: Callable[[Any, Any, int], Any]
    """Both are functions of the record's key, value and time. Rows of other keys fail the condition too."""


def keys_asked(
    where: tree.Expression | None, source: SourceInfo, functions: FunctionLibrary
) -> tuple[Key, ...] | None:
    """The only keys that rows can have if the condition holds; None where it says too little."""
    if where is None:
        return None
    found = _KeySearch(source, functions).keys(where)
    return None if found is None else tuple(dict.fromkeys(found))


def is_all_of_the_key(where: tree.Expression | None, source: SourceInfo) -> bool:
    """Whether the condition says what the one column of the key is, and nothing else: then the rows of the keys fulfil
    it."""
    names = [column.name for column in source.schema.key]
    match where:
        case tree.Comparison(operator="=", left=tree.ColumnName(name=name)):
            return names == [name]
    return False


class _KeySearch:
    def __init__(self, source: SourceInfo, functions: FunctionLibrary) -> None:
        self._types = {column.name: column.type for column in source.schema.key}
        self._constants = QueryScope((), functions)

    def keys(self, condition: tree.Expression) -> list[Key] | None:
        if isinstance(condition, tree.Logical) and condition.operator == "OR":
            each = [self.keys(one) for one in condition.operands]
            return None if None in each else [key for keys in each for key in keys or ()]
        operands: Sequence[tree.Expression] = (condition,)
        if isinstance(condition, tree.Logical):
            operands = condition.operands
        values: dict[str, list[Any]] = {}
        for one in operands:
            if isinstance(one, tree.Logical):
                inner = self.keys(one)
                if inner is not None:
                    return inner
            elif (choice := self._choice(one)) is not None:
                values.setdefault(*choice)
        if values.keys() != self._types.keys():
            return None
        columns = [values[name] for name in self._types]
        count = 1
        for choices in columns:
            count *= len(choices)
        return list(product(*columns)) if count <= KEYS_MAX else None

    def _choice(self, condition: tree.Expression) -> tuple[str, list[Any]] | None:
        """A column of the key and the values it may have."""
        match condition:
            case tree.Comparison(operator="=", left=tree.ColumnName() as column, right=value):
                choices: tuple[tree.Expression, ...] = (value,)
            case tree.Comparison(operator="=", left=value, right=tree.ColumnName() as column):
                choices = (value,)
            case tree.InList(of=tree.ColumnName() as column, choices=choices, is_negated=False):
                pass
            case _:
                return None
        kind = self._types.get(column.name)
        if kind is None:
            return None
        values: list[Any] = []
        for one in choices:
            if any(isinstance(part, tree.ColumnName | tree.Call) for part in parts(one)):
                return None
            try:
                values += self._equal_to(typed(one, self._constants), kind)
            except (SqlError, *FAILURES):
                return None
        return column.name, values

    def _equal_to(self, constant: Typed, kind: SqlType) -> list[Any]:
        """The value of the type that equals the constant, if there is one."""
        if constant.type is None:
            return []
        column = Typed(kind, _COLUMN)
        left, right = comparable(column, constant, _NOWHERE.at, "=")
        if left is not column:
            raise SqlError("the column is converted")
        asked = _value(right)
        exact = asked if right.type == kind else _value(cast(right, kind, _NOWHERE.at))
        return [exact] if exact == asked and exact is not None else []


def _value(constant: Typed) -> Any:
    code = constant.code
    return code.value if isinstance(code, Constant) else compile_value(code, ())()


_NOWHERE: Final = tree.ColumnName("")


class _Column(Code):
    """Stands for the column while a constant is compared with it."""

    __slots__ = ()


_COLUMN: Final = _Column()
