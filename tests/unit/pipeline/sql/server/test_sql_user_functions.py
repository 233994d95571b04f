"""The folder of the user's functions, as the server watches it."""

from pathlib import Path

from compat.server_process import wait_until
from moldau.pipeline.sql.server.user_functions import UserFunctions

SHOUT = """
from moldau.pipeline.sql.functions.user import udf

@udf
def shout(text: str) -> str:
    return text.upper()
"""


def test_the_folder_may_come_later(tmp_path: Path) -> None:
    folder = tmp_path / "ext"
    functions = UserFunctions(str(folder))
    functions.refresh()
    before = functions.paths
    assert functions.library.find("SHOUT") is None
    folder.mkdir()
    (folder / "shout.py").write_text(SHOUT)
    wait_until(functions.refresh, "the new file is seen")
    assert functions.library.find("SHOUT") is not None
    assert functions.paths == before, "queries that run would be started again"
