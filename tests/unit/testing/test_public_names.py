"""`moldau.testing.__all__` lists what users may import, and every name in it exists."""

import moldau.testing


def test_every_public_name_can_be_imported_with_a_star() -> None:
    found: dict[str, object] = {}
    exec("from moldau.testing import *", found)
    assert set(moldau.testing.__all__) <= set(found)
    assert all(found[name].__name__ == name for name in moldau.testing.__all__)  # type: ignore[attr-defined]


def test_every_name_the_package_resolves_is_public() -> None:
    assert sorted(moldau.testing._HOMES) == sorted(moldau.testing.__all__)
