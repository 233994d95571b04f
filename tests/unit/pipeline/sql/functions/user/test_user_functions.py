"""Scalar and table functions of the user in expressions."""

import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from user_files import evaluated, library_with

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.functions.declaration import Aggregate, Scalar, TableFunction
from moldau.pipeline.sql.functions.user import FunctionFailed
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import BIGINT, DATE, STRING


def test_hints_defaults_and_documentation(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        '''
        @udf(author="Jana", examples=("SHOUT('a') => 'A!'",))
        def shout(text: str, times: int = 1) -> str:
            """Says it
            louder.

            More."""
            return text.upper() + "!" * times
        ''',
    )
    shout = library.find("shout")
    assert isinstance(shout, Scalar)
    assert (shout.doc, shout.author) == ("Says it louder.", "Jana")
    assert shout.path == f"{tmp_path / 'mine.py'}, line 3"
    assert [len(form.parameters) for form in shout.forms] == [1, 2]
    assert evaluated("SHOUT('a')", library) == (STRING, "A!")
    assert evaluated("SHOUT('a', 3)", library) == (STRING, "A!!!")
    assert evaluated("SHOUT(CAST(NULL AS STRING))", library) == (STRING, None)


def test_variables_variadic_arguments_lambdas_and_times(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        """
        from collections.abc import Callable
        from datetime import date, timedelta
        from typing import TypeVar

        T = TypeVar("T")

        @udf
        def first_of(one: T, other: T) -> T:
            return one

        @udf
        def total(*values: float) -> float:
            return sum(values)

        @udf
        def each(values: list[int], f: Callable[[int], int]) -> list[int]:
            return [f(value) for value in values]

        @udf
        def tomorrow(day: date) -> date:
            return day + timedelta(days=1)

        @udf
        def or_zero(value: int | None) -> int:
            return value or 0
        """,
    )
    assert evaluated("FIRST_OF('a', 'b')", library) == (STRING, "a")
    assert evaluated("FIRST_OF(CAST('1970-01-03' AS DATE), NULL)", library) == (DATE, None)
    assert evaluated("TOTAL(1, 2, 0.5E0)", library)[1] == 3.5
    assert evaluated("EACH(ARRAY[1, 2], x => x * 2)", library)[1] == [2, 4]
    assert evaluated("TOMORROW(CAST('1970-01-03' AS DATE))", library) == (DATE, 3)
    assert evaluated("OR_ZERO(CAST(NULL AS BIGINT))", library) == (BIGINT, 0)


def test_several_functions_of_one_name_are_its_forms(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        """
        @udf(name="TWICE")
        def twice_number(value: int) -> int:
            return 2 * value

        @udf(name="twice", types={"value": "STRING"}, returns="STRING")
        def twice_text(value):
            return 2 * value
        """,
    )
    assert evaluated("TWICE(4)", library) == (BIGINT, 8)
    assert evaluated("TWICE('a')", library) == (STRING, "aa")
    with pytest.raises(SqlError, match="TWICE does not take"):
        evaluated("TWICE(TRUE)", library)


def test_functions_of_columns(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        """
        from typing import Annotated
        import pandas as pd
        import pyarrow as pa
        import pyarrow.compute as pc

        CALLS = []

        @udf
        def plus_one(values: Annotated[pd.Series, "DOUBLE"]) -> Annotated[pd.Series, "DOUBLE"]:
            CALLS.append(len(values))
            return values + 1

        @udf
        def joined(one: pa.StringArray, other: pa.StringArray) -> pa.StringArray:
            return pc.binary_join_element_wise(one, other, "-")
        """,
    )
    assert evaluated("PLUS_ONE(1)", library)[1] == 2.0
    assert evaluated("JOINED('a', 'b')", library)[1] == "a-b"
    plus_one = library.find("PLUS_ONE")
    assert isinstance(plus_one, Scalar)
    meaning = plus_one.forms[0].meaning
    assert meaning is not None
    assert meaning.of_batch([(1.0,), (None,), (3.0,)]) == [2.0, None, 4.0]
    assert sys.modules[meaning.__reduce__()[1][0]].CALLS == [1, 2]


