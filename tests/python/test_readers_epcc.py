"""Is everything that an EPCC output says read, and what contradicts itself reported?"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import DATA, EPCC
from sdsm.readers import ReadError, Reading, epcc, read, read_text
from sdsm.readers.text import Text

SYNC_31 = (DATA / "epcc" / "v31.syncbench.gcc.2.out").read_text()
SYNC_40 = (DATA / "epcc" / "syncbench.gcc.2.out").read_text()
DESCRIBED = DATA / "described"


def reading_of(text: str) -> Reading:
    return read_text(Text("some.out", text))


def value(reading: Reading, quantity: str, statistic: str = "mean") -> float:
    (found,) = [m for m in reading.measurements if m.quantity == quantity and m.statistic == statistic]
    return found.values[0]


@pytest.mark.parametrize("path", EPCC, ids=lambda path: path.name)
def test_no_number_of_a_real_output_is_lost_or_made_up(path):
    """The text's numbers are counted without the reader: every decimal, and whole numbers by their words."""
    text = path.read_text()
    decimals = Counter(float(token) for token in re.findall(r"-?[0-9]+\.[0-9]+", text))
    whole = Counter(int(token) for token in re.findall(r"(?:using|delays =) ([0-9]+)", text))
    whole += Counter(int(token) for token in re.findall(r"([0-9]+) (?:thread|outer|delay length|iterations)", text))
    rows = [line.split() for line in text.splitlines() if re.match(r" [0-9]+ +[0-9]+\.", line)]
    whole += Counter(int(row[0]) for row in rows) + Counter(int(row[-1]) for row in rows)

    got, got_whole = Counter(), Counter()
    for run in epcc.runs(Text(path.name, text)):
        for setting in run.settings:
            is_decimal = isinstance(setting.value, float) or setting.name == "version"
            (got if is_decimal else got_whole)[float(setting.value)] += 1
        for block in run.blocks:
            got_whole.update([block.samples, block.outliers, block.repetitions])
            got.update([block.mean, block.mean])  # in the table and in the time line
            got.update([block.minimum, block.maximum, block.standard_deviation, block.time_half_width])
            if block.median is not None:
                got.update([block.median] * (2 if block.is_reference else 1))
            if not block.is_reference:
                got.update([block.overhead, block.overhead_half_width])
            if block.median_overhead is not None:
                got[block.median_overhead] += 1
    assert got == decimals
    assert got_whole == whole


@pytest.mark.parametrize("path", EPCC, ids=lambda path: path.name)
def test_the_measurements_of_a_real_output_are_those_of_its_lines(path):
    lines = path.read_text().splitlines()
    reading = read(path)
    assert reading.warnings == ()
    results = [line for line in lines if " = " in line and "ref time" not in line and "median time" not in line]
    assert len(reading.measurements) == len(results)
    for measurement in reading.measurements:
        line = lines[measurement.place.line - 1]
        assert f"{measurement.values[0]:.6f}" in line.split()
        assert measurement.unit == "us"
        assert measurement.keys["threads"] == int(path.name.removesuffix(".out")[-1])


def test_three_concatenated_runs_are_three_runs():
    of_one_thread = (DATA / "epcc" / "v31.syncbench.gcc.1.out").read_text()
    reading = reading_of(of_one_thread + SYNC_31 + of_one_thread)
    barriers = [m for m in reading.measurements if m.quantity == "BARRIER overhead"]
    assert [(m.run, m.keys["threads"]) for m in barriers] == [(0, 1), (1, 2), (2, 1)]


def test_chunks_and_array_sizes_are_keys_and_a_directive_that_comes_twice_is_told_apart():
    chunk = [m for m in read(DATA / "epcc" / "schedbench.gcc.2.out").measurements if m.quantity == "DYNAMIC overhead"]
    assert [m.keys["chunk"] for m in chunk if m.statistic == "mean"] == [2**power for power in range(11)]
    arrays = read(DATA / "epcc" / "arraybench_59049.gcc.2.out").measurements
    assert {m.keys["array_size"] for m in arrays if "overhead" in m.quantity} == {59049}
    tasks = [m for m in read(DATA / "epcc" / "taskbench.gcc.2.out").measurements if m.quantity == "MASTER TASK time"]
    assert [m.keys.get("occurrence", 1) for m in tasks] == [1, 2]


