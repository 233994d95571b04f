"""Functions of one name as the forms of one function."""

from collections.abc import Sequence
from dataclasses import replace

from moldau.pipeline.sql.functions.declaration import Aggregate, Function, Scalar, TableFunction
from moldau.pipeline.sql.functions.library import builtin


def merged(functions: Sequence[Function]) -> tuple[tuple[Function, ...], tuple[str, ...]]:
    """The functions by name, and what is wrong with those that are left out."""
    found: dict[str, Function] = {}
    conflicts: list[str] = []
    for one in functions:
        if builtin().find(one.name) is not None:
            conflicts.append(f"{one.path}: {one.name} is a built-in function. Give yours another name")
            continue
        known = found.get(one.name)
        both = one if known is None else _both(known, one)
        if both is None:
            conflicts.append(
                f"{one.path}: {one.name} is declared at {known.path if known else ''} too, with the same parameters or "
                "as another kind of function. Give one of them another name"
            )
            continue
        found[one.name] = both
    return tuple(found.values()), tuple(conflicts)


def _both(known: Function, one: Function) -> Function | None:
    match known, one:
        case Scalar(), Scalar():
            if _same_forms(known, one):
                return None
            return replace(
                known,
                forms=(*known.forms, *one.forms),
                takes_null=known.takes_null or one.takes_null,
                is_deterministic=known.is_deterministic and one.is_deterministic,
                examples=(*known.examples, *one.examples),
            )
        case TableFunction(), TableFunction():
            if _same_forms(known, one):
                return None
            return replace(known, forms=(*known.forms, *one.forms))
        case Aggregate(), Aggregate():
            if _same_forms(known, one):
                return None
            return replace(known, forms=(*known.forms, *one.forms))
    return None


def _same_forms(known: Function, one: Function) -> bool:
    kinds = {tuple(parameter.type for parameter in form.parameters) for form in known.forms}
    return any(tuple(parameter.type for parameter in form.parameters) in kinds for form in one.forms)
