from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from admin_rig import Rig, make_rig


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = make_rig()
    yield made
    made.store.close()


@pytest.fixture
def rig_with() -> Iterator[Callable[[str], Rig]]:
    with ExitStack() as stores:

        def make(properties: str) -> Rig:
            made = make_rig(properties)
            stores.callback(made.store.close)
            return made

        yield make
