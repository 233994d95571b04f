"""The shell on a terminal: editing over several lines, history, completion and colours. Needs prompt_toolkit."""

import os
import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from moldau import __version__
from moldau.cli.failures import Failure
from moldau.cli.sql_shell.commands import Leave, is_command
from moldau.cli.sql_shell.keywords import KEYWORDS, TYPES
from moldau.cli.sql_shell.server_names import ServerNames, names_of
from moldau.cli.sql_shell.session import Session
from moldau.cli.sql_shell.statements import changes_names, split
from moldau.cli.sql_shell.suggestions import suggest

PROMPT: Final = "sql> "
CONTINUED: Final = "   > "
FILE_MODE: Final = 0o600
HISTORY_VARIABLE: Final = "MOLDAU_SQL_HISTORY"


class SqlLexer(RegexLexer):  # type: ignore[misc]
    """Colours of SQL."""

    flags = re.IGNORECASE
    tokens = {
        "root": [
            (r"\s+", Text),
            (r"--[^\n]*", Comment),
            (r"/\*(?:[^*]|\*(?!/))*(?:\*/)?", Comment),
            (r"'(?:[^']|'')*'?", String),
            (r"`[^`]*`?", Name),
            (r"\$\{[^}\n]*\}", Name.Variable),
            (r"\d+(?:\.\d+)?(?:e[+-]?\d+)?\b", Number),
            (words(TYPES, suffix=r"\b"), Keyword.Type),
            (words(KEYWORDS, suffix=r"\b"), Keyword),
            (r"\w+(?=\s*\()", Name.Function),
            (r"\w+", Name),
            (r".", Punctuation),
        ]
    }


class NamesOfServer:
    """The names for completion, asked in the background: the prompt never waits for a server."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._thread: threading.Thread | None = None
        self.names = ServerNames()

    def refresh(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._ask, daemon=True)
            self._thread.start()

    def _ask(self) -> None:
        try:
            self.names = names_of(self._session.server)
        except click.ClickException:
            # The shell says so when a statement fails. Completion keeps the names it knows.
            return


class SqlCompleter(Completer):
    def __init__(self, names: NamesOfServer) -> None:
        self._names = names

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before, after = document.text_before_cursor, document.text_after_cursor
        word, found = suggest(before, after, self._names.names)
        begun = word.rpartition(".")[2]
        for each in found:
            yield Completion(each.text, start_position=-len(begun), display_meta=each.kind)


def history_path() -> Path:
    told = os.environ.get(HISTORY_VARIABLE)
    return Path(told) if told else Path(click.get_app_dir("moldau")) / "sql_history"


def converse(session: Session) -> None:
    """Until the user leaves. A failure ends a statement, and Ctrl-C a query or the line that is typed."""
    names = NamesOfServer(session)
    prompt = _prompt(SqlCompleter(names))
    session.history = lambda: _typed(prompt)
    _greet(session)
    names.refresh()
    while True:
        try:
            _run_next(prompt, session, names)
        except (EOFError, Leave):
            return
        except click.ClickException as failure:
            session.screen.show_failure(failure)
        except KeyboardInterrupt:
            continue


def _run_next(prompt: PromptSession[str], session: Session, names: NamesOfServer) -> None:
    text = prompt.prompt()
    session.screen.note_typed(text)
    try:
        for statement in _statements(text):
            session.run(statement)
            if changes_names(statement):
                names.refresh()
    except KeyboardInterrupt:
        session.screen.show_note("Ended.")


def _statements(text: str) -> Sequence[str]:
    return [text] if is_command(text) else split(text).complete


def _prompt(completer: Completer) -> PromptSession[str]:
    return PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=CONTINUED,
        lexer=PygmentsLexer(SqlLexer),
        completer=completer,
        complete_in_thread=False,
        complete_while_typing=False,
        history=_history_file(),
        key_bindings=_keys(),
        enable_history_search=True,
    )


def _history_file() -> FileHistory:
    path = history_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=FILE_MODE)
    except OSError as error:
        raise Failure(
            f"cannot keep the history in {path}: {error.strerror}.",
            f"Set {HISTORY_VARIABLE} to another file.",
        ) from error
    return FileHistory(str(path))


def _typed(prompt: PromptSession[str]) -> list[str]:
    return [" ".join(text.split()) for text in prompt.history.get_strings()]


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def enter(event: KeyPressEvent) -> None:
        """Runs what is complete; otherwise begins a line."""
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys


def is_complete(text: str) -> bool:
    """Whether a text can run: a command, or statements up to a semicolon."""
    if is_command(text):
        return True
    complete, rest, _ = split(text)
    return not rest and (bool(complete) or not text.strip())


def _greet(session: Session) -> None:
    click.echo(
        f"Moldau SQL {__version__}. A statement ends with a semicolon. `help` lists the commands, Ctrl-D ends."
    )
    try:
        info = session.server.info()
    except click.ClickException as failure:
        session.screen.show_failure(failure)
    else:
        click.echo(f"Connected to {session.server.url}, version {info.get('version')}.")
