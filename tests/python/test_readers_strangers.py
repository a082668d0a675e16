"""Are other people's outputs read for what they measured: other releases, options, hosts, and lines around a table?"""

from __future__ import annotations

import json

import pytest

import stranger_files as strangers
from benchmark_files import DATA
from sdsm.calibrate import jiajia
from sdsm.calibrate.network import Network, fit, pieces
from sdsm.readers import Measurement, ReadError, Reading, read, read_text
from sdsm.readers.text import Text

EPCC_4 = (DATA / "epcc" / "syncbench.gcc.2.out").read_text()
LAT_MEM_RD = (DATA / "described" / "lat_mem_rd.out").read_text()
BASE = Network(12.5, 5.0, 2)


def reading_of(text: str) -> Reading:
    return read_text(Text("some.out", text))


def refusal(text: str) -> str:
    with pytest.raises(ReadError) as refused:
        reading_of(text)
    return str(refused.value)


def values(reading: Reading) -> list[tuple[str, float, str]]:
    return [(m.quantity, m.values[0], m.unit) for m in reading.measurements]


def of(reading: Reading, quantity: str) -> list[Measurement]:
    return [m for m in reading.measurements if m.quantity == quantity]


# OSU


@pytest.mark.parametrize("name", strangers.OSU)
def test_osus_releases_options_and_tests_are_read_as_printed(name):
    text, quantity, by_size = strangers.OSU[name]
    reading = reading_of(text)
    assert {m.keys.get("message_bytes"): m.values[0] for m in reading.measurements} == by_size
    assert {m.quantity for m in reading.measurements} == {quantity}
    assert {m.unit for m in reading.measurements} == {"us" if "latency" in quantity else "MB/s"}
    assert any("device's memory" in warning for warning in reading.warnings) == ("DEVICE" in text)


def test_osus_percentiles_and_extremes_are_the_spread():
    first = reading_of(strangers.OSU["7_percentiles"][0]).measurements[0]
    assert (first.spread.median, first.values) == (2.00, (2.10,))
    full = reading_of(strangers.OSU["5_barrier_full"][0]).measurements[0]
    assert (full.spread.minimum, full.spread.maximum, full.samples) == (12.30, 12.40, 1000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (strangers.OSU["7_validation"][0].replace("2.20 Pass", "2.20 Fail"), "some.out:5: these messages arrived changed"),
        (strangers.osu("MPI Non-blocking Barrier Latency", "Overall(us) Compute(us)", "8.85 5.04\n"), "a test of OSU's that is not read"),
        (strangers.osu("MPI Multiple Bandwidth / Message Rate", "Size MB/s Messages/s", "1 6.39 6385003.80\n"), "a test of OSU's that is not read"),
        (strangers.osu("OpenSHMEM Atomic Operation Rate", "Operation Million ops/s", "shmem_int_fadd 0.55\n"), "a test of OSU's that is not read"),
        (strangers.osu("MPI Init", "x", "nprocs: 2, min: 49 ms\n"), "MPI Init is a test of OSU's that is not read"),
        (strangers.OSU["5_barrier"][0] + "12.35\n12.36\n8 9\n", None),
        (strangers.OSU["5_allreduce"][0] + "node1: warning\n128 3.0\n", "'node1: warning' stands within a table"),
    ],
)
def test_osus_tests_that_tell_nothing_are_refused_by_name(text, words):
    if words is not None:
        assert words in refusal(text)
    else:  # a table without sizes has one row
        assert len(reading_of(text).measurements) == 1


def test_a_time_that_falls_by_half_as_sizes_grow_is_named():
    text = strangers.osu("MPI Latency", "Size Latency (us)", "8 2.10\n64 22.0\n128 2.30\n256 1.50\n")
    (said,) = [warning for warning in reading_of(text).warnings if "damaged" in warning]
    assert said == "some.out:6: 128 B take 2.3 us, less than half of the 22 us of 64 B. Is one of the rows damaged?"
    assert not [warning for warning in reading_of(strangers.OSU["7_multi_lat"][0] + "# Datatype: MPI_INT.\n8 0.5\n").warnings if "damaged" in warning]


