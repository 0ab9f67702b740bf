"""One CSV file for each table."""

import csv

from tests.literal import trace_of
from tests.unit.reports.test_json_report import one_launch
from tracetui.reports.csv_report import write_csv_files
from tracetui.reports.report import TraceReport


def _read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_tables_with_rows_become_files(tmp_path):
    folder = tmp_path / "new" / "folder"
    written = write_csv_files(TraceReport(one_launch()), folder)

    assert {path.stem for path in written} == {
        "devices",
        "streams",
        "operators",
        "annotations",
        "runtime_calls",
        "memops",
        "kernels",
        "idle",
        "idle_holders",
        "bound",
        "critical_path",
        "critical_path_slices",
    }
    assert set(folder.iterdir()) == set(written)


def test_times_are_exact_and_not_measured_is_empty(tmp_path):
    write_csv_files(TraceReport(one_launch()), tmp_path)
    [row] = _read(tmp_path / "operators.csv")

    assert (row["name"], row["total_us"], row["self_us"]) == ("aten::mm", "5.000", "4.000")
    assert row["flop"] == ""


def test_streams_name_their_device(tmp_path):
    write_csv_files(TraceReport(one_launch()), tmp_path)
    [row] = _read(tmp_path / "streams.csv")

    assert (row["device"], row["stream"], row["busy_us"]) == ("0", "7", "5.000")


def test_name_cannot_be_a_formula(tmp_path):
    write_csv_files(TraceReport(trace_of(('=HYPERLINK("x")', 0, 5))), tmp_path)

    assert _read(tmp_path / "operators.csv")[0]["name"] == '\'=HYPERLINK("x")'


def test_what_a_kernels_name_says_has_columns_of_its_own(tmp_path):
    write_csv_files(TraceReport(one_launch()), tmp_path)
    gemm = _read(tmp_path / "kernels.csv")[0]

    assert gemm["name"] == "ampere_sgemm_128x64_tn"
    assert (gemm["decoded_dtype_in"], gemm["decoded_tile"]) == ("fp32", "128x64")
    assert gemm["decoded_stages"] == ""
