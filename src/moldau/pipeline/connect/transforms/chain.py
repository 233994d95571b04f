"""The transformations of one connector, in their order, each with its predicate."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self, TypeVar

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.declarations import Texts
from moldau.pipeline.connect.transforms.chain_parts import (
    PREDICATES_SETTING,
    TRANSFORMS,
    chain_declarations,
    chain_errors,
    is_negated,
    parts_of,
    predicate_of,
)
from moldau.pipeline.connect.transforms.predicates import Predicate
from moldau.pipeline.connect.transforms.transformation import Transformation

__all__ = ["Chain", "TransformError", "chain_declarations", "chain_errors"]

R = TypeVar("R", bound=Record)


class TransformError(DataError):
    """A transformation cannot transform a record."""

    def __init__(self, transformation: str, alias: str, failure: Exception) -> None:
        short = transformation.rpartition(".")[2]
        text = str(failure) if isinstance(failure, DataError) else f"{type(failure).__name__}: {failure}"
        title = f"transforms.{alias} ({short})"
        super().__init__(text if text.startswith(title) else f"{title}: {text}")
        self.transformation = transformation
        """The class, under its full name."""
        self.alias = alias


class Step(NamedTuple):
    alias: str
    transformation: Transformation
    predicate: Predicate | None = None
    is_negated: bool = False

    def function(self) -> Callable[[Record], Record | None]:
        apply = self.transformation.apply
        if self.predicate is None:
            return apply
        test, wanted = self.predicate.test, not self.is_negated
        return lambda record: apply(record) if test(record) is wanted else record


class Chain:
    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self._functions: list[Callable[[Record], Record | None]] = []

    @classmethod
    def of(cls, config: Texts) -> Self:
        """Raises ConfigError."""
        predicates = {one.alias: one.make_predicate() for one in parts_of(config, PREDICATES_SETTING)}
        steps = []
        for part in parts_of(config, TRANSFORMS):
            transformation = part.make_transformation()
            alias = predicate_of(part, predicates)
            predicate = None if alias is None else predicates[alias]
            steps.append(Step(part.alias, transformation, predicate, is_negated(part)))
        return cls(steps)

    def __bool__(self) -> bool:
        return bool(self.steps)

    def apply(self, record: R) -> R | None:
        """None: the record was dropped. Raises TransformError."""
        outcome = self.apply_all([record])[0]
        if isinstance(outcome, TransformError):
            raise outcome
        return outcome

    def apply_all(self, records: Sequence[R]) -> list[R | TransformError | None]:
        """One outcome for each record: a new record, None where it was dropped, or why it failed."""
        functions = self._functions = self._functions or [one.function() for one in self.steps]
        outcomes: list[R | TransformError | None] = []
        for record in records:
            made: R | None = record.copy()
            number = 0
            try:
                for number, transform in enumerate(functions):  # noqa: B007 also of the one that fails
                    made = transform(made)  # type: ignore[arg-type, assignment]
                    if made is None:
                        break
                outcomes.append(made)
            except Exception as failure:  # noqa: BLE001 of a user's transformation, perhaps
                outcomes.append(self._failed(self.steps[number], failure))
        return outcomes

    def _failed(self, step: Step, failure: Exception) -> TransformError:
        kind = step.transformation
        error = TransformError(kind.java_name(kind.part), step.alias, failure)
        error.__cause__ = failure
        return error