def test_osus_table_for_each_datatype_is_a_run_of_its_own():
    text = strangers.OSU["7_multi_lat"][0] + "\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n8 3.00\n"
    reading = reading_of(text)
    assert [(m.run, m.values[0]) for m in reading.measurements] == [(0, 2.10), (0, 2.20), (1, 3.00)]
    assert [s.value for s in reading.settings if s.name == "datatype"] == ["MPI_CHAR", "MPI_INT"]
    once = strangers.OSU["7_header_first"][0] + "# Datatype: MPI_INT.\n8 3.00\n"
    assert [(m.run, m.values[0]) for m in reading_of(once).measurements] == [(0, 2.10), (0, 2.20), (1, 3.00)]
    # Whose second table is this? Its title is missing.
    assert "'# Size Latency (us)' stands within a table" in refusal(strangers.OSU_LATENCY + "# Size Latency (us)\n0 2.00\n")


# Lines of launchers


@pytest.mark.parametrize("table", ["osu", "epcc", "lat_mem_rd", "netpipe"])
@pytest.mark.parametrize("before", ["", *strangers.BEFORE])
@pytest.mark.parametrize("after", ["", *strangers.AFTER])
def test_lines_around_a_table_are_left_out_and_counted_once(table, before, after):
    texts = {"osu": strangers.OSU_LATENCY, "epcc": EPCC_4, "lat_mem_rd": LAT_MEM_RD, "netpipe": strangers.netpipe("")}
    around = (strangers.BEFORE.get(before, ""), strangers.AFTER.get(after, ""))
    reading = reading_of(around[0] + texts[table] + around[1])
    assert values(reading) == values(reading_of(texts[table]))
    lines = [line for line in "".join(around).split("\n") if line.strip()]
    warned = [warning for warning in reading.warnings if "around the tables" in warning]
    assert len(warned) == bool(lines)
    if lines:
        assert " ".join(lines[0].split())[:60] in warned[0] and (f"{len(lines)} lines" if len(lines) > 1 else "a line") in warned[0]


@pytest.mark.parametrize(
    ("text", "row"),
    [(strangers.OSU_LATENCY, "8  "), (LAT_MEM_RD, "0.00098"), (strangers.netpipe(""), "  2: "), (EPCC_4, "-" * 56 + "\nComputing FOR")],
)
@pytest.mark.parametrize("foreign", [*strangers.AFTER.values(), "hello\n"])
def test_a_line_within_a_table_is_refused_with_its_line(text, row, foreign):
    begin, found, rest = text.partition(row)
    assert found
    said = refusal(begin + foreign + found + rest)
    line = begin.count("\n") + 1 + foreign.startswith("\n")
    assert said.startswith(f"some.out:{line}: ") and foreign.split("\n")[foreign.startswith("\n")].split()[0] in said


@pytest.mark.parametrize("tag", ["[1,0]<stdout>:", "[prterun-n1-4242@1,0]<stdout>: ", "\x1b[32m"])
def test_names_of_processes_and_colours_before_each_line_are_left_out(tag, tmp_path):
    file = tmp_path / "osu.txt"
    file.write_text("".join(f"{tag}{line}\n" for line in strangers.OSU_LATENCY.split("\n")))
    assert values(read(file)) == values(reading_of(strangers.OSU_LATENCY))


def test_a_byte_order_mark_and_a_comment_of_latin_1_hide_no_table(tmp_path):
    file = tmp_path / "osu.txt"
    for before, encoding in (("\ufeff", "utf-8"), ("# Rechner: M\u00fcnchen\n", "latin-1")):
        file.write_bytes((before + strangers.OSU_LATENCY).encode(encoding))
        assert values(read(file)) == values(reading_of(strangers.OSU_LATENCY))


@pytest.mark.parametrize("rank", ["0: ", " 0: "])
@pytest.mark.parametrize("table", [strangers.OSU_LATENCY, strangers.netpipe(""), "option 1: GLOBAL_X = 17\n" + strangers.jiajia(2)])
def test_the_number_of_a_process_before_each_line_is_left_out_and_said_once(table, rank, tmp_path):
    file = tmp_path / "osu.txt"
    file.write_text(table)
    plain = read(file)  # NetPIPE counts its rows so
    file.write_text("".join(f"{rank}{line}\n" for line in table.split("\n")))
    reading = read(file)
    assert (reading.measurements, reading.settings) == (plain.measurements, plain.settings)
    assert "srun -l" in reading.warnings[0] and reading.warnings[1:] == plain.warnings


