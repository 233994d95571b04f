"""Traces of failures for people: the sentence that says what is wrong comes first."""

import re
from typing import Final

_FRAME: Final = re.compile(r'\s+File "')
_CLASS: Final = re.compile(r"\A(?:[A-Za-z_]\w*\.)+([A-Za-z_]\w*)(?=:|$)")


def reason_of(trace: str) -> str:
    """What the exception says, with the name of its class. Python says it at the end of a trace, Java at its
    beginning."""
    lines = trace.strip().splitlines()
    frames = [number for number, line in enumerate(lines) if _FRAME.match(line)]
    if not frames:
        java = next((number for number, line in enumerate(lines) if line.startswith("\tat ")), len(lines))
        return "\n".join(lines[:java])
    end = frames[-1] + 1
    # The source of the last call, and what marks the place in it.
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    return _CLASS.sub(r"\1", "\n".join(lines[end:])) if end < len(lines) else lines[-1].strip()


def reason_first(trace: str) -> str:
    """The reason, and then the whole trace if there is more to it."""
    reason, whole = reason_of(trace), trace.strip()
    return whole if reason == whole else f"{reason}\n\n{whole}"
