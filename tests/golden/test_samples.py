"""The bundled samples against the last accepted values: a change is a change of what tracetui claims.

``make golden`` writes the values anew; nobody edits them by hand.
"""

import os
import shutil
from pathlib import Path

import pytest

from tracetui.readers import read_trace
from tracetui.reports.csv_report import write_csv_files
from tracetui.reports.report import TraceReport

ACCEPTED = Path(__file__).parent / "samples"
SAMPLES = sorted((Path(__file__).resolve().parents[2] / "sample_traces").glob("*.json.gz"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_sample_has_its_accepted_values(sample: Path, tmp_path: Path):
    accepted = ACCEPTED / sample.name.partition(".")[0]
    report = TraceReport(read_trace(sample, use_cache=False))
    found = {path.name: path.read_text() for path in write_csv_files(report, tmp_path)}
    if os.environ.get("UPDATE_GOLDEN"):
        shutil.rmtree(accepted, ignore_errors=True)
        write_csv_files(report, accepted)

    assert found == {path.name: path.read_text() for path in accepted.iterdir()}