@pytest.mark.parametrize(
    ("text", "row"), [(strangers.OSU_LATENCY, "1048576 1x.3\n"), (strangers.OSU_LATENCY, "1048576 12.3.\n"), (strangers.OSU_LATENCY, "1048576 nan\n"), (LAT_MEM_RD, "9.00000 9,1\n")]
)
def test_a_damaged_last_row_is_no_line_after_the_table(text, row):
    text = text.rstrip("\n") + "\n"
    said = refusal(text + row)
    assert f"{row.strip()!r} looks like a damaged row of the table" in said and said.startswith(f"some.out:{text.count(chr(10)) + 1}: ")
    # Amid the table, too.
    begin, end = text.rsplit("\n", 2)[0], text.rsplit("\n", 2)[1]
    assert f"{row.strip()!r} looks like a damaged row of the table" in refusal(f"{begin}\n{row}{end}\n")


@pytest.mark.parametrize("column", ["Bitrate         Retr  Cwnd", "Bandwidth", "Bitrate"])
def test_iperfs_table_for_people_is_refused_with_the_option_for_json(column):
    rows = f"[ ID] Interval           Transfer     {column}\n[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    0   sender\n"
    said = refusal(f"Connecting to host n1, port 5201\n{rows}\niperf Done.\n")
    assert said.startswith("some.out:2: ") and "Run iperf3 with -J" in said


# LMbench


def test_lat_mem_rd_is_read_within_a_whole_result_of_lmbench():
    reading = reading_of(strangers.LMBENCH)
    sequential = {(m.keys["stride"], m.keys["memory_mib"]): m.values[0] for m in of(reading, "memory latency")}
    assert sequential == {(16, 0.00049): 1.5, (16, 0.00098): 1.6, (128, 0.00049): 1.7, (128, 1.0): 9.0}
    assert [m.values[0] for m in of(reading, "memory latency, random order")] == [1.51, 90.0]
    assert "lines around the tables are not lat_mem_rd's" in reading.warnings[-1]


# NetPIPE


@pytest.mark.parametrize("options", strangers.NETPIPE_MPI)
def test_lines_of_netpipes_options_over_mpi_are_its_own(options):
    reading = reading_of(strangers.netpipe(strangers.NETPIPE_MPI[options]))
    assert values(reading) == values(reading_of(strangers.netpipe(""))) and not reading.warnings
    assert [m.values[0] for m in of(reading, "bandwidth")] == [float(rate) for rate in strangers.NETPIPE_ROWS.values()]


def test_netpipes_streams_and_both_directions_are_no_messages_one_way():
    for lines in (strangers.NETPIPE_STREAM, strangers.NETPIPE_STREAM_3):
        stream = reading_of(strangers.netpipe(lines))
        assert {m.quantity for m in stream.measurements} == {"bandwidth"} and not stream.warnings
    for lines in (strangers.NETPIPE_BOTH, strangers.NETPIPE_BOTH_3):
        both = reading_of(strangers.netpipe(lines, directions=2))
        assert {m.quantity for m in both.measurements} == {"message time, both ways", "bandwidth, both ways"}
        (warning,) = both.warnings
        assert "sum, and no link's bandwidth" in warning
    assert "contradictory" in refusal(strangers.netpipe(strangers.NETPIPE_BOTH, directions=3))


def test_netpipe_4_and_5_are_read_in_their_units(tmp_path):
    assert values(reading_of(strangers.NETPIPE_4))[2:] == [("message time, one way", 2e-6, "s"), ("bandwidth", 16384.0, "Mbit/s")]
    assert values(reading_of(strangers.NETPIPE_5))[2:4] == [("message time, one way", 2.0, "us"), ("bandwidth", 16.384, "Gbit/s")]
    assert {m.unit for m in of(reading_of(strangers.netpipe("", unit=10**6)), "bandwidth")} == {"Mbit/s"}
    file = tmp_path / "np.txt"
    file.write_text(strangers.NETPIPE_5_PRINTED)  # in colours
    rows = [(m.keys["message_bytes"], m.values[0], m.unit) for m in read(file).measurements]
    assert rows == [
        *((1, 2.0, "us"), (1, 4.0, "Mbit/s"), (2, 2.0, "us"), (2, 8.0, "Mbit/s"), (4096, 2.0, "us"), (4096, 16.384, "Gbit/s")),
        *((1049000, 1.0, "ms"), (1049000, 8.389, "Gbit/s")),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (strangers.NETPIPE_5.replace("16.384", "17.384"), "4096 bytes in 2.00 us are not 17.384 Gbps"),
        (strangers.netpipe("").replace("15.26", "16.00"), "16.00 Mbps are of 2^20 bits here and of 10^6 elsewhere"),
        (strangers.netpipe("").replace("usec\n", "usec 12.00% CPU load\n", 1), "is no line of NetPIPE's that is read"),
        (strangers.netpipe("").replace("  0: ", "  1: "), "line 1 of NetPIPE's follows none"),
        (strangers.NETPIPE_4 + strangers.NETPIPE_5, "of two versions"),
    ],
)
def test_netpipe_of_any_version_that_contradicts_itself_is_refused(text, words):
    assert words in refusal(text)


