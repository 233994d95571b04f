"""How many records connectors have written, in the log."""

import logging

import pytest

from moldau.pipeline.connect.server.hosting.progress_log import TELL_EVERY_S, ProgressLog


def test_what_has_moved_is_told_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="moldau.connect")
    progress = ProgressLog()
    progress.count("mirror", 0, 0.0)
    progress.count("idle", 0, 0.0)
    progress.count("mirror", 5, 2.0)
    assert not caplog.messages
    for name, written in (("mirror", 7), ("idle", 0)):
        progress.count(name, written, TELL_EVERY_S)
    progress.count("mirror", 9, TELL_EVERY_S + 2)
    # Its tasks have started in another process.
    progress.count("mirror", 1, TELL_EVERY_S + 3)
    progress.count("mirror", 4, 2 * TELL_EVERY_S + 3)
    assert caplog.messages == ["mirror: 7 records in the last 60 s", "mirror: 3 records in the last 60 s"]
