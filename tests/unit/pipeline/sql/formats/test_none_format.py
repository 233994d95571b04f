import pytest

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import STRING, Column


def test_keys_of_none_are_null() -> None:
    serde = row_serde(Format("NONE"), (), is_key=True)
    assert serde.encoder("t", is_key=True)(()) is None
    assert serde.decoder("t", is_key=True)(b"anything") is None


def test_none_holds_no_columns() -> None:
    with pytest.raises(SqlError, match="NONE holds no columns, not K"):
        row_serde(Format("NONE"), [Column("K", STRING)], is_key=True)