def test_version_2_and_fortran_are_read_as_described_and_say_that_they_were_never_seen():
    c = read(DESCRIBED / "epcc2.syncbench.c.out")
    assert value(c, "PARALLEL overhead") == 5.39
    assert "untried on a real output" in c.warnings[0]
    fortran = read(DESCRIBED / "epcc2.arraybench.fortran.out")
    assert [m.keys.get("array_size") for m in fortran.measurements] == [None, 27, 27, 177147, 177147]
    assert any("Fortran" in warning and "untried" in warning for warning in fortran.warnings)
    sched = read(DESCRIBED / "epcc2.schedbench.c.out")
    assert {(s.name, s.value, s.unit) for s in sched.settings} >= {
        ("assumed clock", 1500.0, "MHz"),
        ("delay time", 101.25, "cycles"),
    }


def test_this_projects_own_suite_is_known_by_its_banner_and_warns_of_nothing():
    original = (DESCRIBED / "epcc2.syncbench.c.out").read_text()
    banner = " Running OpenMP benchmark on 4 thread(s)\n"
    own = original.replace(banner, banner + " Suite: sdsm's epcc\n", 1)
    assert own != original
    assert reading_of(own).warnings == ()
    assert [m.values for m in reading_of(own).measurements] == [m.values for m in reading_of(original).measurements]
    # It is pooled with no run of EPCC's, and hides no warning of one.
    first, second = epcc.runs(Text("some.out", own + original))
    assert (first.suite, second.suite) == ("2.0 as sdsm's epcc has it", "2.0")
    (warning,) = reading_of(own + original).warnings
    assert "2.0 is read from a description" in warning
    twice = own.replace(" Suite:", " Suite: sdsm's epcc\n Suite:")
    of_another_version = SYNC_31.replace("\t2 thread(s)", " Suite: sdsm's epcc\n\t2 thread(s)")
    for text in (twice, of_another_version):
        with pytest.raises(ReadError, match=r"\"Suite: sdsm's epcc\" is not a line of EPCC's banner"):
            reading_of(text)


def test_a_block_without_banner_is_read_and_its_threads_called_unknown():
    reading = read(DESCRIBED / "epcc2.parallel.c.out")
    assert [m.values for m in reading.measurements] == [(12.36719,), (5.39,)]
    assert "threads" not in reading.measurements[0].keys
    assert "number of threads is not known" in reading.warnings[0]


def test_one_sample_has_no_standard_deviation():
    text = (
        " Running OpenMP benchmark on 1 thread(s)\n Computing BARRIER time\n"
        "Sample_size Average Min Max S.D. Outliers\n 1 2.500000 2.500000 2.500000 -nan 0\n"
        "BARRIER time = 2.500000 microseconds +/- -nan\nBARRIER overhead = 1.0 microseconds +/- -nan\n"
    )
    time, overhead = reading_of(text).measurements
    assert time.values == (2.5,) and time.spread.standard_deviation is None and overhead.spread.half_width_95 is None


