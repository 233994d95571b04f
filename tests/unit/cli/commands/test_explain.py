"""What a committed offset means for a consumer that starts now."""

import pytest

from moldau.cli.client.group_lag import LogState
from moldau.cli.commands.explain import meaning


@pytest.mark.parametrize(
    ("offset", "log", "said"),
    [
        (5, LogState(0, 10, 10), "The log holds 0 to 9: 5 are still to be read."),
        (5, LogState(0, 8, 10), "3 are still to be read; 2 more wait for an open transaction."),
        (5, LogState(7, 10, 10), "what comes at 5 was deleted"),
        (50, LogState(0, 10, 10), "50 is beyond its end"),
        (None, LogState(0, 10, 10), "The log holds 0 to 9."),
        (3, LogState(3, 3, 3), "The log is empty; its next offset is 3: 0 are still to be read."),
        (5, None, "does not exist"),
    ],
)
def test_what_an_offset_means(offset: int | None, log: LogState | None, said: str) -> None:
    assert said in (meaning(offset, log) or "")