# JIAJIA


@pytest.mark.parametrize("hosts", [1, 2, 3, 4, 5, 8, 16, 33])
@pytest.mark.parametrize("release", ["m", "v1", "between", "fork", "rdma"])
def test_jiajias_statistics_of_any_number_of_hosts_and_release_are_read(hosts, release):
    reading = reading_of(strangers.jiajia(hosts, release))
    sent = of(reading, "Msgs Sent")
    assert [m.values[0] for m in sent] == [10 * (host + 1) for host in range(hosts)]
    assert {m.unit for m in of(reading, "Barrier time")} == {"s" if release == "v1" else "ms"}
    assert len(of(reading, "|--|--creatdir")) == (release in ("fork", "rdma"))
    assert bool(of(reading, "|--|-- connect")) == (release == "rdma")
    assert bool(reading.warnings) == (release != "m")


def test_jiajias_seconds_of_the_original_release_are_costs_in_seconds():
    # 2 s a host, of 10 + 20 faults at home: 4 s / 30.
    assert jiajia.fit([reading_of(strangers.jiajia(2, "v1"))]).local_fault.us == pytest.approx(4e6 / 30)
    assert jiajia.fit([reading_of(strangers.jiajia(2, "fork"))]).local_fault.us == pytest.approx(4e3 / 30)


# iperf3


@pytest.mark.parametrize("streams", [2, 3, 8])
def test_buffers_repeated_for_each_stream_hide_nothing(streams):
    text = strangers.buffers_by_stream(strangers.iperf3(streams, version="3.12"))
    assert text.count("sock_bufsize") == streams
    assert [m.values[0] for m in of(reading_of(text), "bandwidth")] == [streams * 1e9] * 2
    repeated = text.replace('"version"', '"version": "iperf 3.11", "version"')
    assert "'version' is there twice" in refusal(repeated)


@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("before", ["iperf3: warning\n", *strangers.BEFORE.values()])
def test_lines_before_a_json_document_are_left_out_and_said(before, indent):
    document = strangers.iperf3(8)
    text = json.dumps(document, indent=indent)
    reading = reading_of(before + text)
    assert values(reading) == values(reading_of(text))
    first = before.split("\n")[0]
    assert reading.warnings[0].startswith("some.out:1: ") and repr(" ".join(first.split())[:60]) in reading.warnings[0]
    if indent:  # a table and a document: neither is thrown away
        assert reading_of(strangers.OSU_LATENCY + text).format != reading.format
    assert reading.measurements[0].place.line == reading_of(text).measurements[0].place.line + before.count("\n")


@pytest.mark.parametrize("form", ["json", "stream", "full stream", "twice", "twice in a line"])
@pytest.mark.parametrize("streams", [1, 3])
def test_iperf3s_forms_of_one_run_are_one_run(form, streams):
    document = strangers.iperf3(streams)
    once = json.dumps(document, indent=1) + "\n"
    text = {"json": once, "stream": strangers.json_stream(document), "twice": once * 2, "twice in a line": once.strip() * 2, "full stream": strangers.json_stream(document) + once}[form]
    reading = reading_of(text)
    assert values(reading) == values(reading_of(once))
    for m in of(reading, "bandwidth"):
        assert "bits_per_second" in text.split("\n")[m.place.line - 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps(strangers.iperf3(1)) + "\n" + json.dumps(strangers.iperf3(2)), "some.out:2: 2 JSON documents in one file. Give each"),
        (strangers.json_stream(strangers.iperf3()) * 2, "some.out:5: event 'start' is out of order. Give each run"),
        (strangers.json_stream(strangers.iperf3()).partition('{"event": "end"')[0], "Was the benchmark stopped?"),
        (strangers.json_stream(strangers.iperf3()) + "iperf Done.\n", "some.out:5: no event of iperf3's --json-stream"),
        ('{"event": "start", "data": {"version": "iperf 3.17"}}\n{"event": "error", "data": "no route"}\n{"event": "end", "data": {}}\n', 'some.out:2: iperf3 failed: "no route". Give the output of a run that succeeded'),
        (json.dumps(strangers.iperf3(bidir=1)), "a run in both directions at once (--bidir)"),
        (json.dumps(strangers.iperf3()).replace('"sum_received"', '"sum_sent_bidir_reverse"'), "a run in both directions at once (--bidir)"),
    ],
)
def test_several_runs_of_iperf3_are_refused_with_the_cause(text, words):
    assert words in refusal(text)


