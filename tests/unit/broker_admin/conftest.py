from collections.abc import Callable

import pytest
from admin_rig import Rig, make_rig


@pytest.fixture
def rig() -> Rig:
    return make_rig()


@pytest.fixture
def rig_with() -> Callable[[str], Rig]:
    return make_rig