def test_a_failure_is_null_or_a_dead_letter(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        """
        @udf
        def soft(value: int) -> int:
            raise RuntimeError("no luck")

        @udf(on_error="dead_letter")
        def hard(value: int) -> int:
            return {}[value]

        @udf
        def wrong_type(value: int) -> str:
            return value

        @udf
        def leaves(value: int) -> int:
            raise SystemExit(3)
        """,
    )
    with pytest.raises(ValueError, match=r"SOFT: RuntimeError: no luck \(.*mine.py, line 5\)"):
        evaluated("SOFT(1)", library)
    with pytest.raises(FunctionFailed, match=r"HARD: KeyError: 1 \(.*mine.py, line 9\)"):
        evaluated("HARD(1)", library)
    with pytest.raises(ValueError, match=r"returned 1 \(int\), which is not STRING"):
        evaluated("WRONG_TYPE(1)", library)
    with pytest.raises(ValueError, match="SystemExit: 3"):
        evaluated("LEAVES(1)", library)


ENDLESS = """
    @udf(time_limit_ms=200)
    def forever(value: int) -> int:
        while True:
            try:
                value += 1
            except Exception:
                pass

    @udf(time_limit_ms=200)
    def quick(value: int) -> int:
        return value
    """


def test_a_function_that_does_not_return_is_interrupted_in_any_thread(tmp_path: Path) -> None:
    library = library_with(tmp_path, ENDLESS)
    found: list[str] = []

    def call() -> None:
        for name in ("FOREVER", "QUICK", "FOREVER"):
            try:
                found.append(str(evaluated(f"{name}(1)", library)[1]))
            except ValueError as failure:
                found.append(str(failure))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    call()
    thread.join(60)
    late = "FOREVER: has not returned within 200 ms"
    assert sorted(found) == sorted([late, "1", late] * 2)


def test_setup_is_done_once_in_a_process_and_again_for_another_text(tmp_path: Path) -> None:
    text = """
        LOADED = []

        def load_model():
            LOADED.append(1)
            return {"limit": 3.0}

        @udf(setup=load_model)
        def level(model, value: float) -> str:
            return ("high" if value > model["limit"] else "low") + str(len(LOADED))
        """
    library = library_with(tmp_path, text)
    level = library.find("LEVEL")
    assert isinstance(level, Scalar)
    meaning = level.forms[0].meaning
    assert meaning is not None
    again = pickle.loads(pickle.dumps(meaning))
    assert [meaning(1.0), again(5.0), evaluated("LEVEL(1)", library)[1]] == ["low1", "high1", "low1"]
    other = library_with(tmp_path, text.replace("3.0", "7.0"))
    assert [evaluated("LEVEL(5)", one)[1] for one in (library, other)] == ["high1", "low1"]


def test_a_failed_setup_is_not_repeated_for_every_record(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        """
        TRIED = []

        def load_model():
            TRIED.append(1)
            raise OSError(f"no model, try {len(TRIED)}")

        @udf(setup=load_model)
        def level(model, value: float) -> str:
            return ""
        """,
    )
    for _ in range(2):
        with pytest.raises(ValueError, match="its setup failed: OSError: no model, try 1"):
            evaluated("LEVEL(1)", library)


def test_a_function_travels_with_its_file(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        """
        @udf
        def shout(text: str) -> str:
            return text.upper() + "!"
        """,
    )
    shout = library.find("SHOUT")
    assert isinstance(shout, Scalar)
    sent = tmp_path / "sent"
    sent.write_bytes(pickle.dumps(shout.forms[0].meaning))
    (tmp_path / "mine.py").unlink()
    code = f"import pickle; print(pickle.load(open({str(sent)!r}, 'rb'))('hallo'))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert found.stdout == "HALLO!\n", found.stderr


