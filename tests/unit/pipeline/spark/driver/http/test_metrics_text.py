"""Prometheus' text format of statuses."""

import re
from dataclasses import asdict
from typing import Any

from moldau.pipeline.lifecycle import PipelineMetrics, PipelineState
from moldau.pipeline.spark.driver.http.metrics_text import metrics_text

SAMPLE = re.compile(r'moldau_streams_[a-z_]+\{[a-z]+="(\\.|[^"\\])*"(,[a-z]+="(\\.|[^"\\])*")*\} -?[0-9.e+]+')


def status(name: str, **what: Any) -> dict[str, Any]:
    return {"application_id": name, **asdict(PipelineMetrics(**what))}


def test_each_application_has_its_samples() -> None:
    busy = status(
        "shop",
        state=PipelineState.RUNNING,
        records_in=7,
        records_out=5,
        records_dead=1,
        lag_records=3,
        restarts=2,
        counting_since_ms=1_700_000_000_500,
        dropped={"window-count null key": {"records": 4, "late_ms_max": 0}},
        worker_ms={"read": 12},
    )
    lines = metrics_text([busy, {**status("till"), "lag_records": None, "lag_ms": None}]).splitlines()
    assert 'moldau_streams_records_in_total{application="shop"} 7' in lines
    assert 'moldau_streams_records_dead_total{application="shop"} 1' in lines
    assert (
        'moldau_streams_records_dropped_total{application="shop",operator="window-count",reason="null key"} 4'
        in lines
    )
    assert 'moldau_streams_phase_ms{application="shop",phase="read"} 12' in lines
    assert 'moldau_streams_state{application="shop",state="running"} 1' in lines
    assert 'moldau_streams_state{application="shop",state="failed"} 0' in lines
    assert 'moldau_streams_restarts_total{application="shop"} 2' in lines
    assert 'moldau_streams_counting_since_seconds{application="shop"} 1700000000.5' in lines
    # What is not known is not a number.
    assert 'moldau_streams_lag_records{application="shop"} 3' in lines
    assert not [line for line in lines if line.startswith('moldau_streams_lag_records{application="till"')]


def test_every_line_is_in_the_format() -> None:
    text = metrics_text([status('odd"name\\', dropped={"a late": {"records": 1, "late_ms_max": 9}})])
    assert text.endswith("\n")
    families = []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            families.append(line.split()[2])
        elif not line.startswith("# HELP "):
            assert SAMPLE.fullmatch(line), line
            assert line.partition("{")[0] == families[-1]
    assert len(families) == len(set(families))
    assert r'application="odd\"name\\"' in text
