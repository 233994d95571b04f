"""`moldau mirror` in a process, with a file made of settings."""

import sys
from collections.abc import Mapping
from pathlib import Path

from compat.server_process import ServerProcess
from e2e.connect.mirror.flow_kit import EAGER

RUN = "import sys; from moldau.cli.commands.mirror import command; sys.exit(command(standalone_mode=False))"


class MirrorProcess(ServerProcess):
    def __init__(self, folder: Path, clusters: Mapping[str, str], settings: Mapping[str, str]) -> None:
        """`clusters`: bootstrap servers by alias."""
        super().__init__(folder)
        servers = {f"{alias}.bootstrap.servers": address for alias, address in clusters.items()}
        said = {
            "clusters": ", ".join(clusters),
            **servers,
            **EAGER,
            "offset.storage.partitions": "1",
            "connector.changes.interval.ms": "500",
            "spark.master": "local[1]",
            **settings,
        }
        self.file = folder / "mm2.properties"
        self.file.write_text("".join(f"{name} = {text}\n" for name, text in said.items()))

    def command(self) -> list[str]:
        state = str(self.folder / "state")
        return [sys.executable, "-c", RUN, "--config", str(self.file), "--state-dir", state]

    def is_ready(self) -> bool:
        return any(line.startswith("ready ") for line in self.log_text().splitlines())
