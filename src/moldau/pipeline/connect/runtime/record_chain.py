"""What sources and sinks have in common on the way of a record: transformations, converters, retries, failures."""

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.converters.catalog import make_converter
from moldau.pipeline.connect.converters.converter import HEADER, KEY, VALUE, Converter
from moldau.pipeline.connect.converters.plain_converters import ENCODING, ByteArrayConverter, StringConverter
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.runtime.chain_settings import ChainSettings
from moldau.pipeline.connect.runtime.record_failures import Failure, Stage, class_name
from moldau.pipeline.connect.runtime.retries import Attempts

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Failed(Exception):
    """The outcome for one record, on its way out of nested calls."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


@dataclass(frozen=True)
class Waiting:
    """Clock and pause, from the host of the chain. `pause_ms` returns False when the task is to stop."""

    now_ms: Callable[[], int]
    pause_ms: Callable[[int], bool]


class RecordChain:
    """The parts, made once for each task, and the calls with retries."""

    def __init__(self, config: Mapping[str, str], waiting: Waiting) -> None:
        """Raises ConfigError for a converter or transformation that does not exist, or a wrong setting of one."""
        self.settings = ChainSettings.of(config)
        self.key = make_converter(self.settings.key_converter, KEY, config)
        self.value = make_converter(self.settings.value_converter, VALUE, config)
        self.header = make_converter(self.settings.header_converter, HEADER, config)
        self._transform = _transformations(config)
        self._waiting = waiting

    @property
    def passes_texts(self) -> bool:
        """Texts go through as they are."""
        return self._transform is None and is_utf8(self.value)

    @property
    def passes_bytes(self) -> bool:
        """Keys, values and headers that are bytes go through as they are."""
        converters = self.key, self.value, self.header
        return self._transform is None and all(type(one) is ByteArrayConverter for one in converters)

    def transformed(self, records: Sequence[R]) -> Iterator[tuple[R, R | Failure]]:
        """Of each record that is not dropped: itself, and what became of it."""
        if self._transform is None:
            # Some sequences make a record whenever one is asked for.
            yield from ((record, record) for record in records)
            return
        for record, outcome in zip(records, self._transform(records), strict=True):
            if isinstance(outcome, Exception):
                component = getattr(outcome, "transformation", None) or class_name(outcome)
                yield record, Failure(Stage.TRANSFORMATION, str(component), outcome)
            elif outcome is not None:
                yield record, outcome

    def attempt(self, stage: Stage, component: object, call: Callable[..., T], *given: Any) -> T:
        """Raises Failed when it fails for good."""
        attempts: Attempts | None = None
        while True:
            try:
                return call(*given)
            except RetriableError as failure:
                attempts = attempts or Attempts(
                    self.settings.retry_timeout_ms, self.settings.retry_delay_max_ms
                )
                delay_ms = attempts.next_delay_ms(self._waiting.now_ms())
                if delay_ms is None or not self._waiting.pause_ms(delay_ms):
                    raise Failed(Failure(stage, class_name(component), failure)) from failure
            except Exception as failure:
                raise Failed(Failure(stage, class_name(component), failure)) from failure


def is_utf8(converter: Converter) -> bool:
    return type(converter) is StringConverter and codecs.lookup(converter.settings[ENCODING]).name == "utf-8"


def _transformations(config: Mapping[str, str]) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    if not config.get("transforms", "").strip():
        return None
    from moldau.pipeline.connect.transforms.chain import Chain

    chain = Chain.of(config)
    return chain.apply_all if chain else None
