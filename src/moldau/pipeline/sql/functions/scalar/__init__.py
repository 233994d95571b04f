"""The scalar functions: one module for each subject, each with its `FUNCTIONS`. Imported by `library`."""

from typing import Final

from moldau.pipeline.sql.functions.declaration import Scalar
from moldau.pipeline.sql.functions.scalar import encodings, masks, mathematics, nulls, rounding, strings

SCALARS: Final[tuple[Scalar, ...]] = (
    *rounding.FUNCTIONS,
    *mathematics.FUNCTIONS,
    *strings.FUNCTIONS,
    *masks.FUNCTIONS,
    *encodings.FUNCTIONS,
    *nulls.FUNCTIONS,
)
