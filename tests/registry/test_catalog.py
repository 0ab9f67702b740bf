"""What every workload owes the rest; the cases are taken from the registry."""

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

from tracetui.capture.catalog import CATALOG, WorkloadEntry, workload_entry
from tracetui.capture.spec import file_part
from tracetui.errors import UsageError

each_entry = pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.name)


def test_names_are_unique():
    names = [entry.name for entry in CATALOG]

    assert len(set(names)) == len(names)


@each_entry
def test_variants_give_files_of_different_names(entry: WorkloadEntry):
    stems = [file_part(name) for name in entry.variant_names]

    assert len(set(stems)) == len(stems)
    assert all(variant.summary for variant in entry.variants)


@each_entry
def test_module_of_the_workload_builds_a_variant(entry: WorkloadEntry):
    spec = find_spec(entry.module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text())
    builds = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "build"
    ]

    assert [argument.arg for argument in builds[0].args.args] == ["variant", "setting"]


@each_entry
def test_defaults_are_values_that_may_be_set(entry: WorkloadEntry):
    for is_cpu in (True, False):
        point = entry.complete({}, is_cpu=is_cpu)
        assert entry.complete(point, is_cpu=is_cpu) == point
        assert point["dtype"] == ("fp32" if is_cpu else "bf16")


@each_entry
def test_cpu_is_given_no_more_than_an_accelerator(entry: WorkloadEntry):
    for parameter in entry.parameters:
        if isinstance(parameter.default, int):
            assert int(parameter.cpu_default) <= parameter.default


def test_names_may_be_written_with_underscores():
    assert workload_entry("matmul_add") is workload_entry("matmul-add")


def test_unknown_name_says_which_there_are():
    with pytest.raises(
        UsageError, match=r"no workload 'conv' .*matmul-add, linear, mlp, attention, block"
    ):
        workload_entry("conv")


@each_entry
def test_workload_is_in_the_readme_with_all_it_has(entry: WorkloadEntry):
    rows = (Path(__file__).resolve().parents[2] / "README.md").read_text().splitlines()
    (row,) = (row for row in rows if row.startswith(f"| `{entry.name}` |"))

    for name in (*entry.variant_names, *(parameter.name for parameter in entry.parameters)):
        assert f"`{name}`" in row
