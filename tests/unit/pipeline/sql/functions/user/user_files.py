"""Functions of the user from the text of a file, and expressions that call them."""

import textwrap
from pathlib import Path
from typing import Any

from moldau.pipeline.code.source import compile_value
from moldau.pipeline.sql.analysis.scope import QueryScope
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.functions.library import Library
from moldau.pipeline.sql.functions.user.loading import library_of
from moldau.pipeline.sql.syntax.parser import parse_expression
from moldau.pipeline.sql.types import SqlType

HEAD = "from moldau.pipeline.sql.functions.user import udaf, udf, udtf\n"


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    file = folder / name
    file.write_text(HEAD + textwrap.dedent(text))
    return file


def library_with(folder: Path, text: str) -> Library:
    return library_of([str(written(folder, text))], with_packages=False)


def evaluated(expression: str, library: Library) -> tuple[SqlType | None, Any]:
    """The type and the value of an expression without columns."""
    found = typed(parse_expression(expression), QueryScope((), library, {}))
    return found.type, compile_value(found.code, ())()
