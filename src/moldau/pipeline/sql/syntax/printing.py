"""Trees as SQL text again: what is printed reads back as the same tree."""

from decimal import Decimal
from typing import Any

from moldau.pipeline.sql.syntax.tree import expressions as tree
from moldau.pipeline.sql.types import quoted


def expression_text(expression: tree.Expression) -> str:
    """With parentheses around every operation inside another."""
    match expression:
        case tree.Constant(kind=kind, value=value):
            return _constant(kind, value)
        case tree.ColumnName(name=name, source=source):
            return quoted(name) if source is None else f"{quoted(source)}.{quoted(name)}"
        case tree.FieldOf(struct=struct, name=name):
            return f"{_inner(struct)}->{quoted(name)}"
        case tree.ElementOf(base=base, index=index):
            return f"{_inner(base)}[{expression_text(index)}]"
        case tree.Call(name=name, arguments=arguments, is_star=is_star):
            return f"{quoted(name)}({'*' if is_star else _list(arguments)})"
        case tree.Unit(name=name):
            return name
        case tree.Lambda(parameters=parameters, body=body):
            return f"({', '.join(map(quoted, parameters))}) => {expression_text(body)}"
        case tree.Cast(of=of, type=kind):
            return f"CAST({expression_text(of)} AS {kind})"
        case tree.ArrayOf(elements=elements):
            return f"ARRAY[{_list(elements)}]"
        case tree.MapOf(entries=entries):
            pairs = (f"{expression_text(key)} := {expression_text(value)}" for key, value in entries)
            return f"MAP({', '.join(pairs)})"
        case tree.StructOf(fields=fields):
            return f"STRUCT({', '.join(f'{quoted(name)} := {expression_text(of)}' for name, of in fields)})"
    return _operation(expression)


def _operation(expression: tree.Expression) -> str:
    match expression:
        case tree.Comparison(operator=operator, left=left, right=right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case tree.Arithmetic(operator=operator, left=left, right=right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case tree.Negative(of=of):
            return f"-{_inner(of)}"
        case tree.Logical(operator=operator, operands=operands):
            return f" {operator} ".join(map(_inner, operands))
        case tree.Not(of=of):
            return f"NOT {_inner(of)}"
        case tree.IsNull(of=of, is_negated=is_negated):
            return f"{_inner(of)} IS {'NOT ' if is_negated else ''}NULL"
        case tree.Between(of=of, low=low, high=high, is_negated=is_negated):
            return f"{_inner(of)} {_not(is_negated)}BETWEEN {_inner(low)} AND {_inner(high)}"
        case tree.InList(of=of, choices=choices, is_negated=is_negated):
            return f"{_inner(of)} {_not(is_negated)}IN ({_list(choices)})"
        case tree.Like(of=of, pattern=pattern, escape=escape, is_negated=is_negated):
            tail = "" if escape is None else f" ESCAPE {_string(escape)}"
            return f"{_inner(of)} {_not(is_negated)}LIKE {_inner(pattern)}{tail}"
        case tree.Case(operand=operand, whens=whens, otherwise=otherwise):
            parts = ["CASE"] + ([expression_text(operand)] if operand else [])
            parts += [
                f"WHEN {expression_text(one.condition)} THEN {expression_text(one.result)}" for one in whens
            ]
            return " ".join([*parts, *([f"ELSE {expression_text(otherwise)}"] if otherwise else []), "END"])
        case tree.AtTimeZone(of=of, zone=zone):
            return f"{_inner(of)} AT TIME ZONE {_inner(zone)}"
    raise TypeError(f"{expression!r} is no expression")


def _inner(expression: tree.Expression) -> str:
    text = expression_text(expression)
    needs_none = isinstance(
        expression,
        tree.ColumnName
        | tree.FieldOf
        | tree.ElementOf
        | tree.Call
        | tree.Cast
        | tree.ArrayOf
        | tree.MapOf
        | tree.StructOf,
    )
    is_plain = isinstance(expression, tree.Constant) and not text.startswith("-")
    return text if needs_none or is_plain else f"({text})"


def _list(expressions: tuple[tree.Expression, ...]) -> str:
    return ", ".join(map(expression_text, expressions))


def _not(is_negated: bool) -> str:
    return "NOT " if is_negated else ""


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _constant(kind: str, value: Any) -> str:
    match kind:
        case "NULL":
            return "NULL"
        case "BOOLEAN":
            return "TRUE" if value else "FALSE"
        case "STRING":
            return _string(value)
        case "DOUBLE":
            return f"{value!r}E0" if "e" not in repr(value) else repr(value).replace("e", "E")
        case "DECIMAL":
            text = format(Decimal(value), "f")
            return text if "." in text else text + "."
    return str(value)
