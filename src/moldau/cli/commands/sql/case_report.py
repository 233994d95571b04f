"""Results of test cases for programs: JSON, and XML as JUnit writes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from moldau.pipeline.sql.cases import CaseResult


@dataclass(frozen=True)
class FileRun:
    """The cases of one file."""

    file: str
    results: Sequence[CaseResult]
    seconds: float


def results_document(runs: Sequence[FileRun]) -> dict[str, Any]:
    cases = [
        {
            "file": result.file,
            "line": result.line,
            "name": result.name,
            "passed": result.passed,
            "problem": result.problem,
        }
        for run in runs
        for result in run.results
    ]
    failed = sum(not case["passed"] for case in cases)
    return {"passed": len(cases) - failed, "failed": failed, "cases": cases}


def junit_xml(runs: Sequence[FileRun]) -> str:
    """A suite for each file."""
    root = ElementTree.Element("testsuites", {"name": "moldau sql test", **_counts(runs)})
    for run in runs:
        suite = ElementTree.SubElement(root, "testsuite", {"name": run.file, **_counts([run])})
        for result in run.results:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                name=_printable(result.name),
                classname=run.file,
                file=result.file,
                line=str(result.line),
            )
            if result.problem is not None:
                first = result.problem.splitlines()[0]
                failure = ElementTree.SubElement(case, "failure", message=_printable(first))
                failure.text = _printable(result.problem)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _counts(runs: Sequence[FileRun]) -> dict[str, str]:
    results = [result for run in runs for result in run.results]
    return {
        "tests": str(len(results)),
        "failures": str(sum(not result.passed for result in results)),
        "time": f"{sum(run.seconds for run in runs):.3f}",
    }


def _printable(text: str) -> str:
    """Without the control characters, which XML cannot carry."""
    return "".join(character if character >= " " or character in "\t\n" else "?" for character in text)
