"""docs/COMPAT.md lists the paths the registry serves, no more and no fewer."""

import re
from pathlib import Path

from moldau.registry.http.app import ROUTES

PAGE = Path(__file__).parents[3] / "docs" / "COMPAT.md"
ROW = re.compile(r"^\| (GET|POST|PUT|DELETE) \| `(\S+)` \|", re.MULTILINE)


def test_the_table_of_paths_is_the_registrys_own() -> None:
    assert set(ROW.findall(PAGE.read_text())) == {(route.method, route.path) for route in ROUTES}
