"""The folder that all `moldau certs` commands work on, and their errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from moldau.cli.failures import Failure
from moldau.core.errors import ConfigError

CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])
DEFAULT: Final = Path("certs")


def folder_option(function: CommandFunction) -> CommandFunction:
    return click.option(
        "--folder",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT,
        show_default=True,
        help="The folder of the authority.",
    )(function)


def days_option(default: int) -> Callable[[CommandFunction], CommandFunction]:
    return click.option(
        "--days",
        type=click.IntRange(1, 36_500),
        default=default,
        show_default=True,
        help="How long it is valid.",
    )


@contextmanager
def told() -> Iterator[None]:
    """What is wrong with the folder or the arguments ends the command with a message."""
    try:
        yield
    except ConfigError as error:
        raise Failure(f"{error}.") from None
    except OSError as error:
        raise Failure(
            f"cannot write {error.filename}: {error.strerror}.", "Choose another --folder."
        ) from None
