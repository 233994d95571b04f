"""`moldau schemas` as a person runs it: tables and JSON, a rejection with a small diff, export and import."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from e2e.cli.shell import Shell
from moldau.testing import LocalCluster, LocalRegistry


@pytest.fixture
def shell(cluster: LocalCluster) -> Shell:
    shell = Shell(cluster.bootstrap_servers)
    shell.environment["MOLDAU_REGISTRY"] = cluster.registry_url
    return shell


def schema_file(folder: Path, *fields: dict[str, Any], name: str = "purchase.avsc") -> str:
    path = folder / name
    path.write_text(json.dumps({"type": "record", "name": "Purchase", "fields": list(fields)}))
    return str(path)


ITEM = {"name": "item", "type": "string"}
AMOUNT = {"name": "amount", "type": "double", "default": 0.0}
CUSTOMER = {"name": "customer_id", "type": "string"}


def test_register_list_and_show(shell: Shell, subject: str, tmp_path: Path) -> None:
    file = schema_file(tmp_path, ITEM)
    assert f"Registered as version 1 of '{subject}', with id " in shell.run(
        "schemas", "register", subject, file
    )
    told = json.loads(shell.run("schemas", "register", subject, file, "-o", "json"))
    assert (told["subject"], told["version"]) == (subject, 1)
    table = shell.run("schemas", "list", subject)
    assert table.splitlines()[0].split() == ["SUBJECT", "VERSION", "ID", "TYPE"]
    assert table.splitlines()[1].split() == [subject, "1", str(told["id"]), "AVRO"]
    shown = shell.run("schemas", "show", subject)
    assert '"name": "item"' in shown and f"id       {told['id']}" in shown
    by_id = json.loads(shell.run("schemas", "show", "--id", str(told["id"]), "-o", "json"))
    assert {"subject": subject, "version": 1} in by_id["uses"]
    text = shell.run("schemas", "show", subject, "--text")
    assert json.loads(text)["name"] == "Purchase"


def test_a_refusal_is_a_small_diff_with_the_way_out(shell: Shell, subject: str, tmp_path: Path) -> None:
    shell.run("schemas", "register", subject, schema_file(tmp_path, ITEM, AMOUNT))
    breaking = schema_file(tmp_path, ITEM, AMOUNT, CUSTOMER, name="next.avsc")
    for verb in ("register", "check", "evolve"):
        said = shell.run("schemas", verb, subject, breaking, code=1)
        assert f"--- {subject} version 1" in said and '+      "name": "customer_id",' in said
        assert "Field customer_id is new since version 1 and has no default" in said
        assert 'To pass: add "default": "" to field customer_id.' in said
    done = shell.finished("schemas", "check", subject, breaking, "-o", "json")
    assert done.returncode == 1
    (clash,) = json.loads(done.stdout)["clashes"]
    assert (clash["rule"], clash["version"]) == ("READER_FIELD_MISSING_DEFAULT_VALUE", 1)


def test_evolve_shows_the_change_and_asks(shell: Shell, subject: str, tmp_path: Path) -> None:
    shell.run("schemas", "register", subject, schema_file(tmp_path, ITEM))
    wider = schema_file(tmp_path, ITEM, AMOUNT, name="next.avsc")
    assert "Compatible" in shell.run("schemas", "check", subject, wider)
    assert "nothing was registered" in shell.run("schemas", "evolve", subject, wider, code=1)
    said = shell.run("schemas", "evolve", subject, wider, stdin="y\n")
    assert '+      "name": "amount",' in said and "Upgrade the consumers first" in said
    assert f"Registered as version 2 of '{subject}'" in said


def test_config_and_mode(shell: Shell, subject: str) -> None:
    assert "compatibility  BACKWARD" in shell.run("schemas", "config", subject)
    said = shell.run("schemas", "config", subject, "--compatibility", "full", "--mode", "readonly")
    assert "compatibility  FULL" in said and "mode           READONLY" in said
    told = json.loads(shell.run("schemas", "config", subject, "--reset", "-o", "json"))
    assert told == {"compatibilityLevel": "BACKWARD", "mode": "READWRITE"}


def test_export_and_import_keep_ids_versions_and_references(
    shell: Shell, subject: str, tmp_path: Path, cluster: LocalCluster
) -> None:
    shell.run("schemas", "register", subject, schema_file(tmp_path, ITEM))
    shell.run("schemas", "register", subject, schema_file(tmp_path, ITEM, AMOUNT))
    order = tmp_path / "order.avsc"
    fields = [{"name": "purchase", "type": "Purchase"}]
    order.write_text(json.dumps({"type": "record", "name": "Order", "fields": fields}))
    shell.run("schemas", "register", f"{subject}-order", str(order), "--reference", f"Purchase={subject}:2")
    shell.run("schemas", "config", subject, "--compatibility", "FULL")
    exported = tmp_path / "schemas.json"
    shell.run("schemas", "export", f"{subject}*", "--file", str(exported))
    settings = {"kafkastore.topic": f"_schemas-{subject}", "schema.registry.group.id": subject}
    with LocalRegistry(cluster.bootstrap_servers, settings) as other:
        there = ("--registry", other.url)
        assert "3 versions of 2 subjects imported." in shell.run("schemas", "import", str(exported), *there)
        assert "3 versions" in shell.run("schemas", "import", str(exported), *there), "twice is once"
        again = tmp_path / "again.json"
        shell.run("schemas", "export", "--file", str(again), *there)
        assert again.read_text() == exported.read_text()


def test_delete_asks_first_and_goes_in_two_steps(shell: Shell, subject: str, tmp_path: Path) -> None:
    shell.run("schemas", "register", subject, schema_file(tmp_path, ITEM))
    assert "nothing was deleted" in shell.run("schemas", "delete", subject, code=1)
    assert "Deleted 1 version" in shell.run("schemas", "delete", subject, "--yes")
    assert subject in shell.run("schemas", "list", subject, "--deleted")
    assert "permanently" in shell.run("schemas", "delete", subject, "--permanent", "--yes")
    assert "40401" in shell.run("schemas", "show", subject, code=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["schemas", "list", "--registry", "http://127.0.0.1:1"], "no schema registry answers"),
        (["schemas", "list", "--registry", "ftp://x"], "is not an address of a registry"),
        (["schemas", "show"], "Pass either SUBJECT or --id."),
        (["schemas", "register", "s", os.devnull], "The type of schema"),
        (["schemas", "import", os.devnull], "cannot read"),
    ],
)
def test_failures_say_what_to_do(shell: Shell, arguments: list[str], words: str) -> None:
    done = shell.finished(*arguments)
    assert done.returncode in (1, 2) and words in done.stderr
    assert "Traceback" not in done.stderr


IDL = """
namespace shop;
import idl "units.avdl";

