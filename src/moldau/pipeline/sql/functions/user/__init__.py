"""Functions of the user, written in Python. Users import the decorators from here.

    from moldau.pipeline.sql.functions.user import udf

    @udf
    def anomaly(sensor_input: str) -> str: ...

`hints` makes types of SQL of type hints, `signatures` reads a function's parameters, `decorators` declares it, `calls`
and `aggregates` run it with its time limit and error mode, `loading` finds functions in files and packages. Not pure:
it reads files and watches the clock. Imported by the server, the driver of queries and the test runner. Start reading
at `decorators.py`.
"""

from moldau.pipeline.sql.functions.declaration import Category
from moldau.pipeline.sql.functions.user.calls import FunctionFailed
from moldau.pipeline.sql.functions.user.decorators import udaf, udf, udtf

__all__ = ["Category", "FunctionFailed", "udaf", "udf", "udtf"]
