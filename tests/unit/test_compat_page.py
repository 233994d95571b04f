"""docs/COMPAT.md says what the broker serves, no more and no less."""

import re
from pathlib import Path

from moldau.broker.handlers import HANDLERS
from moldau.broker.request.api_table import ApiTable

PAGE = Path(__file__).parents[2] / "docs" / "COMPAT.md"
ROW = re.compile(r"^\| (\d+) \| (\w+) \| ([\d-]+) \|", re.MULTILINE)


def test_the_table_of_apis_is_the_brokers_own() -> None:
    served = {
        (spec.key, spec.name, f"{spec.min_version}-{spec.max_version}".replace("0-0", "0"))
        for spec in ApiTable(HANDLERS).specs
    }
    written = {(int(key), name, versions) for key, name, versions in ROW.findall(PAGE.read_text())}
    assert written == served