/** What is bought. */
record Purchase { string item; Line line; Unit? unit = null; }
record Line { string sku; }
"""


def test_avro_idl_is_taken_where_a_schema_file_is(shell: Shell, subject: str, tmp_path: Path) -> None:
    file = tmp_path / "purchase.avdl"
    file.write_text(IDL)
    (tmp_path / "units.avdl").write_text("namespace shop; enum Unit { KG, M }")
    shell.run("schemas", "register", subject, str(file))
    found = json.loads(shell.run("schemas", "show", subject, "--text"))
    assert (found["name"], found["doc"], found["fields"][1]["type"]["name"]) == (
        "Purchase",
        "What is bought.",
        "Line",
    )
    assert "Compatible" in shell.run("schemas", "check", subject, str(file))
    shell.run("schemas", "register", f"{subject}-line", str(file), "--name", "Line")
    assert json.loads(shell.run("schemas", "show", f"{subject}-line", "--text"))["name"] == "Line"
    file.write_text("record A { string a; } record B { string b; }")
    said = shell.run("schemas", "register", subject, str(file), code=1)
    assert "does not say which type to use; it has A, B" in said and "--name" in said
    file.write_text("record A { string 1; }")
    assert "line 1, column 19" in shell.run("schemas", "register", subject, str(file), code=1)
    file.write_text('import idl "missing.avdl"; record A { string a; }')
    assert "missing.avdl" in shell.run("schemas", "register", subject, str(file), code=1)
    plain = schema_file(tmp_path, ITEM)
    assert "--name requires" in shell.run("schemas", "register", subject, plain, "--name", "A", code=2)


def test_records_are_produced_with_a_schema_in_avro_idl(
    shell: Shell, cluster: LocalCluster, subject: str, tmp_path: Path
) -> None:
    file = tmp_path / "line.avdl"
    file.write_text("record Line { string sku; }")
    cluster.create_topic(subject)
    options = ("--value-format", "avro", "--value-schema", f"@{file}")
    shell.run("produce", subject, *options, "--value", '{"sku": "a-1"}')
    assert '"a-1"' in shell.run("consume", subject, "--value-format", "avro", "--limit", "1")
