"""JOIN: which kinds there are, what their conditions may be, and which key the result has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from moldau.pipeline.code.tree import Code
from moldau.pipeline.sql.analysis.inputs import Reading, flattened, mentioned_names, reading
from moldau.pipeline.sql.analysis.plan import Input, JoinStep, JoinWithin
from moldau.pipeline.sql.analysis.scope import Binding, FunctionLibrary, QueryScope
from moldau.pipeline.sql.analysis.walking import parts
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.expressions.casts import common_type
from moldau.pipeline.sql.expressions.operators import to_type
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.tree import expressions as tree
from moldau.pipeline.sql.syntax.tree.relations import Join, JoinKind, Query
from moldau.pipeline.sql.types import SqlType


@dataclass(frozen=True, slots=True)
class Joined:
    first: Input
    steps: tuple[JoinStep, ...]
    bindings: tuple[Binding, ...]
    is_table: bool
    key_type: tuple[SqlType, ...]
    key_columns: tuple[tree.ColumnName, ...]
    """The columns that hold the key of the result: one of them must be selected. Empty: it is called ROWKEY."""


def join_all(
    query: Query, sources: Mapping[str, SourceInfo], functions: FunctionLibrary, types: Mapping[str, SqlType]
) -> Joined:
    """The sources of a query from left to right."""
    mentioned = mentioned_names(query)
    left = flattened(reading(query.source, sources, mentioned), 0)
    source = left.input.source
    so_far = Joined(
        left.input,
        (),
        left.bindings,
        source.is_table,
        tuple(column.type for column in source.schema.key),
        tuple(tree.ColumnName(column.name, left.input.alias) for column in source.schema.key),
    )
    for join in query.joins:
        so_far = _Join(so_far, join, reading(join.right, sources, mentioned), functions, types).joined()
    return so_far


class _Join:
    def __init__(
        self,
        left: Joined,
        join: Join,
        alone: Reading,
        functions: FunctionLibrary,
        types: Mapping[str, SqlType],
    ) -> None:
        self._left = left
        self._join = join
        self._functions = functions
        self._types = types
        self._own = flattened(alone, 0)
        self._right = flattened(alone, len(left.bindings))
        self._alias = join.right.known_as
        if any(binding.source == self._alias for binding in left.bindings):
            hint = f"Give it another name: {join.right.name} AS other."
            raise SqlError(f"two sources are called {self._alias}", join.right.at, hint=hint)

    def joined(self) -> Joined:
        left, join, right = self._left, self._join, self._right.input.source
        self._check_kinds(right)
        left_side, right_side = self._sides()
        left_key = typed(left_side, self._scope(left.bindings))
        right_key = typed(right_side, self._scope(self._own.bindings))
        key_type = common_type(left_key.type, right_key.type)
        if key_type is None:
            raise SqlError(
                f"the join compares {left_key.type} with {right_key.type}",
                join.on.at,
                hint="CAST one of them.",
            )
        is_foreign = self._is_foreign_key(left_side, right_side, right)
        step = JoinStep(
            join.kind,
            self._right.input,
            left.is_table,
            self._moved(left_key, key_type, left.key_columns, left_side) if not is_foreign else left_key.code,
            self._moved(right_key, key_type, self._primary(right), right_side),
            key_type,
            self._within(),
            is_foreign,
            len(left.bindings),
            len(self._right.bindings),
        )
        return Joined(
            left.first,
            (*left.steps, step),
            (*left.bindings, *self._right.bindings),
            left.is_table,
            left.key_type if is_foreign else (key_type,),
            left.key_columns if is_foreign else self._key_columns(left_side, right_side),
        )

    def _scope(self, bindings: Sequence[Binding]) -> QueryScope:
        return QueryScope(bindings, self._functions, self._types)

    def _primary(self, source: SourceInfo) -> tuple[tree.ColumnName, ...]:
        return tuple(tree.ColumnName(column.name, self._alias) for column in source.schema.key)

    def _check_kinds(self, right: SourceInfo) -> None:
        join, at = self._join, self._join.at
        windowed = next((one for one in (self._left.first.source, right) if one.window is not None), None)
        if windowed is not None:
            hint = "Copy it as a stream by PARTITION BY: the key of the copy has no window, so join the copy."
            raise SqlError(
                f"{windowed.name} has a window in its key, which joins do not match", at, hint=hint
            )
        if self._left.is_table and not right.is_table:
            hint = "Write the stream first: FROM stream JOIN table."
            raise SqlError(
                f"a table cannot be joined with the stream {right.name} to its right", at, hint=hint
            )
        if not self._left.is_table and not right.is_table and join.within is None:
            hint = "Say how far apart in time two records may be: WITHIN 1 HOUR."
            raise SqlError("a join of two streams needs WITHIN", at, hint=hint)
        if right.is_table and join.within is not None:
            raise SqlError("WITHIN belongs to joins of two streams; this one has a table", join.within.at)
        if not self._left.is_table and right.is_table and join.kind in (JoinKind.RIGHT, JoinKind.FULL):
            raise SqlError(
                f"a stream and a table have no {join.kind.value} join", at, hint="Use INNER or LEFT."
            )

    def _sides(self) -> tuple[tree.Expression, tree.Expression]:
        """The two sides of the condition, the one about the right source second."""
        on = self._join.on
        if not (isinstance(on, tree.Comparison) and on.operator == "="):
            hint = "It is of the form left.column = right.column; put further conditions in WHERE."
            raise SqlError("a join's condition is one equality", on.at, hint=hint)
        is_right = [self._is_about_right(side) for side in (on.left, on.right)]
        if is_right[0] == is_right[1]:
            hint = f"One side names columns of {self._alias}, the other columns of what is joined with it."
            raise SqlError("a join's condition compares the two sources", on.at, hint=hint)
        return (on.right, on.left) if is_right[0] else (on.left, on.right)

    def _is_about_right(self, side: tree.Expression) -> bool:
        own = {binding.name for binding in self._own.bindings}
        others = {binding.name for binding in self._left.bindings}
        about: set[bool] = set()
        for part in parts(side):
            if isinstance(part, tree.ColumnName):
                if part.source is None and part.name in own and part.name in others:
                    raise SqlError(
                        f"{part.name} is ambiguous", part.at, hint=f"Write {self._alias}.{part.name}."
                    )
                about.add(part.source == self._alias if part.source else part.name in own)
        if len(about) > 1:
            raise SqlError("one side of the join's condition names both sources", side.at)
        return about == {True}

    def _is_key(self, side: tree.Expression, keys: tuple[tree.ColumnName, ...]) -> bool:
        """Whether an expression is the whole key of its side."""
        if len(keys) != 1 or not isinstance(side, tree.ColumnName):
            return False
        return side.name == keys[0].name and side.source in (None, keys[0].source)

    def _moved(
        self, key: Typed, to: SqlType, keys: tuple[tree.ColumnName, ...], side: tree.Expression
    ) -> Code | None:
        if key.type == to and self._is_key(side, keys):
            return None
        return to_type(key, to).code

    def _is_foreign_key(
        self, left_side: tree.Expression, right_side: tree.Expression, right: SourceInfo
    ) -> bool:
        join = self._join
        if not right.is_table:
            return False
        if not self._is_key(right_side, self._primary(right)):
            names = ", ".join(column.name for column in right.schema.key)
            hint = f"Compare with {self._alias}.{names}."
            raise SqlError(f"the table {right.name} is joined by its primary key", right_side.at, hint=hint)
        is_foreign = self._left.is_table and not self._is_key(left_side, self._left.key_columns)
        if is_foreign and join.kind not in (JoinKind.INNER, JoinKind.LEFT):
            hint = "Use INNER or LEFT."
            raise SqlError(f"a join by a foreign key has no {join.kind.value} form", join.at, hint=hint)
        return is_foreign

    def _key_columns(
        self, left_side: tree.Expression, right_side: tree.Expression
    ) -> tuple[tree.ColumnName, ...]:
        if self._join.kind is JoinKind.FULL:
            return ()
        sides = {
            JoinKind.INNER: (left_side, right_side),
            JoinKind.LEFT: (left_side,),
            JoinKind.RIGHT: (right_side,),
        }[self._join.kind]
        bindings = (*self._left.bindings, *self._right.bindings)
        return tuple(
            replace(side, source=_owner(side, bindings))
            for side in sides
            if isinstance(side, tree.ColumnName)
        )

    def _within(self) -> JoinWithin | None:
        within = self._join.within
        if within is None:
            return None
        grace_ms = None if within.grace is None else within.grace.ms
        return JoinWithin(within.before.ms, within.after.ms, grace_ms)


def _owner(column: tree.ColumnName, bindings: Sequence[Binding]) -> str:
    return column.source or next(one.source for one in bindings if one.name == column.name)
