"""Processes that stop with the command that started them."""

import os
import signal
from pathlib import Path

import click
import pytest

from moldau.cli.local.services import Service, overrides, stopped_in_order


class Impatient(Service):
    """Gets a second Ctrl-C while it is being stopped."""

    def stop(self, *, with_kill: bool = False) -> None:
        if not with_kill:
            os.kill(os.getpid(), signal.SIGTERM)
        super().stop(with_kill=with_kill)


def broker(directory: Path) -> list[str]:
    return ["broker", *overrides(["listeners=PLAINTEXT://127.0.0.1:0", f"log.dirs={directory}"])]


def test_nothing_is_left_running_after_a_second_interrupt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(click.Abort), stopped_in_order() as services:
        services.append(Service("first", broker(tmp_path / "first")))
        services.append(Impatient("second", broker(tmp_path / "second")))
        for service in services:
            service.wait_until_ready()
        os.kill(os.getpid(), signal.SIGTERM)
    assert "stopping" in capsys.readouterr().err
    assert all(service.has_ended() for service in services)
