"""What services share: settings with the place of every mistake, the options of the start command, the listener."""

import http.client
import socket
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from starlette.responses import PlainTextResponse

from moldau.core.errors import ConfigError
from moldau.core.settings.key import integer, strings
from moldau.core.settings.view import SettingsView
from moldau.services.configuration import read_file, setting_texts
from moldau.services.http_server import HttpServer
from moldau.services.listening import Address, bound_socket, parse_listeners
from moldau.services.start_command import start_options, told


class Settings(SettingsView):
    KIND = "sample"
    listeners = strings("listeners", ("http://0.0.0.0:1234",), "Where it listens.")
    size = integer("size.max", 5, "How much.", at_least=1)


def texts(text: str = "", *overrides: str) -> dict[str, str]:
    return setting_texts(
        Settings,
        text,
        file="sample.properties",
        overrides=overrides,
        command="moldau sample",
        prefixes=("client.",),
        without_effect={"port"},
        renamed={"size.most": "size.max"},
    )


def test_later_settings_win_and_old_names_count() -> None:
    found = texts("size.max=1\nsize.most=2\nclient.x=y\nport=1", "size.max=3")
    assert found == {"size.max": "3", "client.x": "y", "port": "1"}


@pytest.mark.parametrize(
    ("text", "override", "words"),
    [
        ("\nsize.max=0", "", "sample.properties, line 2: Invalid value 0"),
        ("", "size.max=x", "--override size.max=x: Invalid value x"),
        ("size.mx=1", "", "line 1: unknown setting size.mx; did you mean size.max?"),
        ("", "size.max", "does not have the form key=value"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, override: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        texts(text, *([override] if override else []))
    assert words in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert read_file(None) == ""
    with pytest.raises(ConfigError, match="cannot read the configuration file"):
        read_file(str(tmp_path / "none"))
    (tmp_path / "latin").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_file(str(tmp_path / "latin"))


def test_the_options_of_a_start_command() -> None:
    @click.command
    @start_options(Settings, cluster="The cluster.", port=1234, config="A file.")
    def command(bootstrap_server: str, listen: str, config: str, overrides: list[str]) -> None:
        click.echo([*overrides, *told(bootstrap_servers=bootstrap_server, listeners=listen)])

    run = CliRunner().invoke
    done = run(command, ["-b", "k:1", "--override", "a=b", "--listen", "http://x:1"])
    assert done.output == "['a=b', 'bootstrap.servers=k:1', 'listeners=http://x:1']\n"
    assert "# How much.\n#size.max=5" in run(command, ["--list-settings"]).output


def test_addresses() -> None:
    assert parse_listeners(["localhost"], port_default=5) == Address("http", "localhost", 5)
    assert str(parse_listeners(["http://[::1]:7"], port_default=5)) == "http://[::1]:7"
    with pytest.raises(ConfigError, match="exactly one"):
        parse_listeners([], port_default=5)


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address("http", "127.0.0.1", taken.getsockname()[1])
        with pytest.raises(ConfigError, match=f"{address}.*Is a sample running already"):
            bound_socket(address, "sample")


def test_a_server_runs_its_hooks_and_refuses_endless_heads() -> None:
    happened: list[str] = []

    def hook(name: str):  # type: ignore[no-untyped-def]
        async def run() -> None:
            happened.append(name)

        return run

    server = HttpServer(
        PlainTextResponse("here"),
        bound_socket(Address("http", "127.0.0.1", 0), "sample"),
        on_start=hook("start"),
        before_shutdown=hook("shutdown"),
        on_stop=hook("stop"),
    )
    server.start_thread("sample")
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"here"
        connection.close()
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as rude:
            rude.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)
            assert rude.recv(100).startswith(b"HTTP/1.1 400")
    finally:
        server.stop_thread()
    assert happened == ["start", "shutdown", "stop"]
