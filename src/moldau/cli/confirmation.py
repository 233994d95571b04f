"""Asks for confirmation before something is deleted."""

import click

from moldau.cli.failures import Failure


def confirm(question: str, refusal: str) -> None:
    """Returns if the answer is yes. No answer, as in a script, means no."""
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort as abort:
        if isinstance(abort.__cause__, KeyboardInterrupt) or isinstance(abort.__context__, KeyboardInterrupt):
            raise
        agreed = False
    if not agreed:
        raise Failure(refusal, "Pass --yes to skip the question.")