def test_table_functions(tmp_path: Path) -> None:
    library = library_with(
        tmp_path,
        """
        from collections.abc import Iterator

        @udtf
        def words(text: str) -> Iterator[str]:
            yield from text.split()
        """,
    )
    words = library.find("WORDS")
    assert isinstance(words, TableFunction)
    assert words.forms[0].meaning is not None
    assert words.forms[0].meaning("a b") == ["a", "b"]
    assert words.forms[0].meaning(None) is None


AGGREGATES = '''
    @udaf
    class GeometricMean:
        """The n-th root of the product."""

        def initial(self):
            return [1.0, 0]

        def add(self, state, value: float):
            if value < 0:
                raise ValueError("negative")
            state[0] *= value
            state[1] += 1
            return state

        def merge(self, one, other):
            return [one[0] * other[0], one[1] + other[1]]

        def result(self, state) -> float:
            return state[0] ** (1 / state[1]) if state[1] else None

    @udaf(name="LAST_N", on_error="dead_letter")
    class LastValues:
        def __init__(self, count: int):
            self.count = count

        def initial(self):
            return []

        def add(self, state, value: str):
            return [*state, value.strip()][-self.count :]

        def remove(self, state, value: str):
            return [one for one in state if one != value]

        def result(self, state) -> list[str]:
            return state
    '''


def test_aggregates(tmp_path: Path) -> None:
    library = library_with(tmp_path, AGGREGATES)
    mean, last = library.find("GEOMETRIC_MEAN"), library.find("LAST_N")
    assert isinstance(mean, Aggregate) and isinstance(last, Aggregate)
    assert mean.doc == "The n-th root of the product."
    folding = mean.forms[0].bind([], [None])
    before = folding.initial()
    state = folding.add(folding.add(before, 2.0), 8.0)
    assert before == [1.0, 0]
    assert folding.add(state, None) == state
    assert folding.add(state, -1.0) == state
    assert folding.result(state) == 4.0
    assert folding.merge(state, state) == [256.0, 4]
    assert folding.remove is None
    form = last.forms[0]
    assert form.constants_from == -1
    folding = pickle.loads(pickle.dumps(form.bind([STRING, BIGINT], [None, 2])))
    state = folding.initial()
    for value in ("a", "b", "c"):
        state = folding.add(state, value)
    assert folding.result(state) == ["b", "c"]
    assert folding.remove(state, "b") == ["c"]
    with pytest.raises(FunctionFailed, match="LAST_N"):
        folding.add(state, 3)
    with pytest.raises(FunctionFailed, match="no method merge, which session windows need"):
        folding.merge(state, state)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@udf\ndef f(x) -> int: ...", "line 2: f: parameter x has no type hint"),
        ("@udf\ndef f(x: object) -> int: ...", "parameter x: object is no type that SQL knows"),
        ("@udf\ndef f(x: int): ...", "the type of the result is missing"),
        ("@udf\ndef f(*, x: int) -> int: ...", "SQL gives arguments by place"),
        ("@udf(types={'y': 'INT'})\ndef f(x: int) -> int: ...", "types names y"),
        ("@udtf\ndef f(x: int) -> int: ...", "a table function gives list"),
        ("@udf\nclass F: ...", "udaf is for classes"),
        ("@udaf\ndef f(x: int) -> int: ...", "udf is for functions"),
        ("@udaf\nclass F:\n    def initial(self): ...", "the method add is missing"),
        ("@udf(name='a-b')\ndef f(x: int) -> int: ...", "cannot be the name"),
        ("@udf\ndef abs(x: int) -> int: ...", "ABS is a built-in function"),
        (
            "@udf\ndef f(x: int) -> int: ...\n@udf(name='F')\ndef g(x: int) -> int: ...",
            "F is declared at",
        ),
    ],
)
def test_wrong_declarations_name_the_file_and_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as failure:
        library_with(tmp_path, text)
    assert message in str(failure.value)
    assert str(tmp_path / "mine.py") in str(failure.value)
