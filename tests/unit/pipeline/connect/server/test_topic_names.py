"""A name that no topic can have is refused where it is given."""

import pytest

from moldau.pipeline.connect.server.config_checks import ConfigChecks
from moldau.pipeline.connect.server.failures import BAD_REQUEST, RequestFailure
from moldau.pipeline.connect.server.settings import read_configuration

SOURCE = {"name": "a", "connector.class": "FileStreamSource", "file": "in.txt", "topic": "lines"}
SINK = {"name": "a", "connector.class": "FileStreamSink", "file": "out.txt", "topics": "lines, more_1.x-y"}
ANSWERS = {
    "name": "a",
    "connector.class": "FileSource",
    "path": "/tmp/archive",
    "topic": "",
}


def require_valid(config: dict[str, str]) -> None:
    ConfigChecks(read_configuration()).require_valid(config["name"], config)


@pytest.mark.parametrize("bad", ["../bad topic", "..", "naïve", "a/b", "x" * 250])
@pytest.mark.parametrize(
    ("config", "setting"),
    [
        (SOURCE, "topic"),
        (SOURCE, "offsets.storage.topic"),
        (SOURCE, "errors.deadletterqueue.topic.name"),
        (SINK, "topics"),
        (SINK, "errors.deadletterqueue.topic.name"),
    ],
)
def test_refused(config: dict[str, str], setting: str, bad: str) -> None:
    with pytest.raises(RequestFailure) as refused:
        require_valid({**config, setting: bad})
    assert refused.value.status == BAD_REQUEST
    assert f"Invalid value {bad} for configuration {setting}: not a valid topic name" in refused.value.message


@pytest.mark.parametrize("config", [SOURCE, SINK, ANSWERS])
def test_accepted(config: dict[str, str]) -> None:
    require_valid(config)
