"""`moldau mqtt` as a user starts it: the installed command in a process of its own."""

import sys
from collections.abc import Mapping
from pathlib import Path

from compat.server_process import ServerProcess


class MqttProxy(ServerProcess):
    """Its sessions are in the cluster: it can be stopped or killed, and started again."""

    def __init__(
        self, folder: Path, bootstrap: str, settings: Mapping[str, str] | None = None, scheme: str = "mqtt"
    ) -> None:
        super().__init__(folder)
        self.settings = {
            "listeners": f"{scheme}://127.0.0.1:{self.port}",
            "bootstrap.servers": bootstrap,
            **(settings or {}),
        }

    def command(self) -> list[str]:
        overrides = [f"--override={key}={value}" for key, value in self.settings.items()]
        return [str(Path(sys.executable).with_name("moldau")), "mqtt", *overrides]

    def is_ready(self) -> bool:
        return any(line.startswith("ready") for line in self.log_text().splitlines())
