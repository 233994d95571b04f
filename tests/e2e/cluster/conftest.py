"""Tests of whole clusters take long and need several processes: they run when they are asked for."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REASON = "clusters are not finished: make cluster runs these (MOLDAU_CLUSTER=1)"


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    if os.environ.get("MOLDAU_CLUSTER") == "1":
        return
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=REASON))
