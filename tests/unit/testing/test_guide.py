"""Every example of the testing guide does what it says."""

import re
from importlib.util import find_spec

import pytest

from documents import guide_examples

pytest_plugins = "pytester"

EXAMPLES = guide_examples()


def test_the_guide_has_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    code = EXAMPLES[name]
    for package in re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed here")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "moldau.testing.pytest_plugin,pytest_asyncio.plugin")
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(**{f"test_{name}": code})
    result = pytester.runpytest("--strict-markers", "-W", "error")
    result.assert_outcomes(passed=len(re.findall(r"^(?:async )?def test_", code, re.MULTILINE)))
