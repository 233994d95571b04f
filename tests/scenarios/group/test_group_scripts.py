"""Every script beside this file, with the transcript it must produce."""

from pathlib import Path

import pytest

from scenarios.group.consumer_script import ConsumerScript
from scenarios.script import run_script

SCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_script(path: Path, rewrite: bool) -> None:
    run_script(path, ConsumerScript().handle, rewrite=rewrite)
