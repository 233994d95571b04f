"""`moldau zookeeper shell` at a real ZooKeeper."""

import socket
from collections.abc import Iterator

import pytest

from e2e.cli.shell import Shell
from zookeeper_kit import one_zookeeper


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with one_zookeeper(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server.address


def run(address: str, *words: str, code: int = 0) -> str:
    return Shell("").run("zookeeper", "shell", address, *words, code=code)


def test_nodes_are_made_read_changed_and_deleted(address: str) -> None:
    assert run(address, "create", "/shop", "open") == "Created /shop\n"
    assert run(address, "create", "/shop/till") == "Created /shop/till\n"
    assert run(address, "ls", "/") == "[shop, zookeeper]\n"
    assert run(address, "ls", "-R", "/shop") == "/shop\n/shop/till\n"
    assert run(address, "get", "/shop") == "open\n"
    assert run(address, "get", "/shop/till") == "null\n"
    assert run(address, "set", "/shop", "closed") == ""
    told = run(address, "get", "-s", "/shop").splitlines()
    assert told[0] == "closed" and "dataVersion = 1" in told and "numChildren = 1" in told
    assert "cannot delete /shop: the node has children." in run(address, "delete", "/shop", code=1)
    run(address, "deleteall", "/shop")
    assert "cannot get /shop: there is no such node." in run(address, "get", "/shop", code=1)
    assert "no such node" in run(address, "stat", "/shop", code=1)


def test_below_a_chroot(address: str) -> None:
    run(address, "create", "/under")
    run(f"{address}/under", "create", "/deep", "x")
    assert run(address, "get", "/under/deep") == "x\n"
    run(address, "deleteall", "/under")


def test_lines_of_the_standard_input(address: str) -> None:
    shell = Shell("")
    lines = "create /lines 'two words'\nget /lines\n\ndelete /lines\nquit\nget /never\n"
    assert shell.run("zookeeper", "shell", address, stdin=lines) == "Created /lines\ntwo words\n"
    assert "no such node" in shell.run("zookeeper", "shell", address, stdin="get /nothing\nls /\n", code=1)


def test_what_is_no_command(address: str) -> None:
    assert "'dir' is not a command; `help` lists them" in run(address, "dir", "/", code=2)
    assert "a PATH begins with '/'" in run(address, "ls", "brokers", code=2)
    assert "set PATH DATA" in run(address, "set", "/x", code=2)
    assert "deleteall PATH" in run(address, "help")


def test_nobody_at_the_address() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        assert f"no ZooKeeper answers at {address} (connection refused)" in run(address, "ls", "/", code=1)


def test_somebody_else_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        address = f"127.0.0.1:{stranger.getsockname()[1]}"
        error = run(address, "ls", "/", "--timeout", "1", code=1)
        assert f"no ZooKeeper answered at {address} within 1 s" in error