@pytest.mark.parametrize("streams", [1, 2])
def test_a_round_trip_of_0_was_not_measured(streams):
    document = strangers.iperf3(streams, trip=None, is_sender=False)
    for interval in document["intervals"]:
        interval["streams"][0]["rtt"] = 0
    reading = reading_of(json.dumps(document))
    assert not [m for m in reading.measurements if m.quantity.startswith("round-trip")]
    assert fit([reading], BASE)[1] is None and pieces([reading], BASE)
    some = strangers.iperf3(streams)
    some["end"]["streams"][0]["sender"]["min_rtt"] = 0
    assert of(reading_of(json.dumps(some)), "round-trip time, whole run")[0].spread.minimum is None


@pytest.mark.parametrize(
    ("protocol", "test", "is_sender", "bandwidth", "words"),
    [
        ("TCP", {}, True, 1e9, None),
        ("TCP", {"target_bitrate": 0, "fqrate": 0}, True, 1e9, None),
        ("TCP", {"target_bitrate": 10**8}, True, None, "a rate of 100000000 bit/s was asked for"),
        ("TCP", {"target_bitrate": 0, "fqrate": 10**8}, True, None, "without --fq-rate"),
        ("TCP", {"target_bitrate": 10**8}, False, None, "without --bitrate"),
        ("UDP", {}, True, None, "1 Mbit/s unless given"),
        ("UDP", {"target_bitrate": 1048576}, True, None, "a rate of 1048576 bit/s was asked for"),
        ("UDP", {"target_bitrate": 0}, True, 6e8, None),  # what arrived, not what was sent
        ("UDP", {"target_bitrate": 0}, False, 1e9, None),  # intervals of the receiver
    ],
)
def test_only_what_a_link_carried_without_a_limit_is_its_bandwidth(protocol, test, is_sender, bandwidth, words):
    document = strangers.iperf3(protocol=protocol, is_sender=is_sender, **test)
    received = document["end"]["sum_received"]
    if protocol == "UDP":
        document["end"]["sum"] = document["end"]["sum_sent"] | {"jitter_ms": 0, "lost_packets": 40, "packets": 100}
        if is_sender:
            received |= {"bytes": 150_000_000, "bits_per_second": 6e8}
    reading = reading_of(json.dumps(document))
    rate, _ = fit([reading], BASE)
    framing = (BASE.frame.payload + BASE.frame.overhead) / BASE.frame.payload
    assert (None if rate is None else rate.estimate.value) == (bandwidth and pytest.approx(bandwidth * framing))
    warned = " ".join(reading.warnings)
    assert (words or "") in warned and ("asked" in warned) == (words is not None)
    assert ("40 of 100 datagrams were lost" in warned) == (protocol == "UDP")


def test_udp_of_which_only_the_sender_reports_gives_no_bandwidth():
    document = strangers.iperf3(protocol="UDP", target_bitrate=0)
    sent = document["end"].pop("sum_sent")
    del document["end"]["sum_received"]
    # Up to 3.9: the receiver's seconds beside the sender's rate.
    document["end"]["sum"] = sent | {"seconds": 2.4, "end": 2.4, "jitter_ms": 0.01, "lost_packets": 0, "packets": 40}
    reading = reading_of(json.dumps(document))
    assert fit([reading], BASE)[0] is None and "only the sender's rate is known" in " ".join(reading.warnings)
    assert [m.values[0] for m in of(reading, "bandwidth, whole run")] == [1e9]
    document["end"]["sum"]["bits_per_second"] = 2e9
    assert "bits_per_second is 2e+09, but 1e+09 over the streams" in refusal(json.dumps(document))


