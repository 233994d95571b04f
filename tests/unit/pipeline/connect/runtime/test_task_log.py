"""No line of the log has a secret of a connector that runs."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.pipeline.connect.api import SourceConnector, SourceTask
from moldau.pipeline.connect.declarations import Texts
from moldau.pipeline.connect.runtime.task_log import FORMAT, hidden_in_log
from moldau.pipeline.connect.server.hosting.connector_run import ConnectorRun

ENV_PROVIDER = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}
log = logging.getLogger("some.library")


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What another handler of the process writes."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter(FORMAT))
    logging.getLogger().addHandler(handler)
    yield out
    logging.getLogger().removeHandler(handler)


def test_messages_and_traces_have_no_secret(lines: io.StringIO) -> None:
    with hidden_in_log({"open sesame", "sesame"}):
        log.warning("%s does not exist", "open sesame")
        try:
            raise ValueError("cannot log in with sesame")
        except ValueError:
            log.exception("the login failed", stack_info=True)
    text = lines.getvalue()
    assert "WARNING some.library: [hidden] does not exist\n" in text
    assert "ValueError: cannot log in with [hidden]" in text
    assert "Traceback" in text
    assert "sesame" not in text


def test_a_line_that_cannot_be_formatted_has_no_secret(lines: io.StringIO) -> None:
    with hidden_in_log({"sesame"}):
        log.warning("%s and %s", "sesame")
    assert "sesame" not in lines.getvalue()
    assert "logged with arguments that do not fit" in lines.getvalue()


def test_a_secret_is_hidden_as_long_as_something_runs_with_it(lines: io.StringIO) -> None:
    with hidden_in_log({"sesame"}):
        with hidden_in_log({"sesame"}):
            pass
        log.warning("first: sesame")
    log.warning("second: sesame")
    assert "first: [hidden]" in lines.getvalue()
    assert "second: sesame" in lines.getvalue()


class TalkingConnector(SourceConnector):
    """Logs what it is given."""

    task_class = SourceTask

    def start(self, config: Texts) -> None:
        log.warning("starts with %s", config)

    def stop(self) -> None:
        log.warning("stops: %s", "open sesame")


def test_a_connector_logs_no_secret_until_it_has_stopped(
    lines: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAGIC_WORDS", "open sesame")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    config = {"connector.class": f"{__name__}:TalkingConnector", "file": "${env:MAGIC_WORDS}"}
    run = ConnectorRun("talks", config, ENV_PROVIDER, tasks_limit=10)
    run.start()
    run.stop()
    assert "starts with" in lines.getvalue()
    assert "stops: [hidden]" in lines.getvalue()
    assert "sesame" not in lines.getvalue()
    log.warning("after: open sesame")
    assert "after: open sesame" in lines.getvalue()
