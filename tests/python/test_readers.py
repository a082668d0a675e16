"""Is each benchmark's output recognised by its content, and read for what it says?"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import DATA, DESCRIBED, EPCC, OTHERS
from sdsm.readers import Measurement, Place, ReadError, Reading, formats, read, read_text
from sdsm.readers.text import LIMIT_BYTES, Text, load

GOLDEN = DATA / "golden"
SUMMED_UP = [
    DATA / "epcc" / "v31.arraybench_59049.gcc.2.out",
    DATA / "epcc" / "taskbench.gcc.2.out",
    DATA / "network" / "iperf3.loopback.json",
    DATA / "sdsm" / "microbench.system.json",
    DATA / "jiajia" / "pair-a.tsp.out",
    *DESCRIBED,
]
NETPIPE = (DATA / "network" / "netpipe.loopback.out").read_text()
NETPIPE_PRINTED = (DATA / "network" / "netpipe.loopback.stdout").read_text()
IPERF = json.loads((DATA / "network" / "iperf3.loopback.json").read_text())
MEASURED = json.loads((DATA / "sdsm" / "microbench.system.json").read_text())
RUN = json.loads((DATA / "sdsm" / "run.laplace.json").read_text())


def reading_of(text: str) -> Reading:
    return read_text(Text("some.out", text))


def refusal(text: str) -> ReadError:
    with pytest.raises(ReadError) as refused:
        reading_of(text)
    return refused.value


def transcript(reading: Reading) -> str:
    """A reading in words, a line for each thing that it holds."""
    lines = [f"format {reading.format}"]
    lines += [f"warning {warning.replace(reading.file, 'FILE')}" for warning in reading.warnings]
    lines += [f"{s.place.line}: run {s.run}: {s.name} = {s.value} {s.unit}" for s in reading.settings]
    for m in reading.measurements:
        values = " ".join(map(repr, m.values))
        spread = {name: value for name in m.spread.__slots__ if (value := getattr(m.spread, name)) is not None}
        lines.append(
            f"{m.place.line}: run {m.run}: {m.quantity} = {values} {m.unit} ({m.statistic} of {m.samples}) "
            f"{dict(m.keys)} {spread}"
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", SUMMED_UP, ids=lambda path: path.name)
def test_a_file_is_read_as_it_was_when_somebody_looked(path):
    got = transcript(read(path))
    golden = GOLDEN / f"{path.name}.txt"
    if os.environ.get("SDSM_WRITE_GOLDEN"):
        golden.write_text(got)
    assert got == golden.read_text()


@pytest.mark.parametrize("path", [*EPCC, *DESCRIBED, *OTHERS], ids=lambda path: path.name)
def test_exactly_one_reader_recognises_a_file_whatever_its_name(path):
    source = load(path)
    assert sum(module.recognises(Text("x", source.text)) for module in formats()) == 1


@pytest.mark.parametrize("path", [*DESCRIBED, *EPCC, *OTHERS], ids=lambda path: path.name)
def test_only_a_format_never_seen_says_that_it_is_untried(path):
    untried = any("untried on a real output" in warning for warning in read(path).warnings)
    assert untried == (path in DESCRIBED and path.name != "epcc2.parallel.c.out")  # which could be of 3.1


@pytest.mark.parametrize("path", DESCRIBED + OTHERS, ids=lambda path: path.name)
def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(path, tmp_path):
    copy = tmp_path / path.name
    copy.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert transcript(read(copy)).replace(str(copy), "") == transcript(read(path)).replace(str(path), "")


# What is no benchmark's output


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", 1, "empty"),
        (b" \n\n", 1, "empty"),
        (b"hello\n", 1, "begins with 'hello' is the output of no benchmark that is known here"),
        (b"\n[1] PE 0: killed\n", 2, "begins with '[1] PE 0: killed' is the output of no benchmark that is known here"),
        (b"\x7fELF\x02\x01", 1, "not text"),
        (b"\x89SDSM\r\n\x1a\x01", 1, "a trace. Name a benchmark's output"),
        (b"1\n2\n\xff\n", 3, "not text (byte 0xff)"),
        (b"\x1f\x8b\x08\x00", 1, "compressed by gzip. Unpack it, and give what is in it"),
        (b"\xfd7zXZ\x00", 1, "compressed by xz. Unpack it"),
        ("# OSU MPI Latency Test v5.8\n".encode("utf-16"), 1, "text of UTF-16, as some shells and editors write. Convert it: iconv -f UTF-16 -t UTF-8"),
        ("# Size\n0 2.0 ü\n".encode("latin-1"), 2, "not text (byte 0xfc), unless of Latin-1: then convert it (iconv -f LATIN1 -t UTF-8)"),
        (b"# OSU MPI Latency Test v5.8\n# Size  Latency (us)\n0  2,00\n8  2,10\n", 3, "'0 2,00' has decimal commas. Run the benchmark with LC_ALL=C"),
        (b"       1 0,152563 0,00005001\n       2 0,305078 0,00005002\n", 1, "has decimal commas"),
        (b'"stride=128\n0,00049 1,500\n0,00098 1,500\n', 2, "has decimal commas"),
        (b'[{"start": {}}, {"start": {}}]', 1, "a list of 2 JSON documents (of jq -s, say). Give each in a file of its own"),
        (b'[' + b'{"start": "' + b"x" * 3000 + b'"}]', 1, "a list of 1 JSON document"),
        (b"one\ntwo\x00\n", 2, "not text (character 0x00)"),
        (b'{"a":' + b"[" * 100_000, 1, "nested too deeply"),
        (b'{"kind": "native", "format": 1, "a":' + b"[" * 500 + b"]" * 500 + b"}", 1, "nested too deeply"),
        (b'{"a": "\\ud83d\\ude00",\n"b": "\\ud83d"}', 2, "half of a character"),
        (b'{"a":' + b"1" * 5000 + b"}", 1, "too long"),
        (b'{"a": 1e999}', 1, "1e999 is beyond"),
        (b'{"a": 1,\n"a": 2}', 2, "'a' is there twice"),
        (b'{"a": NaN}', 1, "NaN is no JSON number"),
        (b'{"a": 1,}', 1, "not JSON"),
        (b"{}", 1, "no benchmark that is known here"),
        (b"[1, 2]", 1, "no benchmark that is known here"),
        (b"Running OpenMP benchmark version 3.0\n" + b"x" * 1_000_000, 2, "a line of 1000000 characters"),
        (b"Running OpenMP benchmark on 2 thread(s)\n# OSU MPI Latency Test v5.0\n", 1, "at once"),
    ],
)
def test_what_is_no_output_is_refused_with_its_line(tmp_path, content, line, words):
    file = tmp_path / "some.out"
    file.write_bytes(content)
    with pytest.raises(ReadError) as refused:
        read(file)
    assert (refused.value.file, refused.value.line) == (str(file), line)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 600


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("/dev/zero", "/dev/null", str(tmp_path), str(tmp_path / "nothing")):
        with pytest.raises(OSError):
            read(name)
    with pytest.raises(ReadError, match="empty"):  # nobody writes to it
        read(tmp_path / "pipe")


def test_a_file_larger_than_any_output_is_refused(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LIMIT_BYTES + 1)
    with pytest.raises(ReadError, match="more than 64 MiB"):
        read(tmp_path / "large")


# Units


def test_values_are_converted_within_a_dimension_and_never_between_two():
    place = Place("some.out", 1)
    assert Measurement("time", (1.5, 2.0), "us", "samples", place).in_unit("ns") == pytest.approx((1500.0, 2000.0))
    assert Measurement("rate", (1.0,), "Mibit/s", "mean", place).in_unit("bit/s") == (1048576.0,)
    assert Measurement("rate", (1.0,), "MB/s", "mean", place).in_unit("bit/s") == (8e6,)
    with pytest.raises(ValueError, match="cannot be converted to bit/s"):
        Measurement("time", (1.0,), "us", "mean", place).in_unit("bit/s")
    with pytest.raises(ValueError, match="not one of the units"):
        Measurement("time", (1.0,), "parsec", "mean", place)


# NetPIPE


@pytest.mark.parametrize("name", ["netpipe.loopback.out", "netpipe.loopback.stdout"])
def test_every_line_of_netpipe_is_a_time_and_a_bandwidth(name):
    text = (DATA / "network" / name).read_text()
    rows = re.findall(
        r"(?m)^ *(?:[0-9]+: +)?([0-9]+)(?: bytes +[0-9]+ times -->)? +([0-9.]+)(?: Mbps in)? +([0-9.]+)", text
    )
    reading = reading_of(text)
    got = [(m.keys["message_bytes"], m.values[0]) for m in reading.measurements if m.quantity == "bandwidth"]
    assert got == [(int(size), float(rate)) for size, rate, _ in rows] and len(got) == 106
    times = [m for m in reading.measurements if m.quantity == "message time, one way"]
    assert [m.values[0] for m in times] == [float(time) for _, _, time in rows]
    assert {m.samples for m in times[:1]} == ({9900} if name.endswith(".stdout") else {None})
    # Bits by time are 2^20 to the Mbps: 1 byte in 10.48 us are 763359 bit/s = 0.728 Mibit/s.
    assert times[0].in_unit("us") == pytest.approx((10.48,))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (NETPIPE.replace("0.728048", "0.763359"), 1, "no benchmark"),  # 10^6 bits: is this NetPIPE at all?
        (NETPIPE.replace("1.652782", "1.733101"), 2, "2 bytes in 0.00000923 s are not 1.733101 Mbps of 2^20 bits"),
        (NETPIPE.replace("       3 2.463548", "       2 2.463548"), 3, "2 bytes do not follow 2"),
        (NETPIPE + NETPIPE_PRINTED, 111, "in one"),
        (NETPIPE.replace("\n", "\nhello\n", 1), 2, "'hello' stands within a table"),
        (NETPIPE_PRINTED.replace("  3:       4 bytes", "  4:       4 bytes"), 8, "one is missing"),
        (NETPIPE_PRINTED.replace("10.48 usec", "10.48 msec"), 5, "no line of NetPIPE's"),
        (NETPIPE_PRINTED.replace("  9900 times", "     0 times"), 5, "0 times"),
    ],
)
def test_netpipe_that_contradicts_itself_is_reported_with_its_line(text, line, words):
    refused = refusal(text)
    assert refused.line == line, refused
    assert words in str(refused)


@given(
    st.lists(
        st.tuples(st.integers(1, 1 << 30), st.floats(1e-6, 10.0)), min_size=1, max_size=20, unique_by=lambda row: row[0]
    )
)
def test_whatever_netpipe_prints_is_read_as_printed(rows):
    rows = sorted(rows)
    text = "".join(f"{size:8d} {size * 8 / time / 2**20:f} {time:12.8f}\n" for size, time in rows)
    got = [m for m in reading_of(text).measurements if m.unit == "s"]
    assert [(m.keys["message_bytes"], m.values[0]) for m in got] == [
        (size, float(f"{time:.8f}")) for size, time in rows
    ]


# iperf3


def test_iperf3_gives_each_interval_the_whole_and_the_round_trips():
    measurements = read(DATA / "network" / "iperf3.loopback.json").measurements
    rates = [m for m in measurements if m.unit == "bit/s"]
    assert [m.values[0] for m in rates if m.quantity == "bandwidth"] == [
        i["sum"]["bits_per_second"] for i in IPERF["intervals"]
    ]
    whole = {m.keys["side"]: m.values[0] for m in rates if m.quantity == "bandwidth, whole run"}
    assert whole == {"sender": 31028221694.4893, "receiver": 31027797683.961849}
    assert [m.values[0] for m in measurements if m.quantity == "round-trip time"] == [38, 37, 30]


def changed(document: dict, *path: str | int, to: object) -> str:
    copy = json.loads(json.dumps(document))
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return json.dumps(copy, indent=1)


@pytest.mark.parametrize(
    ("path", "to", "words"),
    [
        (("intervals", 0, "sum", "bits_per_second"), 3667638000.0, "contradictory units"),  # bytes instead of bits
        (("intervals", 0, "streams", 0, "bits_per_second"), 29341.1, "contradictory units"),
        (("intervals", 1, "streams", 0, "bytes"), 1, "contradictory units"),
        (("intervals", 0, "streams"), [], "0 streams of 1"),
        (("end", "sum_sent", "bits_per_second"), 31028.2, "contradictory units"),
        (("end", "sum_received", "bytes"), 2, "contradictory units"),
        (("end", "streams", 0, "sender", "mean_rtt"), 50, "mean_rtt is outside"),
        (("intervals", 0, "streams", 0, "rtt"), "38", "rtt is '38'"),
        (("intervals", 2, "sum"), None, "sum is no object"),
        (("intervals",), {}, "intervals is no list"),
        (("start", "test_start", "protocol"), "SCTP", "neither TCP nor UDP"),
        (("start", "test_start", "bidir"), 1, "--bidir"),
        (("error",), "unable to connect to server", "iperf3 failed: 'unable to connect"),
    ],
)
def test_iperf3_that_contradicts_itself_is_reported_with_its_line(path, to, words):
    text = changed(IPERF, *path, to=to)
    refused = refusal(text)
    assert words in str(refused)
    reported = text.split("\n")[refused.line - 1]
    assert '"' in reported and refused.line > 1, reported


def test_the_sum_of_iperf3s_streams_must_be_theirs():
    document = json.loads(json.dumps(IPERF))
    interval = document["intervals"][0]
    for name in ("bytes", "bits_per_second"):
        interval["sum"][name] *= 2
    refused = refusal(json.dumps(document, indent=1))
    assert "bits_per_second is 5.86822e+10, but 2.93411e+10 over the streams" in str(refused)


def test_udp_is_read_and_called_untried():
    document = json.loads(json.dumps(IPERF))
    document["start"]["test_start"]["protocol"] = "UDP"
    document["end"]["sum"] = document["end"]["sum_sent"] | {"jitter_ms": 0.25, "lost_packets": 3, "packets": 400}
    reading = reading_of(json.dumps(document))
    assert {(m.quantity, m.values, m.unit) for m in reading.measurements} >= {
        ("jitter", (0.25,), "ms"),
        ("lost packets", (3,), "1"),
    }
    assert "untried" in reading.warnings[0]


# OSU, lat_mem_rd


OSU = "# OSU MPI Latency Test v5.6.2\n# Size          Latency (us)\n0   3.50\n8   3.54\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (OSU.replace("(us)", "(ms)"), 2, "Latency in 'ms', where OSU prints us"),
        (OSU.replace("Latency (us)", "Bandwidth (MB/s)"), 2, "a Latency test with a column of Bandwidth"),
        (OSU.replace("Latency (us)", "Latency (us) Latency (us)"), 2, "there twice"),
        (OSU.replace("Latency (us)", "P99 Tail Lat(us)"), 2, "no column of Latency"),
        (OSU.replace("Latency (us)", "Overlap(%)"), 2, "'Overlap(%)' is not known"),
        (OSU.replace("3.54", "3.54 1"), 4, "3 numbers for 2 columns"),
        (OSU.replace("3.54", "-3.54"), 4, "Latency is -3.54"),
        (OSU.replace("3.54", "0.00"), 4, "latency, one way is 0 us, where a time is above 0. Correct or leave out the file"),
        (OSU.replace("8 ", "0 "), 4, "0 bytes do not follow 0"),
        (OSU.partition("0   ")[0], 1, "without results"),
        (OSU + "mpirun: killed\n16 3.60\n", 5, "'mpirun: killed' stands within a table"),
        ('"stride=64\n0.00049 1.4\n0.00049 1.4\n', 3, "does not follow"),
        ('"stride=64\n0.00049 0.0\n', 2, "a load of 0.0 ns"),
        ('"stride=64\n"stride=128\n0.00049 1.4\n', 1, "no latency for stride 64"),
        ('"stride=64\n', 1, "no latency for stride 64"),
        ('"stride=64\n0.00049 1.4 ns\n', 1, "no latency for stride 64"),
        ('"stride=64\n0.00049 1.4\nkilled\n0.00098 1.4\n', 3, "'killed' stands within a table"),
    ],
)
def test_a_line_that_contradicts_its_format_is_reported(text, line, words):
    refused = refusal(text)
    assert refused.line == line, refused
    assert words in str(refused)


@pytest.mark.parametrize(
    ("text", "line", "rates", "left_out"),
    [
        ("# OSU MPI Bandwidth Test v5.6.2\n# Size Bandwidth (MB/s)\n1 0.00\n2 0.00\n4096 9.50\n", 3, [9.5], "bandwidth is 0 MB/s (and 1 later ones)"),
        ("Streaming in one direction\n" + NETPIPE_PRINTED.splitlines()[4].split("-->")[0] + "--> 0.00 Mbps in 30000.00 usec\n", 2, [], "bandwidth is 0 "),
    ],
)
def test_a_rate_too_slow_for_its_digits_is_left_out_and_said(text, line, rates, left_out):
    reading = reading_of(text)
    assert [m.values[0] for m in reading.measurements] == rates
    (said,) = (warning for warning in reading.warnings if "left out" in warning)
    assert said.startswith(f"some.out:{line}: {left_out}") and said.endswith(": slower than its digits tell. It is left out")


def test_osus_minimum_and_maximum_are_the_spread():
    first, _ = read(DATA / "described" / "osu_latency.full.out").measurements
    assert (first.values, first.samples, first.spread.minimum, first.spread.maximum) == ((2.48,), 10000, 2.40, 2.61)


@given(
    st.lists(st.tuples(st.integers(0, 1 << 32), st.integers(1, 10**8)), min_size=1, unique_by=lambda row: row[0]),
    st.booleans(),
)
def test_whatever_osu_prints_is_read_as_printed(rows, is_latency):
    rows = sorted(rows)
    head = ("Latency", "Latency (us)") if is_latency else ("Bandwidth", "Bandwidth (MB/s)")
    text = f"\n# OSU MPI {head[0]} Test v7.1\n# Datatype: MPI_CHAR.\n# Size      {head[1]}\n"
    text += "".join(f"{size:<10d}{hundredths / 100:18.2f}\n" for size, hundredths in rows)
    got = reading_of(text).measurements
    assert [(m.keys["message_bytes"], m.values[0]) for m in got] == [
        (size, float(f"{n / 100:.2f}")) for size, n in rows
    ]
    assert {m.unit for m in got} == {"us" if is_latency else "MB/s"}


# This project's own


def test_microbench_gives_every_sample_in_order():
    document = json.loads((DATA / "sdsm" / "microbench.printed.2x1.json").read_text())
    reading = read(DATA / "sdsm" / "microbench.printed.2x1.json")
    assert {m.quantity: list(m.values) for m in reading.measurements} == document
    assert all(m.samples == len(document[m.quantity]) and m.unit == "ns" and not m.keys for m in reading.measurements)
    reported = reading_of(json.dumps({"burst": 64, **document})).measurements
    assert {m.quantity for m in reported} == set(document) and all(m.keys == {"burst": 64} for m in reported)


def test_faults_one_by_one_that_are_no_whole_bursts_are_refused():
    faults = {"burst": 64, "nodes": 2, "threads_per_node": 1, "samples_ns": {"RUMR.single": [1000.0] * 128}}
    document = {"format": "sdsm-microbench", "version": 1, "unit": "ns", "layouts": {"2x1": faults}}
    assert [m.keys["burst"] for m in reading_of(json.dumps(document)).measurements] == [64]
    faults["samples_ns"]["RUMR.single"].append(1000.0)
    assert "129 samples of RUMR.single are no bursts of 64 pages" in str(refusal(json.dumps(document)))


def test_what_sdsm_microbench_writes_gives_every_sample_with_its_layout():
    measurements = read(DATA / "sdsm" / "microbench.system.json").measurements
    for name, part in MEASURED["layouts"].items():
        keys = {"nodes": int(name[0]), "threads_per_node": int(name[2])}
        got = {m.quantity: list(m.values) for m in measurements if m.keys == keys and m.unit == "ns"}
        assert got == part["samples_ns"]
        (service,) = [m for m in measurements if m.keys == keys and m.quantity == "page service"]
        assert (service.values, service.samples) == ((part["page_service_s"],), part["pages_served"])


def test_samples_of_an_emulated_cluster_and_of_the_bare_system_are_told_apart():
    measurements = reading_of(changed(MEASURED, "emulated", to="platforms/p3-score.xml")).measurements
    of_system = [m for m in measurements if m.quantity.startswith("system.")]
    assert {m.quantity.removeprefix("system."): list(m.values) for m in of_system} == MEASURED["system"]["samples_ns"]
    assert all("nodes" not in m.keys and "emulated" not in m.keys for m in of_system)
    assert {m.keys["emulated"] for m in measurements if m not in of_system} == {"platforms/p3-score.xml"}


@pytest.mark.parametrize(
    ("path", "to", "words"),
    [
        (("unit",), "us", "unit is 'us', where ns is known"),
        (("version",), 2, "version is '2', where 1 is known"),
        (("layouts",), {}, "no layout was measured"),
        (("layouts", "2x1", "nodes"), 3, "nodes of layout 2x1 is '3'"),
        (("layouts", "2x1", "samples_ns"), {}, "2x1 has no samples_ns"),
        (("layouts", "1x2", "samples_ns", "lock", 3), -1, "sample 4 of lock is '-1'"),
        (("layouts", "2x1", "page_service_s"), 0, "page_service_s is 0 for "),
        (("layouts", "2x1", "page_service_s"), "long", "page_service_s is 'long'"),
        (("layouts", "many"), {"samples_ns": {"lock": [1]}}, "'many' is no layout"),
        (("system",), [], "system has no samples_ns"),
        (("emulated",), 1, "emulated is '1', no platform file"),
        (("layouts", "2x1", "rounds"), 0, "rounds is '0', no number of runs"),
        (("layouts", "2x1", "rounds"), "two", "rounds is 'two', no number of runs"),
        (("layouts", "2x1", "rounds"), 4096, "are not 4096 runs' of equal length"),
        (("layouts", "2x1", "burst"), 0, "burst is '0', no number of pages"),
        (("layouts", "2x1", "burst"), True, "burst is 'True', no number of pages"),
    ],
)
def test_a_measured_file_that_contradicts_itself_is_reported_with_its_line(path, to, words):
    text = changed(MEASURED, *path, to=to)
    refused = refusal(text)
    assert words in str(refused)
    reported = text.split("\n")[refused.line - 1]
    assert "-1" in reported if path[-1] == 3 else f'"{path[-1]}"' in reported or f'"{path[-2]}"' in reported


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"WROH": [1,\n2,\n"x"]}', 3, "sample 3 of WROH is 'x'"),
        ('{"WROH": [1,\n-2]}', 2, "sample 2 of WROH is '-2'"),
        ('{"WROH": [1,\n0]}', 2, "sample 2 of WROH is '0', where a time is above 0. Correct or leave out the file"),
        ('{"release.0": [0],\n"release.1": [1, 2,\n0.0]}', 3, "sample 3 of release.1 is '0.0', where a time is above 0"),
        ('{"RUMR.home": [0,\n-1]}', 2, "sample 2 of RUMR.home is '-1', where a time is at least 0"),
        ('{"WROH": [1, true]}', 1, "sample 2 of WROH is 'True'"),
        ('{"WROH": [],\n "lock": [1]}', 1, "WROH is no list of samples"),
        ('{"WROH": [1],\n "lock": 5}', 2, "lock is no list of samples"),
        ('{"WROH": [1],\n "release.1025": [5]}', 2, "release.1025: a page has 1024 words"),
    ],
)
def test_a_microbench_that_is_none_is_reported_with_its_line(text, line, words):
    refused = refusal(text)
    assert refused.line == line, refused
    assert words in str(refused)


@given(
    st.dictionaries(
        st.sampled_from(["WROH", "RUMR", "barrier", "lock", "release.64", "barrier.dirty64"]),
        st.lists(st.integers(1, 10**12), min_size=1, max_size=50),
        min_size=1,
    ),
    st.sampled_from([None, 1]),
)
def test_whatever_microbench_prints_is_read_with_the_line_of_each_quantity(document, indent):
    text = json.dumps(document, indent=indent)
    got = reading_of(text).measurements
    assert {m.quantity: list(m.values) for m in got} == document
    for m in got:
        assert f'"{m.quantity}": [' in text.split("\n")[m.place.line - 1]


def flattened(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from flattened(below, f"{name}.{key}" if name else key)
    else:
        yield name.replace("time_s.", "time.").replace("page_service_s", "page_service"), value


def test_no_number_of_a_native_run_is_lost_and_each_has_its_name_part_and_thread():
    measurements = read(DATA / "sdsm" / "run.laplace.json").measurements
    for part, threads in (("region", RUN["threads"]), ("whole run", RUN["whole_run"]["threads"])):
        for thread in threads:
            _, _, *wanted = flattened(thread)
            keys = {"nodes": 2, "threads_per_node": 1, "part": part, "thread": thread["id"], "node": thread["node"]}
            of_thread = [m for m in measurements if m.keys == keys]
            assert [(m.quantity, m.values[0]) for m in of_thread] == wanted
            units = {m.quantity: m.unit for m in of_thread}
            assert (units["time.fault.RUMR"], units["faults.RUMR"], units["served_bytes"]) == ("s", "1", "B")
    makespans = {m.keys["part"]: m.values for m in measurements if "thread" not in m.keys}
    assert makespans == {"region": (RUN["makespan_s"],), "whole run": (RUN["whole_run"]["makespan_s"],)}


@pytest.mark.parametrize(
    ("path", "to", "words"),
    [
        (("kind",), "simulation", "kind 'simulation' is not 'native'"),
        (("format",), 2, "format '2' is not 1"),
        (("nodes",), 3, "2 threads, but nodes x threads_per_node is 3"),
        (("kind",), [], "kind '[]' is not 'native'"),
        (("min_s",), 0.0, "not those of the runs"),
        (("runs",), [], "runs: Expected `array` of length >= 1"),
        (("threads", 1, "time_s", "fault"), "fast", "threads.1.time_s.fault: Expected `object`, got `str`"),
        (("threads", 1, "time_s", "fault", "WROH"), "fast", "threads.1.time_s.fault: Expected `float`, got `str`"),
        (("whole_run", "threads", 0, "barriers"), -1, "whole_run.threads.0.barriers: Expected `int` >= 0"),
        (("whole_run",), 5, "whole_run: Expected `object`, got `int`"),
    ],
)
def test_a_run_that_is_none_is_reported_with_its_line(path, to, words):
    text = changed(RUN, *path, to=to)
    refused = refusal(text)
    assert words in str(refused)
    if path != ("min_s",):
        wanted = "threads" if path == ("nodes",) else next(step for step in reversed(path) if isinstance(step, str) and step != "WROH")
        assert f'"{wanted}"' in text.split("\n")[refused.line - 1]


def test_the_data_folder_says_where_its_files_come_from():
    reported = (DATA / "README.md").read_text()
    for folder in DATA.iterdir():
        assert folder.is_file() or f"`{folder.name}/" in reported


def test_json_lines_are_those_of_the_values():
    text = '{"a": [1,\n  {"b": "}]\\",:"},\n [2, 3]\n], "c": null,\n"d\\n": {}}'
    source = Text("x", text)
    lines = {("a",): 1, ("a", 0): 1, ("a", 1): 2, ("a", 1, "b"): 2, ("a", 2, 1): 3, ("c",): 4, ("d\n",): 5}
    assert {path: source.json_line(*path) for path in lines} == lines
    assert source.json_line("a", 2, 7, "nothing") == 3
