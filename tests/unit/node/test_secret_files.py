"""Files with passwords need tight permissions (X6 of the book)."""

from pathlib import Path

import pytest

from moldau.core.settings.static_layer import static_layer
from moldau.node.secret_files import warn_of_readable_secrets


def warned(caplog: pytest.LogCaptureFixture, text: str, config: Path) -> str:
    caplog.clear()
    config.write_text(text)
    warn_of_readable_secrets(static_layer(text), str(config))
    return caplog.text


def test_files_that_every_user_may_read_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config, store = tmp_path / "server.properties", tmp_path / "broker.jks"
    config.touch(0o644)
    store.touch(0o644)
    text = (
        "listeners=SSL://:9093\nssl.keystore.password=masquerade\nssl.key.password=masquerade\n"
        f"listener.name.ssl.ssl.keystore.location={store}\nzookeeper.ssl.keystore.location=/nowhere\n"
    )
    said = warned(caplog, text, config)
    assert said.count("may read it (mode 644)") == 2
    assert f"{config} has secrets" in said and f"{store} has secrets" in said
    assert "masquerade" not in said
    config.chmod(0o640)
    store.chmod(0o600)
    assert warned(caplog, text, config) == ""


def test_a_file_without_passwords_may_be_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = tmp_path / "server.properties"
    config.touch(0o644)
    assert warned(caplog, "num.partitions=3\nssl.keystore.password=\n", config) == ""
