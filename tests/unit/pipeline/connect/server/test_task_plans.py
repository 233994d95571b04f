"""Which tasks the driver process is to run."""

from dataclasses import replace

from moldau.pipeline.connect.server.hosting.connector_run import with_references
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.task_plans import TaskPlans
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry
from moldau.pipeline.connect.server.state.config_records import TargetState

CONFIG = {"name": "lines", "connector.class": "FileStreamSink", "file": "out.txt", "topics": "lines"}
ENTRY = ConnectorEntry("lines", CONFIG, tasks=({"n": "0"}, {"n": "1"}), config_offset=1, tasks_offset=4)
EVERYTHING = Shares.everything()


def plans() -> TaskPlans:
    return TaskPlans(read_configuration("value.converter=StringConverter\n"))


def test_the_worker_adds_its_converters() -> None:
    (wanted,) = plans().wanted({"lines": ENTRY}, EVERYTHING).values()
    assert wanted.plan.config["value.converter"] == "StringConverter"
    assert (wanted.plan.kind, sorted(wanted.plan.tasks)) == ("sink", [0, 1])
    assert not wanted.is_paused


def test_paused_and_stopped() -> None:
    paused = replace(ENTRY, target=TargetState.PAUSED)
    (wanted,) = plans().wanted({"lines": paused}, EVERYTHING).values()
    assert wanted.is_paused
    assert plans().wanted({"lines": replace(ENTRY, target=TargetState.STOPPED)}, EVERYTHING) == {}


def test_only_tasks_of_the_share() -> None:
    assert plans().wanted({"lines": ENTRY}, Shares(25, ())) == {}
    share = next(one for one in range(25) if Shares(25, [one]).has_task("lines", 1))
    (wanted,) = plans().wanted({"lines": ENTRY}, Shares(25, [share])).values()
    assert sorted(wanted.plan.tasks) == [1]


def test_the_tasks_go_on_until_those_of_a_new_configuration_are_known() -> None:
    made = plans()
    (before,) = made.wanted({"lines": ENTRY}, EVERYTHING).values()
    changed = replace(ENTRY, config={**CONFIG, "file": "other.txt"}, config_offset=9)
    (meanwhile,) = made.wanted({"lines": changed}, EVERYTHING).values()
    assert meanwhile.content == before.content
    (after,) = made.wanted({"lines": replace(changed, tasks_offset=12)}, EVERYTHING).values()
    assert after.content != before.content


def test_the_restart_of_a_task_changes_only_that_task() -> None:
    made = plans()
    (before,) = made.wanted({"lines": ENTRY}, EVERYTHING).values()
    made.restart("lines", 1)
    (after,) = made.wanted({"lines": ENTRY}, EVERYTHING).values()
    assert after.plan.task_digest(0) == before.plan.task_digest(0)
    assert after.plan.task_digest(1) != before.plan.task_digest(1)


def test_a_connector_that_is_not_installed_has_no_tasks() -> None:
    entry = replace(ENTRY, config={**CONFIG, "connector.class": "com.example.Gone"})
    assert plans().wanted({"lines": entry}, EVERYTHING) == {}


def test_secrets_of_tasks_are_stored_as_references() -> None:
    given = {"password": "${env:PASSWORD}", "url": "db://u:${env:PASSWORD}@host", "topic": "t"}
    resolved = {"password": "hush", "url": "db://u:hush@host", "topic": "t"}
    task = {"password": "hush", "url": "db://u:hush@host", "query": "as hush", "topic": "t"}
    assert with_references(task, given, resolved) == {
        "password": "${env:PASSWORD}",
        "url": "db://u:${env:PASSWORD}@host",
        "query": "as ${env:PASSWORD}",
        "topic": "t",
    }
