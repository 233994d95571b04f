"""The reference page of functions, in Markdown, from their declarations. DESCRIBE FUNCTION shows the same texts."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Final

from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AggregateForm,
    ArrayOf,
    Category,
    Form,
    Function,
    MapOf,
    Pattern,
    Scalar,
)
from moldau.pipeline.sql.types import Array, Map, SqlType

HEADINGS: Final[Mapping[Category, str]] = {
    Category.MATHEMATICAL: "Numbers",
    Category.STRING: "Text",
    Category.DATE_TIME: "Dates and times",
    Category.COLLECTION: "Arrays and maps",
    Category.LAMBDA: "Functions with lambdas",
    Category.JSON: "JSON",
    Category.NULLS: "Nulls",
    Category.CONDITIONAL: "Conditions",
    Category.BYTES: "Bytes",
    Category.URL: "URLs",
    Category.AGGREGATE: "Aggregates",
    Category.TABLE: "Table functions",
    Category.OTHER: "Others",
}
"""In the order of the page."""
_UNKNOWN: Final = "a type that follows from the arguments"

HEAD: Final = """# SQL functions

Generated from the declarations of the functions by `tools/sql-function-reference`: change those, not this page.
[sql.md](sql.md) explains the language. In the shell, `SHOW FUNCTIONS;` lists all functions, and
`DESCRIBE FUNCTION name;` describes one. [Functions of your own](#functions-of-your-own) are written in Python.

- Arguments are converted where nothing is lost: an INTEGER is taken for a BIGINT, a DECIMAL or a DOUBLE.
- `T` is any type, the same at each place; `ANY` is any type, each time another one; `...` means any number of
  arguments.
- The result is NULL if an argument is NULL, except of functions that take NULL. A call that fails is NULL too, and the
  processing log says why.
- An example is written as a call, an arrow and its value.
"""

OWN: Final = """## Functions of your own

A function of Python with type hints becomes a function of SQL:

```python
from moldau.pipeline.sql.functions.user import udf


@udf
def shout(text: str, times: int = 1) -> str:
    \"\"\"The text in capitals.\"\"\"
    return text.upper() + "!" * times
```

The server loads the files of its folder `ksql.extension.dir`, and modules that installed packages offer:

```toml
[project.entry-points."moldau.sql.functions"]
shop = "shop.sql_functions"
```

A changed file is loaded again without a restart: statements from then on get the new function, and a query that runs
keeps the old one until it starts again. Workers get a function with the text of its file; what the file imports must be
there. [anomaly.py](../../examples/sql_functions/anomaly.py) is an example with a model.

| In Python | In SQL |
|---|---|
| `bool`, `int`, `float`, `str`, `bytes` | BOOLEAN, BIGINT, DOUBLE, STRING, BYTES |
| `date`, `time`, `datetime` (UTC) | DATE, TIME, TIMESTAMP |
| `"DECIMAL(10, 2)"`, `Annotated[Decimal, "DECIMAL(10, 2)"]` | the type in the text, whichever it is |
| `list[T]`, `dict[str, T]` | ARRAY, MAP |
| a dataclass, a `TypedDict` | STRUCT |
| a `TypeVar`, `Any` | any type |
| `Callable[[int], str]` | a lambda |
| <code>T &#124; None</code> | takes NULL; without it, a NULL makes the result NULL without a call |
| `*values: float`, `times: int = 1` | any number of arguments, an argument that may be left out |
| `Annotated[pandas.Series, "DOUBLE"]`, `pyarrow.DoubleArray` | a column; a query calls it with one record each |

`@udtf` makes a table function of one that returns a list or yields. `@udaf` makes an aggregate of a class with
`initial()`, `add(state, value)` and `result(state)`; `merge(one, other)` lets it stand in session windows, and
`remove(state, value)` in a GROUP BY over a table. A state is what JSON can hold. Arguments of the constructor are
constants that stand last in the call. Functions of one name are the forms of one function.

| Option | Meaning |
|---|---|
| `name`, `doc`, `author`, `category`, `examples` | what SHOW and DESCRIBE say |
| `types={"text": "STRING"}`, `returns="STRING"` | types in the place of hints |
| `on_error="dead_letter"` | a record whose call fails goes to the dead letters; otherwise the value is NULL |
| `time_limit_ms=10_000` | a call that takes longer is interrupted and has failed |
| `setup=load_model` | called once in each process; what it returns is the first argument of every call |
"""


def page(functions: Iterable[Function]) -> str:
    known = sorted(functions, key=lambda one: one.name)
    parts = [HEAD, _contents(known)]
    for category, heading in HEADINGS.items():
        chosen = [one for one in known if one.category is category]
        if chosen:
            parts.append(f"## {heading}\n")
            parts += [_section(one) for one in chosen]
    parts.append(OWN)
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _contents(functions: list[Function]) -> str:
    lines = ["| | |", "|---|---|"]
    for category, heading in HEADINGS.items():
        names = [one.name for one in functions if one.category is category]
        if names:
            links = ", ".join(f"[{name}](#{name.lower()})" for name in names)
            lines.append(f"| {heading} | {links} |")
    return "\n".join(lines)


def _section(function: Function) -> str:
    calls = [call_text(function.name, form) for form in function.forms]
    notes = _notes(function)
    text = [f"### {function.name}\n", " ".join([function.doc, *notes]), "", "```sql", *calls, "```"]
    details = dict.fromkeys(form.doc for form in function.forms if form.doc and form.doc != function.doc)
    if details:
        text += ["", *(f"- {one}" for one in details)]
    if function.examples:
        text += ["", "```sql", *function.examples, "```"]
    return "\n".join(text)


def _notes(function: Function) -> list[str]:
    notes = []
    if isinstance(function, Scalar) and function.takes_null:
        notes.append("It takes NULL.")
    if isinstance(function, Scalar) and not function.is_deterministic:
        notes.append("Each call gives another value.")
    if isinstance(function, Aggregate) and any(form.constants_from is not None for form in function.forms):
        notes.append("The last arguments must be constants.")
    return notes


def call_text(name: str, form: Form | AggregateForm) -> str:
    """`SUBSTRING(text STRING, start INTEGER) -> STRING`"""
    arguments = [f"{one.name} {one.type}" for one in form.parameters]
    if form.is_variadic:
        arguments[-1 - form.after_variadic] += " ..."
    return f"{name}({', '.join(arguments)}) -> {result_text(form)}"


def result_text(form: Form | AggregateForm) -> str:
    """The type of the result. Where it follows from the arguments, their types stand for themselves."""
    if not callable(form.result):
        return str(form.result)
    try:
        return str(form.result([_stand_in(one.type) for one in form.parameters]))
    except (ValueError, TypeError, AssertionError, AttributeError, LookupError):
        said = inspect.getdoc(form.result)
        return said.splitlines()[0].rstrip(".") if said else _UNKNOWN


def _stand_in(pattern: Pattern) -> SqlType:
    match pattern:
        case SqlType():
            return pattern
        case ArrayOf(element):
            return Array(_stand_in(element))
        case MapOf(key, value):
            return Map(_stand_in(key), _stand_in(value))
    return SqlType(str(pattern))