CONTRADICTIONS = [
    # what is changed, into what, line of the error, words of it
    (
        "BARRIER time     = 0.583316 microseconds",
        "BARRIER time     = 0.583316 milliseconds",
        49,
        "'milliseconds' where EPCC prints",
    ),
    ("BARRIER time     = 0.583316", "BARRIER time     = 0.593316", 49, "0.583316 by the lines before"),
    ("BARRIER overhead = 0.474536", "BARRIER overhead = 0.574536", 50, "time less reference"),
    ("+/- 0.032173", "+/- 0.132173", 49, "1.96 standard deviations are 0.032173"),
    ("+/- 0.036711", "+/- 0.032173", 50, "1.96 standard deviations"),
    ("0.583316   0.568015", "0.553316   0.568015", 47, "outside minimum and maximum"),
    ("0.607728    0.016415", "0.607728    0.116415", 47, "standard deviation of 0.116415 cannot be"),
    ("0.016415      0\n", "0.016415      6\n", 47, "6 outliers of 5 samples"),
    ("\t5 outer repetitions", "\t6 outer repetitions", 12, "the banner says 6 outer repetitions"),
    ("\t2 thread(s)\n", "", 7, "does not say the number of threads"),
    ("\t2 thread(s)\n", "\t2 thread(s)\n\t2 thread(s)\n", 3, "threads stands twice"),
    ("version 3.0", "version 5.0", 1, "version 5.0"),
    ("version 3.0", "version 4.0", 11, "not that of version 4.0"),
    ("BARRIER overhead", "SINGLE overhead", 50, "a result of SINGLE in the block of BARRIER (line 44)"),
    ("\nBARRIER overhead = 0.474536 microseconds +/- 0.036711\n", "\n", 51, "is not the overhead line of BARRIER"),
    ("0.568015", "nan", 47, "nan is no measured value"),
    ("0.568015", "*****", 47, "stars"),
    ("0.568015", "0,568015", 47, "is not the row of numbers of BARRIER"),
    ("0.568015", "٠.568015", 47, "is not the row of numbers of BARRIER"),
    ("Computing BARRIER time using 1280", "Computing BARRIER time using 0", 44, "0 repetitions"),
    ("\nComputing BARRIER", "\nslurmstepd: error\nComputing BARRIER", 44, "'slurmstepd: error' is not"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), CONTRADICTIONS, ids=lambda part: str(part)[:30])
def test_what_contradicts_itself_is_reported_with_its_line(old, new, line, words):
    assert SYNC_31.count(old) == 1
    with pytest.raises(ReadError) as refused:
        reading_of(SYNC_31.replace(old, new))
    assert refused.value.line == line, refused.value
    assert words in str(refused.value)


def test_a_median_that_contradicts_its_overhead_is_reported():
    with pytest.raises(ReadError, match="median overhead"):
        reading_of(SYNC_40.replace("BARRIER median_ovrhd = 0.447424", "BARRIER median_ovrhd = 0.457424"))


@pytest.mark.parametrize("keep", range(1, SYNC_31.count("\n"), 7))
def test_an_output_that_was_cut_is_refused_unless_cut_between_two_results(keep):
    lines = SYNC_31.splitlines(keepends=True)[:keep]
    written = [line for line in lines if line.strip()]
    if " overhead " in written[-1] or (written[-1].startswith("reference time") and len(written) > 2):
        assert reading_of("".join(lines)).measurements
    else:
        with pytest.raises(ReadError):
            reading_of("".join(lines))


def test_every_first_digit_of_a_result_is_vouched_for_by_another_line():
    """Changed by itself, the first digit of a mean, a standard deviation, an overhead or a half-width is noticed."""
    changes = 0
    begin = SYNC_31.index("Computing")
    for line in re.finditer("(?m)^.*$", SYNC_31[begin:]):
        fields = list(re.finditer(r"[0-9]+\.[0-9]{6}", line[0]))
        for index, field in enumerate(fields):
            first = re.search("[1-9]", field[0])
            # Minimum and maximum stand once, and the last two digits may be rounding.
            if first is None or first.start() >= len(field[0]) - 2 or (len(fields) == 4 and index in (1, 2)):
                continue
            at = begin + line.start() + field.start() + first.start()
            with pytest.raises(ReadError):
                reading_of(SYNC_31[:at] + str(int(first[0]) % 9 + 1) + SYNC_31[at + 1 :])
            changes += 1
    assert changes == sum(" +/- " in line for line in SYNC_31.splitlines()) * 2 + SYNC_31.count("Sample_size") * 2


