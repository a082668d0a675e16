"""Static arrays are at home where `--placement` says, in `sdsm run` and in `sdsm simulate` alike."""

from __future__ import annotations

import subprocess

import pytest

from tests.traces import traced
from tests.validation.counted_runs import PLACEMENTS, both, counts, executed, total
from tests.validation.native_runs import ASKED, BUILD, output_of, thinned


@pytest.mark.parametrize(
    ("name", "placement", "threads"), thinned(2, ("arrays", "fields", "arrays_stripped"), ("as-asked", *PLACEMENTS), (2, 4))
)
def test_counts_of_static_arrays_are_equal(name, placement, threads):
    run, simulation = both(threads, ASKED / name, options=("--placement", placement))
    assert counts(run) == counts(simulation)


def test_placement_moves_static_arrays_from_process_0():
    as_asked, in_blocks = (
        executed(4, ASKED / "arrays", options=("--placement", placement)) for placement in ("as-asked", "block")
    )
    assert 3 * total(in_blocks, "messages") < total(as_asked, "messages")


def test_the_trace_names_static_arrays():
    info = output_of(BUILD / "sdsm-trace", "info", traced(2, ASKED / "arrays"))
    regions = [line.split() for line in info.splitlines() if "mapped" in line.split()]
    assert {"a", "b", "inner.0", "filled", "unaligned", "made", "odd"} <= {line[-1] for line in regions}
    assert sum("libarrays.so" in line[-1] for line in regions) == 2


def test_a_program_without_symbols_is_reported(tmp_path):
    for command in (
        ("sdsm-run", "-n", 2, "--placement", "block", "--"),
        ("sdsm-trace", "-n", 2, "-o", tmp_path / "t", "--"),
    ):
        name, *arguments = map(str, command)
        for program, is_reported in (("arrays_stripped", True), ("arrays", False)):
            ended = subprocess.run(
                [BUILD / name, *arguments, ASKED / program], text=True, capture_output=True, check=True
            )
            assert ("has no symbol table" in ended.stderr) == is_reported
