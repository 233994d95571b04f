"""`moldau sql server`: the command line before anything is started."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from moldau.cli.commands.sql.server import command
from moldau.pipeline.sql.server.settings import ServerSettings, read_configuration


def test_the_printed_settings_are_a_configuration_file() -> None:
    printed = CliRunner().invoke(command, ["--list-settings"])
    assert printed.exit_code == 0
    names = {line[1:].partition("=")[0] for line in printed.output.splitlines() if line.startswith("#ksql.")}
    assert names == {name for name in ServerSettings.KEYS if name.startswith("ksql.")}
    assert read_configuration(printed.output).settings.service_id == "default_"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--override", "ksql.service.ids=x"], "did you mean ksql.service.id?"),
        (["--listen", "https://127.0.0.1:0"], "https needs a certificate: set ssl.keystore.location"),
        (["--config", "missing.properties"], "cannot read the configuration file missing.properties"),
    ],
)
def test_a_wrong_option_is_named(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert refused.return_value == 2
    assert message in refused.output
