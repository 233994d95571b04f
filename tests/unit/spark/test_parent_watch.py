"""A process that watches its parent ends with it, whatever it is in the middle of."""

import subprocess
import sys
from pathlib import Path

from compat.server_process import wait_until

CHILD = """
import os, sys, threading
from moldau.pipeline.spark.parent_watch import end_with_parent
end_with_parent()
end_with_parent()
print(os.getpid(), sum(thread.name == "moldau-parent-watch" for thread in threading.enumerate()), flush=True)
threading.Event().wait()
"""
PARENT = """
import subprocess, sys
subprocess.run([sys.executable, "-c", sys.argv[1]])
"""


def test_it_ends_when_its_parent_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, CHILD], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child, watches = map(int, parent.stdout.readline().split())
        assert watches == 1
        parent.kill()
        wait_until(lambda: not Path(f"/proc/{child}").exists(), "the child has ended")
