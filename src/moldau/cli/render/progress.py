"""A progress bar on standard error. Shows nothing if standard error is not a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import click


class Advance(Protocol):
    def __call__(self, steps: int, /) -> None: ...


class Bar(NamedTuple):
    advance: Advance
    is_shown: bool


@contextmanager
def progress_bar(length: int, label: str) -> Iterator[Bar]:
    if not sys.stderr.isatty():
        yield Bar(lambda steps: None, False)
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        yield Bar(bar.update, True)
