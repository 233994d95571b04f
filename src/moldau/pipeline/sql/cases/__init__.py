"""Runs files of cases: statements, inserts and asserts, in memory, without Spark, broker or clock.

`case_file` reads the directives, `local_run` runs the topology of one query, `world` executes what the engine decides
over `topics` in memory, `assertions` and `comparison` compare and print the difference, `runner` puts them together.
Imported by `moldau sql test` and by the tests. Start reading at `runner.py`.
"""

from moldau.pipeline.sql.cases.runner import CaseResult, run_file, run_text

__all__ = ["CaseResult", "run_file", "run_text"]
