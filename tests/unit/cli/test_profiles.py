"""Clusters kept by name: the file, the commands, and whose properties go to which address."""

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.cli.failures import Failure
from moldau.cli.main import main
from moldau.cli.options import DEFAULT_BOOTSTRAP_SERVER, locate
from moldau.cli.profiles import Profiles, profiles_path


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def add(name: str, *options: str) -> None:
    assert main(["profile", "add", name, "--bootstrap-server", f"{name}:9092", *options]) == 0


def listed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main(["profile", "list", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, list)
    return found


def test_profiles_are_added_used_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    add("local")
    add("work", "-X", "security.protocol=SASL_SSL", "-X", "sasl.password=geheim", "--use")
    assert listed(capsys) == [
        {"profile": "local", "in_use": False, "properties": {"bootstrap.servers": "local:9092"}},
        {
            "profile": "work",
            "in_use": True,
            "properties": {
                "security.protocol": "SASL_SSL",
                "sasl.password": "(hidden)",
                "bootstrap.servers": "work:9092",
            },
        },
    ]
    assert main(["profile", "list"]) == 0
    text = capsys.readouterr().out
    assert "*  work     work:9092" in text and "geheim" not in text
    assert main(["profile", "use", "local"]) == 0
    assert Profiles.load().current == "local"
    assert main(["profile", "remove", "local"]) == 0
    assert (Profiles.load().current, list(Profiles.load().named)) == (None, ["work"])


def test_nobody_else_may_read_the_file() -> None:
    add("work")
    assert stat.S_IMODE(profiles_path().stat().st_mode) == 0o600
    profiles_path().chmod(0o644)
    add("other")
    assert stat.S_IMODE(profiles_path().stat().st_mode) == 0o600


def test_properties_are_copied_from_a_file(tmp_path: Path) -> None:
    client = tmp_path / "client.properties"
    client.write_text("sasl.username=me\nclient.id=file\n")
    add("work", "--command-config", str(client), "-X", "client.id=told")
    assert Profiles.load().get("work") == {
        "sasl.username": "me",
        "client.id": "told",
        "bootstrap.servers": "work:9092",
    }


def test_a_profile_is_not_written_over_by_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    add("work")
    assert main(["profile", "add", "work", "-b", "elsewhere:1"]) == 1
    assert "profile 'work' already exists" in capsys.readouterr().err
    assert main(["profile", "add", "work", "-b", "elsewhere:1", "--force"]) == 0
    assert Profiles.load().get("work") == {"bootstrap.servers": "elsewhere:1"}


def test_a_name_that_is_none_comes_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    add("work")
    for arguments in (
        ["profile", "use", "wrok"],
        ["profile", "remove", "wrok"],
        ["topics", "list", "--profile", "wrok"],
    ):
        assert main(arguments) == 1
        assert "there is no profile 'wrok'.\nDid you mean 'work'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["use"], ["use", "a", "--none"], ["add", "x"], ["add", "x", "-b", "a:b"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    assert main(["profile", *arguments]) == 2


def test_where_a_command_looks_for_its_cluster() -> None:
    assert locate(None, None) == (DEFAULT_BOOTSTRAP_SERVER, {})
    add("local", "--use")
    add("work", "-X", "sasl.password=geheim")
    assert locate(None, None) == ("local:9092", {})
    assert locate(None, "work") == ("work:9092", {"sasl.password": "geheim"})
    assert locate("tunnel:1", "work") == ("tunnel:1", {"sasl.password": "geheim"})


def test_passwords_in_use_do_not_go_to_an_address_that_was_told() -> None:
    add("work", "-X", "sasl.password=geheim", "--use")
    assert locate("stranger:9092", None) == ("stranger:9092", {})


@pytest.mark.parametrize("text", ["current = ", "profiles = 3", "\xff"])
def test_a_file_that_cannot_be_read_says_which(text: str) -> None:
    profiles_path().parent.mkdir(parents=True)
    profiles_path().write_bytes(text.encode("latin-1"))
    with pytest.raises(Failure, match=r"profiles\.toml"):
        Profiles.load()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(named=st.dictionaries(texts, st.dictionaries(texts, texts, max_size=3), max_size=3))
def test_whatever_is_kept_is_found_again(named: dict[str, dict[str, str]]) -> None:
    current = next(iter(named), None)
    Profiles(current, named).save()
    assert Profiles.load() == Profiles(current, named)
