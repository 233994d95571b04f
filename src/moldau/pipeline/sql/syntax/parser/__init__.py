"""Recursive descent, one method for each rule of the grammar.

`token_reader` walks over the tokens; `types`, `expressions`, `queries` and `statements` each hold the rules of one part
and build on those before. Start reading at `statements.py`.
"""

from moldau.pipeline.sql.syntax.parser.statements import (
    Parsed,
    parse,
    parse_duration,
    parse_expression,
    parse_type,
)

__all__ = ["Parsed", "parse", "parse_duration", "parse_expression", "parse_type"]
