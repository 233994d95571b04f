"""`moldau zookeeper shell`: reads and changes the tree of any ZooKeeper, with the commands of ZooKeeper's own shell."""

import logging
import shlex
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from moldau.cli.failures import Failure
from moldau.cli.options import timeout_option

DEFAULT_PORT = 2181
CONNECT_S = 5.0
PROMPT = "zk> "
USAGE = """\
ls [-R] PATH          the children of a node; -R: the whole subtree
get [-s] PATH         the data of a node; -s: with versions and times
stat PATH             versions and times of a node
create [-e] PATH [DATA]   -e: ephemeral, deleted when this shell ends
set PATH DATA
delete PATH           a node without children
deleteall PATH        a node with its subtree
help, quit"""


class Misused(Exception):
    """A line that is not a valid command."""


class ZooKeeperShell:
    """Runs commands in one session and returns the text to print."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._commands: dict[str, tuple[Callable[..., str], str, int, int]] = {
            # Name: function, flag, minimum and maximum number of arguments.
            "ls": (self._list, "-R", 1, 1),
            "get": (self._get, "-s", 1, 1),
            "stat": (self._stat, "", 1, 1),
            "create": (self._create, "-e", 1, 2),
            "set": (self._set, "", 2, 2),
            "delete": (self._delete, "", 1, 1),
            "deleteall": (self._delete_all, "", 1, 1),
            "help": (lambda: USAGE, "", 0, 0),
        }

    def run(self, words: Sequence[str]) -> str:
        """Raises Failure if ZooKeeper rejects the command, Misused if it is malformed."""
        name, *rest = words
        if name not in self._commands:
            raise Misused(f"'{name}' is not a command; `help` lists them")
        command, flag, least, most = self._commands[name]
        with_flag = bool(flag) and flag in rest
        rest = [word for word in rest if word != flag or not flag]
        if not least <= len(rest) <= most or any(not word.startswith("/") for word in rest[:1]):
            line = next(line for line in USAGE.splitlines() if line.split()[0].rstrip(",") == name)
            raise Misused(f"usage: {' '.join(line.split('  ')[0].split())}, and a PATH begins with '/'")
        with _told(f"{name} {rest[0] if rest else ''}".strip()):
            return command(*rest, with_flag) if flag else command(*rest)

    def _list(self, path: str, below: bool) -> str:
        if not below:
            return f"[{', '.join(sorted(self._client.get_children(path)))}]"
        return "\n".join(self._walk(path))

    def _walk(self, path: str) -> Iterator[str]:
        yield path
        for child in sorted(self._client.get_children(path)):
            yield from self._walk(f"{path.rstrip('/')}/{child}")

    def _get(self, path: str, with_stat: bool) -> str:
        data, stat = self._client.get(path)
        text = data.decode(errors="backslashreplace") if data else "null"
        return f"{text}\n{_stat_text(stat)}" if with_stat else text

    def _stat(self, path: str) -> str:
        from kazoo.exceptions import NoNodeError

        stat = self._client.exists(path)
        if stat is None:
            raise NoNodeError
        return _stat_text(stat)

    def _create(self, path: str, *rest: Any) -> str:
        *data, ephemeral = rest
        made = self._client.create(path, data[0].encode() if data else b"", ephemeral=ephemeral)
        return f"Created {made}"

    def _set(self, path: str, data: str) -> str:
        self._client.set(path, data.encode())
        return ""

    def _delete(self, path: str) -> str:
        self._client.delete(path)
        return ""

    def _delete_all(self, path: str) -> str:
        self._client.delete(path, recursive=True)
        return ""


def _stat_text(stat: Any) -> str:
    return "\n".join(
        [
            f"cZxid = {stat.czxid:#x}",
            f"ctime = {_time(stat.ctime)}",
            f"mZxid = {stat.mzxid:#x}",
            f"mtime = {_time(stat.mtime)}",
            f"cversion = {stat.cversion}",
            f"dataVersion = {stat.version}",
            f"ephemeralOwner = {stat.ephemeralOwner:#x}",
            f"dataLength = {stat.dataLength}",
            f"numChildren = {stat.numChildren}",
        ]
    )


def _time(milliseconds: int) -> str:
    from moldau.cli.render.output import iso_time

    return iso_time(milliseconds)


@contextmanager
def _told(what: str) -> Iterator[None]:
    from kazoo import exceptions as zk

    reasons = {
        zk.NoNodeError: ("there is no such node", "`ls /` shows the existing nodes."),
        zk.NodeExistsError: ("the node exists already", "`set` changes its data."),
        zk.NotEmptyError: ("the node has children", "`deleteall` deletes them too."),
        zk.NoAuthError: ("access denied", "The ACL of the node does not allow it."),
        zk.NoChildrenForEphemeralsError: ("ephemeral nodes cannot have children", None),
    }
    try:
        yield
    except zk.KazooException as error:
        reason, hint = reasons.get(type(error), (type(error).__name__, None))
        raise Failure(f"cannot {what}: {reason}.", hint) from error


@click.command("shell", context_settings={"ignore_unknown_options": True})
@click.argument("server", metavar="HOST:PORT[/CHROOT]", default=f"localhost:{DEFAULT_PORT}")
@click.argument("words", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
@timeout_option(10)
def shell(server: str, words: Sequence[str], timeout_s: float) -> None:
    """Run commands in a ZooKeeper. Reads them from standard input if COMMAND is not given.

    Commands: ls, get, stat, create, set, delete, deleteall.

    \b
    moldau zookeeper shell localhost:2181 ls /brokers/topics
    moldau zookeeper shell localhost:2181 get /controller
    """
    with _session(server, timeout_s) as client:
        runner = ZooKeeperShell(client)
        if words:
            _print(_checked(runner, words))
            return
        _converse(runner, server)


def _checked(runner: ZooKeeperShell, words: Sequence[str]) -> str:
    try:
        return runner.run(words)
    except Misused as error:
        raise click.UsageError(f"{shlex.join(words)}: {error}.") from error


def _converse(runner: ZooKeeperShell, server: str) -> None:
    """Errors end a script, but not an interactive session."""
    is_person = sys.stdin.isatty()
    if is_person:
        click.echo(f"Connected to {server}. `help` lists the commands, Ctrl-D ends.", err=True)
    for line in _lines(is_person):
        try:
            words = shlex.split(line)
        except ValueError as error:
            words = [line, str(error)]
        if not words:
            continue
        if words[0] in ("quit", "exit"):
            return
        try:
            _print(_checked(runner, words))
        except (click.ClickException, Failure) as failure:
            if not is_person:
                raise
            failure.show()


def _lines(is_person: bool) -> Iterator[str]:
    while True:
        if is_person:
            click.echo(PROMPT, nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield line


def _print(text: str) -> None:
    if text:
        click.echo(text)


@contextmanager
def _session(server: str, timeout_s: float) -> Iterator[Any]:
    from kazoo.client import KazooClient
    from kazoo.handlers.threading import KazooTimeoutError

    hosts, slash, chroot = server.partition("/")
    hosts = ",".join(host if ":" in host else f"{host}:{DEFAULT_PORT}" for host in hosts.split(","))
    _require_listener(hosts)
    logger = logging.getLogger("moldau.cli.zookeeper")
    logger.setLevel(logging.CRITICAL)
    client = KazooClient(hosts=hosts + slash + chroot, timeout=timeout_s, logger=logger)
    try:
        client.start(timeout_s)
        yield client
    except KazooTimeoutError as error:
        raise Failure(
            f"no ZooKeeper answered at {hosts} within {timeout_s:g} s.",
            "Is it a ZooKeeper whose ensemble has a quorum? --timeout SECONDS waits longer.",
        ) from error
    finally:
        client.stop()
        client.close()


def _require_listener(hosts: str) -> None:
    """Fails at once with the reason if nothing listens. kazoo would retry until its timeout."""
    refusals = []
    for each in hosts.split(","):
        host, _, port = each.rpartition(":")
        if not port.isdecimal():
            raise click.UsageError(f"'{each}' is not an address of a ZooKeeper: use HOST:PORT.")
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
        except OSError as error:
            refusals.append(f"{each} ({(error.strerror or str(error)).lower()})")
        else:
            return
    raise Failure(
        f"no ZooKeeper answers at {' or '.join(refusals)}.",
        "Use the address in zookeeper.connect of the brokers, or start one with `moldau zookeeper`.",
    )
