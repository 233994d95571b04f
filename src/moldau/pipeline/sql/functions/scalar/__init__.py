"""The scalar functions: one module for each subject, each with its `FUNCTIONS`. Imported by `library`."""

from typing import Final

from moldau.pipeline.sql.functions.declaration import Scalar
from moldau.pipeline.sql.functions.scalar import (
    arrays,
    dates,
    encodings,
    impure,
    json_texts,
    lambdas,
    maps,
    masks,
    mathematics,
    nulls,
    regular_expressions,
    rounding,
    strings,
    urls,
)

SCALARS: Final[tuple[Scalar, ...]] = (
    *rounding.FUNCTIONS,
    *mathematics.FUNCTIONS,
    *strings.FUNCTIONS,
    *masks.FUNCTIONS,
    *encodings.FUNCTIONS,
    *nulls.FUNCTIONS,
    *arrays.FUNCTIONS,
    *maps.FUNCTIONS,
    *lambdas.FUNCTIONS,
    *urls.FUNCTIONS,
    *json_texts.FUNCTIONS,
    *regular_expressions.FUNCTIONS,
    *dates.FUNCTIONS,
    *impure.FUNCTIONS,
)
