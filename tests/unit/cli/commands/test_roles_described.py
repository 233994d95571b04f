"""`moldau roles describe`: needs no cluster."""

import json

import pytest

from moldau.cli.main import main
from moldau.security.roles.model import Role


def described(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    assert main(["roles", "describe", *arguments, "--output", "json"]) == 0
    found: list[dict[str, str]] = json.loads(capsys.readouterr().out)
    return found


def test_every_role_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert {row["role"] for row in described(capsys)} == set(Role)


def test_one_role(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["resource"]: row["allows"] for row in described(capsys, "developer-manage")}
    assert rows["topic"] == "create, delete, alter, alter-configs"
    assert rows["subject"] == "describe, delete, manage"
    assert rows["connector"] == "all"
    assert main(["roles", "describe"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["ROLE", "RESOURCE", "ALLOWS"]
