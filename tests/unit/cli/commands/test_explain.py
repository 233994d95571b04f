"""What a committed offset means for a consumer that starts now."""

import pytest

from moldau.cli.client.group_lag import LogState
from moldau.cli.commands.explain import meaning


@pytest.mark.parametrize(
    ("offset", "log", "said"),
    [
        (5, LogState(0, 10, 10), "The log contains offsets 0 to 9: 5 are unread."),
        (5, LogState(0, 8, 10), "3 are unread; 2 more are blocked by an open transaction."),
        (5, LogState(7, 10, 10), "offset 5 was deleted"),
        (50, LogState(0, 10, 10), "50 is beyond its end"),
        (None, LogState(0, 10, 10), "The log contains offsets 0 to 9."),
        (3, LogState(3, 3, 3), "The log is empty; its next offset is 3: 0 are unread."),
        (5, None, "does not exist"),
    ],
)
def test_what_an_offset_means(offset: int | None, log: LogState | None, said: str) -> None:
    assert said in (meaning(offset, log) or "")
