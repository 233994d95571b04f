"""Every script beside this file, with the transcript it must produce."""

from pathlib import Path

import pytest

from scenarios.script import run_script
from scenarios.txn.txn_script import TxnScript

SCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_script(path: Path, rewrite: bool) -> None:
    run_script(path, TxnScript().handle, rewrite=rewrite)
