"""Files that describe a connector."""

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.connector_files import read_connector

CONFIG = {"name": "a", "connector.class": "FileStreamSink", "tasks.max": "010", "flag": "on"}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.properties", "name=a\nconnector.class = FileStreamSink\ntasks.max=010\nflag=on"),
        ("a.yaml", "name: a\nconnector.class: FileStreamSink\ntasks.max: 010\nflag: on"),
        ("a.yml", "name: a\nconfig: {connector.class: FileStreamSink, tasks.max: 010, flag: on}"),
        ("-", '{"name": "a", "connector.class": "FileStreamSink", "tasks.max": "010", "flag": "on"}'),
        (
            "a.JSON",
            '{"name":"a","config":{"connector.class":"FileStreamSink","tasks.max":"010","flag":"on"}}',
        ),
    ],
)
def test_all_forms_give_the_same(file: str, text: str) -> None:
    found = read_connector(file, text)
    assert (found.name, dict(found.config)) == ("a", CONFIG)


def test_numbers_and_booleans_of_json_are_texts() -> None:
    found = read_connector("a.json", '{"name": "a", "tasks.max": 2, "flag": true, "gone": null}')
    assert found.config == {"name": "a", "tasks.max": "2", "flag": "true"}


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("a.json", "{", "a.json is not JSON"),
        ("a.yaml", "{a", "a.yaml is not YAML"),
        ("a.json", "[]", "described by an object"),
        ("a.json", '{"a": {"b": 1}}', 'The value of "a" must be'),
        ("a.json", '{"name": "a", "config": {}, "cofnig": 1}', "unknown entries beside `config`: cofnig"),
    ],
)
def test_wrong_files(file: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        read_connector(file, text)
    assert message in str(wrong.value)
    assert str(wrong.value).startswith(file)
