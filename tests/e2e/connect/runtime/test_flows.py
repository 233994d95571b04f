"""Connectors on real Spark: records flow, tasks are paused, started again, and go on where they were."""

from pathlib import Path

from confluent_kafka import Producer

from e2e.connect.runtime.driver_kit import (
    TEXTS,
    Driver,
    Reader,
    eventually,
    file_sink,
    file_source,
    plan_of,
)

DATAGEN = "moldau.pipeline.connect.connectors.datagen.source:DatagenSourceConnector"
NUMBERS = "trial_connectors:NumbersSource"
PICKY = "trial_connectors:PickySink"


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def test_lines_go_from_file_to_topic_to_file(
    driver: Driver, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    source_file, sink_file = tmp_path / "test.txt", tmp_path / "test.sink.txt"
    source_file.write_text("test 1\ntest 2\n")
    source = file_source(servers, f"{name}-source", source_file, name)
    sink = file_sink(servers, f"{name}-sink", sink_file, name)
    driver.add(source)
    driver.add(sink)
    assert [one.value() for one in reader.wait(2)] == [b"test 1", b"test 2"]
    eventually(lambda: lines_of(sink_file) == ["test 1", "test 2"], "the sink has both lines")
    with source_file.open("a") as out:
        out.write("Another line\n")
    eventually(lambda: lines_of(sink_file)[2:] == ["Another line"], "the sink has the third line")
    eventually(lambda: driver.task(sink)["lag"] == 0, "the sink says that it has read everything")
    eventually(lambda: driver.task(source)["written"] == 3, "the source says what it has written")
    eventually(
        lambda: driver.task(source)["topics"] == driver.task(sink)["topics"] == [name],
        "both say which topics they use",
    )
    assert driver.status(source)["state"] == "running"
    driver.remove(source)
    driver.remove(sink)
    assert driver.status(source)["state"] == "removed"


def test_datagen_with_two_tasks(driver: Driver, servers: str, name: str, reader: Reader) -> None:
    config = {"kafka.topic": name, "quickstart": "users", "max.interval": "1", "iterations": "50"}
    config["value.converter"] = "JsonConverter"
    # Without numbers of their own both would be the same partition of the source: the second one goes on where the
    # first one ends, and has nothing to make.
    tasks = {number: {"name": name, **TEXTS, **config, "task.id": str(number)} for number in range(2)}
    plan = plan_of(servers, name, "source", DATAGEN, config, task_configs=tasks)
    driver.add(plan)
    eventually(lambda: all(driver.task(plan, task)["written"] == 50 for task in (0, 1)), "each made its 50")
    found = reader.wait(100)
    assert len({one.key() for one in found}) > 1
    driver.remove(plan)


def test_pause_resume_and_stop(
    driver: Driver, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_text("one\n")
    plan = file_source(servers, name, file, name)
    driver.add(plan)
    reader.wait(1)
    driver.client.act(plan.application_id, "pause")
    driver.wait_task(plan, "PAUSED")
    assert driver.status(plan)["state"] == "paused"
    with file.open("a") as out:
        out.write("two\n")
    driver.client.act(plan.application_id, "resume")
    assert [one.value() for one in reader.wait(2)] == [b"one", b"two"]
    driver.client.act(plan.application_id, "stop")
    assert driver.status(plan)["state"] == "stopped"
    assert driver.task(plan)["state"] == "STOPPED"
    with file.open("a") as out:
        out.write("three\n")
    driver.client.act(plan.application_id, "start")
    assert [one.value() for one in reader.wait(3)] == [b"one", b"two", b"three"]
    driver.remove(plan)


def test_a_restart_goes_on_at_the_stored_offset(
    driver: Driver, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_text("".join(f"{number}\n" for number in range(1000)))
    driver.add(file_source(servers, name, file, name))
    reader.wait(1000)
    again = file_source(servers, name, file, name, task_generations={0: 1})
    driver.reload(again)
    eventually(lambda: driver.task(again)["task_generation"] == 1, "the task has been started again")
    driver.wait_task(again, "RUNNING")
    with file.open("a") as out:
        out.write("1000\n")
    found = reader.wait(1001)
    assert [one.value() for one in found] == [b"%d" % number for number in range(1001)]
    driver.remove(again)


def test_a_failed_task_starts_again_and_its_neighbour_is_left_alone(
    driver: Driver, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    secrets, obstacle, file = tmp_path / "secrets.properties", tmp_path / "obstacle", tmp_path / "lines"
    secrets.write_text("password=Vltava-1874\n")
    obstacle.touch()
    file.write_text("before\n")
    neighbour = file_source(servers, f"{name}-neighbour", file, f"{name}-neighbours")
    failing = plan_of(
        servers,
        name,
        "source",
        NUMBERS,
        {"topic": name, "obstacle": str(obstacle), "login.password": f"${{file:{secrets}:password}}"},
        providers={
            "config.providers": "file",
            "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        },
    )
    driver.add(neighbour)
    driver.wait_task(neighbour, "RUNNING")
    driver.add(failing)
    driver.wait_task(failing, "FAILED")
    eventually(lambda: driver.task(failing)["restarts"] >= 2, "it was started again twice")
    told = driver.task(failing)
    assert told["error"] == "ConnectError: cannot log in with the password [hidden]"
    assert "trial_connectors.py" in told["trace"]
    assert "Vltava" not in told["trace"]
    beside = Reader(servers, f"{name}-neighbours")
    with file.open("a") as out:
        out.write("meanwhile\n")
    assert [one.value() for one in beside.wait(2)] == [b"before", b"meanwhile"]
    beside.close()
    assert driver.task(neighbour)["restarts"] == 0
    obstacle.unlink()
    driver.wait_task(failing, "RUNNING")
    assert [one.value() for one in reader.wait(100)] == [b"%d" % number for number in range(100)]
    driver.remove(failing)
    driver.remove(neighbour)


def test_a_target_that_is_down_is_waited_for(
    driver: Driver, servers: str, name: str, producer: Producer, tmp_path: Path
) -> None:
    obstacle, file = tmp_path / "obstacle", tmp_path / "lines"
    obstacle.touch()
    config = {"topics": name, "obstacle": str(obstacle), "file": str(file)}
    plan = plan_of(servers, name, "sink", PICKY, config)
    for number in range(20):
        producer.produce(name, f"{number}")
    producer.flush()
    driver.add(plan)
    eventually(lambda: driver.task(plan).get("retrying") == "put: the target is down", "it says why it waits")
    assert driver.task(plan)["state"] == "RUNNING"
    obstacle.unlink()
    eventually(lambda: len(lines_of(file)) >= 20, "the target has the records")
    assert lines_of(file) == [f"{number}" for number in range(20)]
    eventually(lambda: driver.task(plan)["retrying"] is None, "it no longer waits")
    driver.remove(plan)
