"""The scalar functions: one module for each subject, each with its `FUNCTIONS`. Imported by `library`."""

from typing import Final

from moldau.pipeline.sql.functions.declaration import Scalar
from moldau.pipeline.sql.functions.scalar import mathematics, rounding

SCALARS: Final[tuple[Scalar, ...]] = (
    *rounding.FUNCTIONS,
    *mathematics.FUNCTIONS,
)