def test_lines_that_tell_the_machine_are_taken_and_others_are_not():
    text = "# platform: p3-score\n# Compiler = Omni 1.6 -O2\n" + SYNC_31
    (run,) = epcc.runs(Text("some.out", text))
    assert run.environment == {"platform": "p3-score", "compiler": "Omni 1.6 -O2"}
    with pytest.raises(ReadError, match=r"some\.out:1: '# weather:' is not one of # platform:"):
        reading_of("# weather: fine\n" + SYNC_31)


@st.composite
def printed_runs(draw) -> tuple[str, list[tuple[str, float, float]]]:
    """An output of any dialect, printed here from drawn numbers of six decimals, and its names, means and overheads."""
    dialect = draw(st.sampled_from(["2.0", "Fortran", "3.0", "4.0"]))
    samples = draw(st.integers(2, 50))
    threads = draw(st.integers(1, 512))
    micro = st.integers(0, 10**9)
    text = f" Running OpenMP benchmark on {threads} thread(s)\n"
    if dialect == "Fortran":
        text = f" Running OpenMP benchmark on {threads:12d}  thread(s)\n"
    elif dialect in ("3.0", "4.0"):
        text = f"Running OpenMP benchmark version {dialect}\n\t{threads} thread(s)\n\t{samples} outer repetitions\n"
    results = []
    reference: tuple[int, int] | None = None
    names = draw(
        st.lists(
            st.sampled_from(["BARRIER", "LOCK/UNLOCK", "STATIC 8", "PRIVATE 27", "MASTER TASK"]),
            max_size=4,
            unique=True,
        )
    )
    for name in ["reference time 1", *names]:
        low, width = draw(micro), draw(st.integers(0, 10**6))
        mean, sd = low + width // 2, draw(st.integers(0, width // 4))
        half = f"{1.96 * sd / 1e6:.6f}"
        row = f" {samples} {mean / 1e6:.6f} "
        head = f"Computing {name}"
        if dialect in ("3.0", "4.0"):
            head += f" time using {draw(st.integers(1, 10**6))} reps"
        elif reference is not None:
            head += " time"
        header = "Sample_size  Average  Min  Max  S.D.  Outliers"
        if dialect == "4.0":
            header, row = "Sample_size  Mean  Median  Min  Max  StdDev  Outliers", row + f" {mean / 1e6:.6f} "
        row += f"{low / 1e6:.6f} {(low + width) / 1e6:.6f} {sd / 1e6:.6f} 0"
        text += f"\n{'-' * 56}\n{head}\n\n{header}\n{row}\n\n"
        shown = name.split(" ")[0] if name.startswith("PRIVATE") and dialect in ("2.0", "Fortran") else name
        if reference is None:
            shown = {"4.0": f"{name} mean time ", "3.0": f"{name} time"}.get(dialect, "Reference_time_1")
            text += f"{shown} = {mean / 1e6:.6f} microseconds +/- {half}\n"
            if dialect == "4.0":
                text += f"{name} median time = {mean / 1e6:.6f} microseconds\n"
            reference = (mean, sd)
            continue
        overhead = (mean - reference[0]) / 1e6
        text += f"{shown} time = {mean / 1e6:.6f} microseconds +/- {half}\n" + " \n" * (dialect == "Fortran")
        text += f"{shown} overhead = {overhead:.6f} microseconds +/- {1.96 * (sd + reference[1]) / 1e6:.6f}\n"
        if dialect == "4.0":
            text += f"{shown} median_ovrhd = {overhead:.6f} microseconds \n"
        results.append((name, mean / 1e6, float(f"{overhead:.6f}")))
    return text, results


@given(st.lists(printed_runs(), min_size=1, max_size=3))
def test_whatever_a_suite_prints_is_read_as_printed(runs):
    got = epcc.runs(Text("some.out", "".join(text for text, _ in runs)))
    assert len(got) == len(runs)
    for run, (_, results) in zip(got, runs, strict=True):
        blocks = [block for block in run.blocks if not block.is_reference]
        assert [(block.name, block.mean, block.overhead) for block in blocks] == results
