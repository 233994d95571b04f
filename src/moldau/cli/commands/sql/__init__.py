"""`moldau sql`: a shell for ksqlDB's SQL, and the commands `server`, `test` and `migrate`.

Only `main.py` imports it. `moldau sql URL` is the shell: a first word that is no subcommand is the address of a
server. The options of the shell are in `shell_options.py`; the shell itself is `moldau.cli.sql_shell`.
"""

from typing import Any

import click

from moldau.cli.commands.sql.migrate import migrate
from moldau.cli.commands.sql.server import command as server
from moldau.cli.commands.sql.shell_options import open_shell, shell_options
from moldau.cli.commands.sql.test_cases import test_cases


class SqlGroup(click.Group):
    """A group whose first word may also be the address of a server, before or after the options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, rest, _ = self.make_parser(ctx).parse_args(list(args))
        if rest and rest[0] not in self.commands:
            before = len(args) - len(rest)
            if not _may_be_address(rest[0]):
                self.resolve_command(ctx, rest)  # fails, with a suggestion
            args = [*args[:before], "--url", rest[0], *rest[1:]]
            _, rest, _ = self.make_parser(ctx).parse_args(list(args))
            if rest:
                ctx.fail(f"Got unexpected extra argument ({rest[0]})")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS] [URL]", "|", "COMMAND [ARGS]..."]


def _may_be_address(word: str) -> bool:
    return any(character in word for character in ":/.") or word == "localhost"


@click.group("sql", cls=SqlGroup, invoke_without_command=True)
@shell_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int | None:
    """Open a SQL shell on the server at URL, or run a file of statements.

    URL is the address of a SQL server or of a ksqlDB server. Default: http://localhost:8088.

    \b
    moldau sql                                      a shell
    moldau sql http://sql.example:8088              a shell on another server
    moldau sql --execute "SHOW STREAMS;"            one answer
    moldau sql --file create.sql                    a file of statements
    """
    return open_shell(**options) if ctx.invoked_subcommand is None else None


command.add_command(server)
command.add_command(test_cases)
command.add_command(migrate)
