"""The proxy's file of users: others on the machine should not read it."""

import logging
from pathlib import Path

import pytest

from moldau.proxies.mqtt.server.security import Security
from moldau.proxies.mqtt.settings import MqttSettings


@pytest.mark.parametrize(
    ("mode", "is_warned_of"), [(0o600, False), (0o640, False), (0o644, True), (0o620, True)]
)
def test_a_file_that_others_can_use_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, is_warned_of: bool
) -> None:
    caplog.set_level(logging.WARNING, "moldau.mqtt")
    users = tmp_path / "users"
    users.write_text("alice: kde-domov-můj\n")
    users.chmod(mode)
    settings = {"authentication.method": "BASIC", "authentication.users.file": str(users)}
    Security(MqttSettings.parse({**settings, "listeners": "mqtt://127.0.0.1:0"}))
    warnings = [record.getMessage() for record in caplog.records]
    assert any(f"chmod 600 {users}" in text for text in warnings) is is_warned_of
    assert "kde-domov" not in str(warnings)
