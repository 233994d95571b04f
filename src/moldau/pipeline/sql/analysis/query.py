"""A SELECT as a plan: what it reads, filters, groups, and which columns come out."""

from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from moldau.pipeline.code.tree import Apply, Argument, Code, Operation
from moldau.pipeline.sql.analysis import aggregation
from moldau.pipeline.sql.analysis.inputs import key_code, mentioned_names, pseudo_columns, reading
from moldau.pipeline.sql.analysis.joins import Joined, join_all
from moldau.pipeline.sql.analysis.naming import ColumnNames
from moldau.pipeline.sql.analysis.plan import (
    Explosion,
    Grouping,
    GroupWindow,
    Input,
    JoinStep,
    Output,
    QueryPlan,
)
from moldau.pipeline.sql.analysis.scope import (
    SYSTEM_COLUMNS,
    TIMESTAMP_MS,
    VALUE,
    Binding,
    FunctionLibrary,
    QueryScope,
    read,
)
from moldau.pipeline.sql.analysis.walking import parts
from moldau.pipeline.sql.definitions import KeyWindow, SourceInfo
from moldau.pipeline.sql.expressions.calls import Given, best_form, result_type
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.expressions.typing import predicate, typed
from moldau.pipeline.sql.functions.declaration import TableFunction
from moldau.pipeline.sql.syntax.errors import NOWHERE, Position, SqlError
from moldau.pipeline.sql.syntax.printing import expression_text
from moldau.pipeline.sql.syntax.tree import expressions as tree
from moldau.pipeline.sql.syntax.tree.relations import AllColumns, AllFields, Emit, OneColumn, Query
from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import BIGINT, Column, SqlType, Struct

ROWKEY = "ROWKEY"


@dataclass(frozen=True, slots=True)
class _Item:
    """One column of the result."""

    name: str
    expression: tree.Expression


@dataclass(slots=True)
class _From:
    """What the query reads, as the clauses after FROM see it."""

    first: Input
    joins: tuple[JoinStep, ...]
    scope: QueryScope
    is_table: bool
    window: KeyWindow | None
    key: tuple[tree.ColumnName, ...]
    """The columns that are the record's key, any one of them where `key_is_one_of`."""
    key_is_one_of: bool
    width: int


def analyse(
    query: Query,
    sources: Mapping[str, SourceInfo],
    functions: FunctionLibrary,
    types: Mapping[str, SqlType] | None = None,
    *,
    is_persistent: bool,
) -> QueryPlan:
    """SqlError where it has no meaning. `is_persistent`: its result is a topic, so its key must be selected."""
    return _Analysis(query, sources, functions, types or {}, is_persistent=is_persistent).plan()