@pytest.mark.parametrize(("jitter", "lost", "read_as"), [(0, -2, {"packets": 100}), (0.25, 3, {"jitter": 0.25, "lost packets": 3, "packets": 100})])
def test_numbers_of_datagrams_that_were_not_measured_are_left_out(jitter, lost, read_as):
    document = strangers.iperf3(protocol="UDP", target_bitrate=0, trip=None)
    document["end"]["sum"] = document["end"]["sum_sent"] | {"jitter_ms": jitter, "lost_packets": lost, "packets": 100}
    reading = reading_of(json.dumps(document))
    assert {m.quantity: m.values[0] for m in reading.measurements if "bandwidth" not in m.quantity} == read_as


def test_streams_of_an_interval_may_end_at_times_of_their_own():
    document = strangers.iperf3(2)
    late = document["intervals"][0]["streams"][1]
    late |= {"end": 1.0255, "seconds": 1.0255, "bits_per_second": late["bytes"] * 8 / 1.0255}
    assert [m.values[0] for m in of(reading_of(json.dumps(document)), "bandwidth")] == [2e9, 2e9]
    document["intervals"][0]["streams"][1]["bytes"] //= 2
    assert "contradictory units" in refusal(json.dumps(document))


@pytest.mark.parametrize("rate", [941234567.891, 8.76543219e8, 123456.789])
def test_six_digits_agree_where_iperf3_printed_no_more(rate):
    document = strangers.iperf3(2, rate=rate, version="3.0.11")
    reading = reading_of(strangers.six_digits(document))
    assert [m.values[0] for m in of(reading, "bandwidth")] == [pytest.approx(2 * rate, rel=1e-5)] * 2
    document["intervals"][0]["sum"]["bits_per_second"] *= 1.0001
    assert "contradictory units" in refusal(strangers.six_digits(document))


@pytest.mark.parametrize(("count", "words"), [(0, None), (-1, None), (1, "1 segment was sent again"), (730, "730 segments were sent again: the network lost packets")])
def test_segments_sent_again_are_reported(count, words):
    document = strangers.iperf3()
    document["end"]["sum_sent"]["retransmits"] = count
    warned = " ".join(reading_of(json.dumps(document)).warnings)
    assert (words or "") in warned and ("again" in warned) == (words is not None)


def test_a_link_that_carried_nothing_has_no_bandwidth():
    document = strangers.iperf3(rate=0)
    assert fit([reading_of(json.dumps(document))], BASE)[0] is None


def test_intervals_of_iperf3_that_contradict_its_end_are_refused():
    document = strangers.iperf3()
    document["intervals"][1] = strangers.iperf3(rate=1e7)["intervals"][1]
    said = refusal(json.dumps(document, indent=1))
    assert "the intervals hold 126250000 bytes, but sum_sent says 250000000" in said and not said.startswith("some.out:1:")


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize(
    ("part", "intervals", "bandwidth", "words"),
    [
        (0.98, 2, 1e9, None),  # the rest lies in buffers
        (0.5, 2, 5e8, "bit/s arrived"),
        (0.5, 0, 5e8, "no intervals, so the bandwidth is that of the whole run"),
        (0.0, 0, 1e9, "no intervals, so the bandwidth is that of the whole run"),  # a receiver that reported nothing
        (1.2, 2, None, "more bytes arrived than were sent"),
    ],
)
def test_the_bandwidth_of_tcp_is_what_arrived(part, intervals, bandwidth, words, streams):
    document = strangers.iperf3(streams)
    document["intervals"] = document["intervals"][:intervals]
    arrived = strangers.iperf3(streams, rate=part * 1e9)["end"]
    document["end"]["sum_received"] = arrived["sum_received"]
    for stream, other in zip(document["end"]["streams"], arrived["streams"], strict=True):
        stream["receiver"] = other["receiver"]
    if bandwidth is None:
        assert words in refusal(json.dumps(document))
        return
    reading = reading_of(json.dumps(document))
    framing = (BASE.frame.payload + BASE.frame.overhead) / BASE.frame.payload
    assert fit([reading], BASE)[0].estimate.value == pytest.approx(streams * bandwidth * framing)
    assert (words or "") in " ".join(reading.warnings) and (words is not None or not [w for w in reading.warnings if "bandwidth" in w])


def test_a_run_that_mostly_stood_still_tells_no_bandwidth():
    document = strangers.iperf3()
    document["intervals"] = [strangers.iperf3(rate=rate)["intervals"][0] for rate in (0, 2e9, 0)]
    reading = reading_of(json.dumps(document))
    assert fit([reading], BASE)[0] is None and "nothing passed in most intervals" in " ".join(reading.warnings)
