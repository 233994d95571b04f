"""How many examples a state machine is driven with: the same ones every time.

So a change is judged by what it changes. MOLDAU_EXAMPLES=1000 looks for new ones, where --hypothesis-seed says; a
failure found that way becomes a named test.
"""

import os

from hypothesis import settings

EXAMPLES = os.environ.get("MOLDAU_EXAMPLES")


def machine_settings(*, examples: int, steps: int) -> settings:
    return settings(
        max_examples=int(EXAMPLES or examples),
        stateful_step_count=steps,
        deadline=None,
        derandomize=EXAMPLES is None,
    )
