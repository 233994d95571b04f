"""What a function is: its name, its forms, what it gives, what it means in Python, and how people are told of it.

A function of the user and a built-in one are declared alike, so DESCRIBE FUNCTION, the reference page and the type
checker know one kind of thing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from moldau.pipeline.sql.types import SqlType


@dataclass(frozen=True, slots=True)
class Variable:
    """Any type, the same wherever the name stands in one form: `Variable("T")`."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class AnyType:
    """Any type, each time another one, not converted."""

    def __str__(self) -> str:
        return "ANY"


@dataclass(frozen=True, slots=True)
class AnyNumber:
    """INTEGER, BIGINT, DOUBLE or DECIMAL, not converted."""

    def __str__(self) -> str:
        return "NUMBER"


@dataclass(frozen=True, slots=True)
class AnyDecimal:
    """A DECIMAL of any precision and scale."""

    def __str__(self) -> str:
        return "DECIMAL"


@dataclass(frozen=True, slots=True)
class ArrayOf:
    element: "Pattern"

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class MapOf:
    key: "Pattern"
    value: "Pattern"

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class AnyStruct:
    def __str__(self) -> str:
        return "STRUCT"


@dataclass(frozen=True, slots=True)
class LambdaOf:
    """A lambda: the types of what it is given, and of what it gives. It reaches Python as a function."""

    parameters: tuple["Pattern", ...]
    gives: "Pattern"

    def __str__(self) -> str:
        return f"LAMBDA ({', '.join(map(str, self.parameters))}) => {self.gives}"


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """A bare word such as HOURS. It reaches Python as its length in milliseconds."""

    def __str__(self) -> str:
        return "TIME UNIT"


Pattern = (
    SqlType | Variable | AnyType | AnyNumber | AnyDecimal | ArrayOf | MapOf | AnyStruct | LambdaOf | TimeUnit
)
"""What an argument may be. An argument of a smaller number type is widened where a form asks for a larger one."""


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: Pattern
    doc: str = ""


Result = Pattern | Callable[[Sequence[SqlType]], SqlType]
"""The type of the result, or how it follows from those of the arguments; ValueError says what they should be."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a function."""

    parameters: tuple[Parameter, ...]
    result: Result
    is_variadic: bool = False
    """The last parameter may be given any number of times, also never."""
    after_variadic: int = 0
    """How many parameters stand behind the variadic one, where it is not the last."""
    doc: str = ""
    meaning: Callable[..., Any] | None = None
    """The form's own meaning in Python, where it is not the function's."""
    bind: Callable[[Sequence[SqlType | None]], Callable[..., Any]] | None = None
    """Makes the meaning for arguments of these types, where it depends on them; None is the type of NULL."""


class Category(Enum):
    """The headings of SHOW FUNCTIONS and of the reference page."""

    AGGREGATE = "AGGREGATE"
    COLLECTION = "COLLECTION"
    CONDITIONAL = "CONDITIONAL"
    DATE_TIME = "DATE / TIME"
    BYTES = "BYTES"
    JSON = "JSON"
    LAMBDA = "LAMBDA"
    MATHEMATICAL = "MATHEMATICAL"
    NULLS = "NULLS"
    STRING = "STRING"
    TABLE = "TABLE"
    URL = "URL"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value out of the arguments. Unless it `takes_null`, a null argument makes the result null without a call.

    A call that raises ValueError, TypeError, ArithmeticError or LookupError has failed for this record: the
    expression is null and the processing log says why.
    """

    name: str
    category: Category
    doc: str
    forms: tuple[Form, ...]
    meaning: Callable[..., Any] | None = None
    takes_null: bool = False
    is_deterministic: bool = True
    examples: tuple[str, ...] = ()
    """Lines such as `SUBSTRING('stream', 2, 3) => 'tre'`: each is a test."""
    author: str = ""
    path: str = ""
    """File and line of a function of the user; empty for a built-in one."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One value out of the rows of a group. Its state is a plain value that JSON can hold, so it can be stored.

    `add(state, *arguments) -> state`; `remove` undoes an `add` and is None where that cannot be done, and then the
    function cannot stand in a GROUP BY over a table. `merge` joins two session windows. `result(state)`.
    """

    name: str
    category: Category
    doc: str
    forms: tuple["AggregateForm", ...]
    examples: tuple[str, ...] = ()
    author: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class AggregateForm:
    parameters: tuple[Parameter, ...]
    result: Result
    bind: Callable[[Sequence[SqlType], Sequence[Any]], "Folding"]
    """The folding for arguments of these types; the second holds the constants among the arguments, None elsewhere."""
    constants_from: int | None = None
    """From which argument on they must be constants, as the K of TOPK: -1 is the last one."""
    is_variadic: bool = False
    after_variadic: int = 0
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Folding:
    initial: Callable[[], Any]
    add: Callable[..., Any]
    merge: Callable[[Any, Any], Any]
    result: Callable[[Any], Any]
    remove: Callable[..., Any] | None = None


@dataclass(frozen=True, slots=True)
class TableFunction:
    """Several rows out of one: `meaning(*arguments)` gives the values of its column."""

    name: str
    category: Category
    doc: str
    forms: tuple[Form, ...]
    meaning: Callable[..., Any] | None = None
    examples: tuple[str, ...] = ()
    author: str = ""
    path: str = ""


Function = Scalar | Aggregate | TableFunction
