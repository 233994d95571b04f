"""The line of the user's program that created a node, so that an error can name it."""

import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "unknown line"


NOWHERE = Location("", 0)


def callers_location() -> Location:
    """The nearest line on the stack outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("moldau.pipeline."):
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)
