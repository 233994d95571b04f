"""The example of `transform` in the guide to DataFrames."""

import re
from pathlib import Path
from typing import Any

from e2e.spark_session import session_of_tests
from moldau.testing.topology_test_driver import TopologyTestDriver

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "dataframes.md"


def test_the_example_counts_risky_payments() -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## Inside a Streams application")[2]
    (code,) = re.findall(r"^```python\n(.+?)^```$", section, re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = {"__name__": "guide"}
    session = session_of_tests()
    exec(compile(code, str(GUIDE), "exec"), found)
    with TopologyTestDriver(found["builder"].build(), spark=session) as driver:
        payments = [("ann", 900, "EUR"), ("ann", 900, "USD"), ("bob", 2_000, "USD"), ("bob", 2_000, "XXX")]
        driver.pipe_all(
            "payments",
            [
                (user, {"user": user, "amount": amount, "currency": currency}, 1_000 + number)
                for number, (user, amount, currency) in enumerate(payments)
            ],
        )
        # 450 euros are no risk; a currency without a rate is none.
        assert driver.read("risky-payments") == [("ann", 1), ("bob", 1)]