class _Analysis:
    def __init__(
        self,
        query: Query,
        sources: Mapping[str, SourceInfo],
        functions: FunctionLibrary,
        types: Mapping[str, SqlType],
        *,
        is_persistent: bool,
    ) -> None:
        self._query = query
        self._sources = sources
        self._functions = functions
        self._types = types
        self._is_persistent = is_persistent

    def plan(self) -> QueryPlan:
        query, read_from = self._query, self._from()
        items = self._items(read_from)
        self._check_clauses(read_from, items)
        where = None if query.where is None else predicate(query.where, read_from.scope, "WHERE").code
        explosion = self._explosion(items, read_from)
        if query.group_by:
            return self._grouped(read_from, items, where, explosion)
        return self._plain(read_from, items, where, explosion)

    # FROM

    def _from(self) -> _From:
        query = self._query
        if not query.joins:
            one = reading(query.source, self._sources, mentioned_names(query))
            source = one.input.source
            scope = self._scope(one.bindings)
            key = tuple(tree.ColumnName(column.name, one.input.alias) for column in source.schema.key)
            width = len(source.stored_columns) + len(one.input.metadata)
            return _From(one.input, (), scope, source.is_table, source.window, key, False, width)
        joined: Joined = join_all(query, self._sources, self._functions, self._types)
        bindings = joined.bindings
        key = joined.key_columns
        if not key:
            bindings = (*bindings, Binding("", ROWKEY, joined.key_type[0], key_code(0, None), is_pseudo=True))
            key = (tree.ColumnName(ROWKEY, ""),)
        time = Binding("", "ROWTIME", BIGINT, Argument(TIMESTAMP_MS), is_pseudo=True)
        bindings = (*bindings, time)
        return _From(
            joined.first,
            joined.steps,
            self._scope(bindings),
            joined.is_table,
            None,
            key,
            len(key) > 1,
            len(joined.bindings),
        )

    def _scope(self, bindings: Sequence[Binding]) -> QueryScope:
        return QueryScope(bindings, self._functions, self._types)

    # SELECT

    def _items(self, read_from: _From) -> list[_Item]:
        items: list[_Item] = []
        seen: set[str] = set()
        names = ColumnNames(self._query, read_from.scope.bindings)
        for written in self._query.items:
            start = len(items)
            match written:
                case AllColumns(source=source):
                    items += self._all_columns(read_from, source, written.at)
                case AllFields(struct=struct):
                    kind = typed(struct, read_from.scope).type
                    if not isinstance(kind, Struct):
                        raise SqlError("->* takes the fields of a STRUCT", written.at)
                    items += [
                        _Item(name, tree.FieldOf(struct, name, at=written.at)) for name, _ in kind.fields
                    ]
                case OneColumn(expression=expression, alias=alias):
                    items.append(_Item(alias or names.name_of(expression), expression))
            for item in items[start:]:
                names.take(item.name)
                self._check_name(item, seen)
                seen.add(item.name)
        return items

    def _check_name(self, item: _Item, seen: Container[str]) -> None:
        if item.name in seen:
            hint = "Give one of them another name with AS."
            raise SqlError(f"two columns are called {item.name}", item.expression.at, hint=hint)
        if self._is_persistent and item.name in SYSTEM_COLUMNS:
            hint = f"Give it another name: {item.name} AS MY_{item.name}."
            raise SqlError(f"{item.name} is the name of a pseudo column", item.expression.at, hint=hint)

    def _all_columns(self, read_from: _From, source: str | None, at: Position) -> list[_Item]:
        shown = [
            binding
            for binding in read_from.scope.bindings
            if not binding.is_pseudo and source in (None, binding.source)
        ]
        if not shown:
            raise SqlError(f"unknown source {source}", at)
        prefixed = bool(self._query.joins) and source is None
        return [
            _Item(
                f"{binding.source}_{binding.name}" if prefixed else binding.name,
                tree.ColumnName(binding.name, binding.source, at=NOWHERE),
            )
            for binding in shown
        ]

    # What must not be

    def _check_clauses(self, read_from: _From, items: Sequence[_Item]) -> None:
        query = self._query
        if not query.group_by:
            for expression in [one.expression for one in items] + ([query.having] if query.having else []):
                if aggregation.has_aggregate(expression, read_from.scope):
                    raise SqlError("an aggregate needs GROUP BY", expression.at)
            if query.having is not None:
                raise SqlError("HAVING needs GROUP BY", query.having.at, hint="WHERE filters rows.")
            if query.window is not None:
                raise SqlError("WINDOW needs GROUP BY", query.window.at)
        if query.where is not None and aggregation.has_aggregate(query.where, read_from.scope):
            raise SqlError(
                "WHERE comes before the grouping", query.where.at, hint="HAVING filters by aggregates."
            )
        if query.partition_by and query.group_by:
            raise SqlError("PARTITION BY and GROUP BY exclude each other", query.partition_by[0].at)
        if query.partition_by and read_from.is_table:
            raise SqlError("a table keeps its key, so PARTITION BY has no meaning", query.partition_by[0].at)
        if query.window is not None and read_from.is_table:
            raise SqlError("WINDOW groups the records of streams, not the rows of a table", query.window.at)
        if query.emit is Emit.FINAL and query.window is None:
            raise SqlError(
                "EMIT FINAL needs a WINDOW", query.at, hint="It emits a window once, when it has closed."
            )

    # Table functions

    def _explosion(self, items: Sequence[_Item], read_from: _From) -> Explosion | None:
        """Settles the table functions of the SELECT: each is a value at the end of the row from there on."""
        calls: list[tuple[Code, str]] = []
        for item in items:
            for part in parts(item.expression):
                if not isinstance(part, tree.Call):
                    continue
                function = self._functions.find(part.name)
                if not isinstance(function, TableFunction) or part in read_from.scope.settled:
                    continue
                if read_from.is_table:
                    raise SqlError(
                        f"{part.name} makes rows of the records of a stream, not of a table", part.at
                    )
                given: list[Given] = [typed(argument, read_from.scope) for argument in part.arguments]
                form, fit = best_form(part.name, function.forms, given, part.at)
                values = [one for one in given if isinstance(one, Typed)]
                kind = result_type(
                    form.result, [one.type for one in values], fit.bindings, part.name, part.at
                )
                operation = Operation(part.name, function=form.meaning or function.meaning)
                code = Apply(operation, tuple(one.code for one in values))
                read_from.scope.settled[part] = Typed(kind, read(VALUE, read_from.width + len(calls)))
                calls.append((code, expression_text(part)))
        return Explosion(tuple(calls)) if calls else None

    # Without GROUP BY

    def _plain(
        self, read_from: _From, items: Sequence[_Item], where: Code | None, explosion: Explosion | None
    ) -> QueryPlan:
        query = self._query
        partition_by: tuple[Typed, ...] | None = None
        keys: list[tuple[tree.Expression, ...]]
        if query.partition_by:
            partition_by = self._new_key(read_from)
            keys = [(one,) for one in query.partition_by] if partition_by else []
        elif read_from.key_is_one_of:
            keys = [read_from.key]
        else:
            keys = [(one,) for one in read_from.key]
        for item in items:
            typed(item.expression, read_from.scope)  # an unknown name is told before a missing key
        key, rest = self._split_key(items, keys, read_from.scope, read_from.scope)
        outputs = [self._output(item, read_from.scope) for item in rest]
        return QueryPlan(
            Kind.TABLE if read_from.is_table else Kind.STREAM,
            read_from.first,
            read_from.joins,
            where,
            explosion,
            partition_by,
            None,
            tuple(key),
            tuple(outputs),
            read_from.window if partition_by is None else None,
            False,
            query.limit,
        )

    def _new_key(self, read_from: _From) -> tuple[Typed, ...]:
        """Of PARTITION BY; PARTITION BY NULL takes the key away."""
        found = []
        for expression in self._query.partition_by:
            one = typed(expression, read_from.scope)
            if one.type is None:
                if len(self._query.partition_by) > 1:
                    raise SqlError("NULL is no part of a key", expression.at)
                return ()
            found.append(one)
        return tuple(found)

    def _split_key(
        self,
        items: Sequence[_Item],
        keys: Sequence[tuple[tree.Expression, ...]],
        scope: QueryScope,
        names: QueryScope,
    ) -> tuple[list[Output], list[_Item]]:
        """The key's columns in their order, and the other items. A key column is found by its expression: any one of
        those that hold the same. `names` is what FROM brings, which tells whose a column is."""
        places: dict[tree.Expression, deque[int]] = {}
        for number, item in enumerate(items):
            places.setdefault(self._canonical(item.expression, names), deque()).append(number)
        taken: set[int] = set()
        found: list[Output] = []
        for choices in keys:
            of_choices = [places.get(self._canonical(one, names)) for one in choices]
            equal = min((one for one in of_choices if one), key=lambda one: one[0], default=None)
            index = None if equal is None else equal[0]
            kind = typed(choices[0], scope).type
            assert kind is not None
            if index is None:
                if self._is_persistent:
                    raise self._key_missing(choices)
                name = choices[0].name if isinstance(choices[0], tree.ColumnName) else f"KEY_{len(found) + 1}"
                found.append(Output(Column(name, kind), None))
                continue
            found.append(Output(Column(items[index].name, kind), None))
            if self._is_persistent and equal is not None:
                taken.add(equal.popleft())
        rest = [item for number, item in enumerate(items) if number not in taken]
        if self._is_persistent:
            self._check_key_once(rest, keys, names)
        return found, rest

    def _check_key_once(
        self, rest: Sequence[_Item], keys: Sequence[tuple[tree.Expression, ...]], scope: QueryScope
    ) -> None:
        single = {self._canonical(choices[0], scope) for choices in keys if len(choices) == 1}
        for item in rest:
            if self._canonical(item.expression, scope) in single:
                hint = "AS_VALUE(column) copies a key column into the value."
                raise SqlError("the key is selected twice", item.expression.at, hint=hint)

    def _key_missing(self, choices: Sequence[tree.Expression]) -> SqlError:
        names = " or ".join(expression_text(one).removeprefix("``.") for one in choices)
        return SqlError(
            f"the key is missing from the SELECT: {names}",
            self._query.at,
            hint=f"Add {names} to the SELECT; the result's records need their key.",
        )

    def _canonical(self, expression: tree.Expression, scope: QueryScope) -> tree.Expression:
        """With the source of each column said, so that A and T.A are the same."""
        if isinstance(expression, tree.ColumnName) and expression.source is None:
            owners = [one.source for one in scope.named(expression.name)]
            return replace(expression, source=owners[0]) if len(owners) == 1 else expression
        return expression

    def _output(self, item: _Item, scope: QueryScope) -> Output:
        found = typed(item.expression, scope)
        if found.type is None:
            raise SqlError(
                f"column {item.name} is NULL and so has no type",
                item.expression.at,
                hint="CAST(NULL AS STRING) has one.",
            )
        return Output(Column(item.name, found.type), found.code)

    # With GROUP BY

    def _grouped(
        self, read_from: _From, items: Sequence[_Item], where: Code | None, explosion: Explosion | None
    ) -> QueryPlan:
        query, scope = self._query, read_from.scope
        keys = []
        for expression in query.group_by:
            if aggregation.has_aggregate(expression, scope):
                raise SqlError("an aggregate cannot be grouped by", expression.at)
            key = typed(expression, scope)
            if key.type is None:
                raise SqlError("NULL is no group", expression.at)
            keys.append(key)
        computed = [item.expression for item in items] + ([query.having] if query.having else [])
        calls = aggregation.aggregate_calls(computed, scope, of_table=read_from.is_table)
        window = None if query.window is None else aggregation.group_window(query.window)
        after = self._after_grouping(read_from, keys, calls, window)
        having = None if query.having is None else predicate(query.having, after, "HAVING").code
        key_outputs, rest = self._split_key(items, [(one,) for one in query.group_by], after, scope)
        grouping = Grouping(
            tuple(keys), self._is_record_key(read_from), tuple(one.call for one in calls), window, having
        )
        return QueryPlan(
            Kind.TABLE,
            read_from.first,
            read_from.joins,
            where,
            explosion,
            None,
            grouping,
            tuple(key_outputs),
            tuple(self._output(item, after) for item in rest),
            None if window is None else window.key_window,
            query.emit is Emit.FINAL,
            query.limit,
        )

    def _is_record_key(self, read_from: _From) -> bool:
        """Whether GROUP BY names exactly the record's key: then no record has to move to another partition."""
        if read_from.key_is_one_of or read_from.window is not None or read_from.is_table:
            return False
        written = [self._canonical(one, read_from.scope) for one in self._query.group_by]
        return written == list(read_from.key)

    def _after_grouping(
        self,
        read_from: _From,
        keys: Sequence[Typed],
        calls: Sequence[aggregation.FoundCall],
        window: GroupWindow | None,
    ) -> QueryScope:
        """What can be named once rows are grouped: the groups' expressions, the aggregates, the window."""
        key_window = None if window is None else window.key_window
        settled: dict[tree.Expression, Typed] = {one.written: one.value for one in calls}
        for index, (expression, key) in enumerate(zip(self._query.group_by, keys, strict=True)):
            value = Typed(key.type, key_code(index, key_window))
            for written in self._spellings(expression, read_from.scope):
                settled[written] = value
        bindings = pseudo_columns("", key_window)

        def unknown(name: tree.ColumnName) -> SqlError:
            try:
                read_from.scope.column(name)
            except SqlError as wrong:
                return wrong
            hint = f"Add {name.name} to GROUP BY, or put it into an aggregate such as LATEST_BY_OFFSET({name.name})."
            return SqlError(f"{name.name} is neither grouped by nor in an aggregate", name.at, hint=hint)

        return QueryScope(bindings, self._functions, self._types, settled, unknown)

    def _spellings(self, expression: tree.Expression, scope: QueryScope) -> list[tree.Expression]:
        """A grouped column may be written with its source and without."""
        if not isinstance(expression, tree.ColumnName):
            return [expression]
        owners = [one.source for one in scope.named(expression.name)]
        found: list[tree.Expression] = [expression]
        if len(owners) == 1:
            found += [replace(expression, source=owners[0]), replace(expression, source=None)]
        elif expression.source is not None:
            found.append(expression)
        return found
