"""Does `sdsm calibrate` prove what it writes, and fail where the simulator does not give back what was measured?"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import subprocess
from pathlib import Path

import pytest

from own_cluster import iperf3
from sdsm.base import costs
from sdsm.calibrate.command import _read, main
from sdsm.platform.platform_file import cluster, parse, platform_text, prop, properties
from synthetic_cluster import draw, simulated_us, write_outputs
from tests.traces import traced

ROOT = Path(__file__).resolve().parents[2]
SDSM = ROOT / "build" / "sdsm"
DATA = Path(__file__).resolve().parent / "data"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    cluster = draw(7)
    return write_outputs(cluster, simulated_us(cluster, folder), 0.02, 7, folder)


@pytest.fixture(scope="module")
def calibrated(outputs, tmp_path_factory):
    """A folder with p.xml, r.json and plots, and what was printed."""
    folder, shown = tmp_path_factory.mktemp("calibrated"), io.StringIO()
    options = ["--report", str(folder / "r.json"), "--plot", str(folder), "--hold-out", "0.3"]
    with contextlib.redirect_stdout(shown):
        assert main([*map(str, outputs), "-o", str(folder / "p.xml"), *options]) == 0
    return folder, shown.getvalue()


def test_outputs_of_a_cluster_give_a_platform_that_gives_them_back(outputs, calibrated):
    folder, shown = calibrated
    files = [str(file) for file in outputs]
    assert subprocess.run([str(SDSM), "check", folder / "p.xml"], capture_output=True).returncode == 0
    document = json.loads((folder / "r.json").read_text())
    assert document["gate"]["passes"] and len(document["gate"]["rows"]) == 10 + 3 + 3 + 6 + 1 + 1
    for p in document["parameters"]:
        assert set(p) == {"name", "value", "unit", "standard_error", "samples", "kind", "how", "sources", "runs"}
        assert p["kind"] == "assumed" or (p["standard_error"] is not None and p["sources"]), p
    assert [f["file"] for f in document["files"]] == files and all(len(f["sha256"]) == 64 for f in document["files"])
    assert document["hold_out"]["median_relative_error"] < 0.02
    assert document["hold_out"]["within_90_percent_band"] > 0.7
    for name in ("calibration.svg", "calibration.png"):
        assert (folder / name).stat().st_size > 1000
    svg = (folder / "calibration.svg").read_text()
    assert "release.256" in svg and "fault.RUMR" in svg and "simulated" in svg
    assert "held out" in shown and "--jitter" in shown


def test_the_same_files_give_the_same_bytes(outputs, calibrated, tmp_path):
    options = ["--report", str(tmp_path / "r.json"), "--hold-out", "0.3"]
    assert main([*map(str, outputs), "-o", str(tmp_path / "p.xml"), *options]) == 0
    for name in ("p.xml", "r.json"):
        assert (tmp_path / name).read_bytes() == (calibrated[0] / name).read_bytes()


def test_the_platform_file_holds_each_standard_error_and_the_range_that_was_measured(calibrated):
    document, given = json.loads((calibrated[0] / "r.json").read_text()), properties(parse(calibrated[0] / "p.xml"))
    errors = {p["name"]: p for p in document["parameters"] if p["standard_error"] is not None}
    assert {name for name in given if name.endswith(".standard-error")} == {f"{name}.standard-error" for name in errors}
    assert {"fault.RUMR", "message.per-byte", "lock.4x1", "local-part.home-share", "reference.bandwidth"} <= set(errors)
    for name, p in errors.items():
        unit = "" if p["unit"] == "1" else p["unit"]
        written = given[f"{name}.standard-error"]
        assert written.endswith(unit)
        assert float(written.removesuffix(unit)) == pytest.approx(p["standard_error"], rel=1e-5)
    (covariance,) = document["covariance"]
    assert covariance["of"] == ["message.fixed", "message.per-byte"]
    fixed, per_byte = (errors[name]["standard_error"] for name in covariance["of"])
    assert float(given["message.correlation"]) == pytest.approx(covariance["value"] / fixed / per_byte, rel=1e-5)
    assert -1 < float(given["message.correlation"]) < 0
    assert (given["calibrated.nodes"], given["calibrated.threads-per-node"]) == ("4", "2")
    # One run of 1024 words; or of 256 where only diffs of one message lie on a line.
    largest = 4108 if any(row["name"] == "release.1024" for row in document["gate"]["rows"]) else 1036
    assert given["calibrated.diff"] == f"{largest}B"


def test_a_prediction_on_a_calibrated_platform_has_a_band(calibrated):
    program = (ROOT / "build" / "workloads" / "laplace", "--impl", 4, "--size", 64, "--iterations", 3, "--no-check")
    out, trace = str(calibrated[0] / "p.xml"), str(traced(2, *program, options=()))
    command = [str(SDSM), "simulate", trace, "-p", out, "-n", "2", "--uncertainty", "20", "--json", "-"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=600).stdout)
    band = result["uncertainty"]
    assert band["low_5_percent_s"] < band["median_s"] < band["high_95_percent_s"]
    assert set(band["draws"][0]["parameters"]) == set(band["standard_errors"])
    assert result["outside_calibration"] == []


def test_a_base_files_costs_keep_its_range_and_have_no_error(outputs, tmp_path):
    # Only the network is measured: faults and messages are the base's.
    base, out = tmp_path / "base.xml", tmp_path / "p.xml"
    reported = '<prop id="calibrated.nodes" value="2"/><prop id="calibrated.diff" value="1036B"/>'
    platform = (ROOT / "platforms" / "one-machine.xml").read_text()
    base.write_text(platform.replace('<prop id="lock.2x1"', reported + '<prop id="lock.2x1"'))
    network = [str(file) for file in outputs if file != outputs[0]]
    assert main([*network, "--base", str(base), "-o", str(out)]) == 0
    given = properties(parse(out))
    assert (given["calibrated.nodes"], given["calibrated.diff"]) == ("2", "1036B")
    assert not any(name.endswith(".standard-error") for name in given)
    assert subprocess.run([str(SDSM), "check", str(out)], capture_output=True).returncode == 0


def test_releases_that_are_no_line_fail_and_the_parameter_is_named(outputs, tmp_path, capsys):
    document = json.loads(outputs[0].read_text())
    generator = random.Random(3)
    for part in document["layouts"].values():
        part["samples_ns"]["release.64"] = [3e6 * generator.gauss(1, 0.001) for _ in range(50)]
    odd = tmp_path / "odd.json"
    odd.write_text(json.dumps(document))
    out = tmp_path / "p.xml"
    assert main([str(odd), str(outputs[1]), "-o", str(out), "--report", str(tmp_path / "r.json")]) == 1
    reported = capsys.readouterr().err
    assert "release.64: message.fixed and message.per-byte does not give back what was measured" in reported
    assert out.exists()
    gate = json.loads((tmp_path / "r.json").read_text())["gate"]
    assert not gate["passes"]
    assert "release.64" in {row["name"] for row in gate["rows"] if not row["passes"]}


def test_costs_below_their_messages_are_reported_as_a_contradiction(outputs, tmp_path, capsys):
    base = ROOT / "platforms" / "ethernet-10mbit.xml"
    out = tmp_path / "p.xml"
    assert main([str(DATA / "sdsm" / "microbench.system.json"), "--base", str(base), "-o", str(out)]) == 2
    reported = capsys.readouterr().err.splitlines()[-1]
    assert reported.startswith(f"sdsm: {base}: ") and "contradict each other" in reported and "messages alone take" in reported
    assert "exit status" not in reported and str(out) not in reported and not out.exists()


def test_a_base_file_with_a_host_of_no_number_of_processors_is_named(tmp_path, capsys):
    base, out = tmp_path / "base.xml", tmp_path / "p.xml"
    base.write_text((ROOT / "platforms" / "one-machine.xml").read_text().replace('speed="1Gf"', 'speed="1Gf" core="1e-09"', 1))
    assert main([str(DATA / "sdsm" / "microbench.system.json"), "--base", str(base), "-o", str(out)]) == 2
    assert "base.xml: host 'node-0' has '1e-09' processors" in capsys.readouterr().err
    assert not out.exists()


LINK = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="1Gbps" latency="5us"/><link id="m" bandwidth="1Gbps" latency="5us"/>'
PEERS = ''.join(f'<peer id="{id}" speed="1Gf" bw_in="1Gbps" bw_out="1Gbps" coordinates="{at} 0 0"/>' for id, at in (("a", 0), ("b", 1)))


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        ('<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1Gbps" lat="5us"/>', None),
        ('<zone id="A" routing="Full"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1Gbps" lat="5us"/></zone>', None),
        (f'<zone id="A" routing="Full">{LINK}<route src="a" dst="b"><link_ctn id="l"/><link_ctn id="m"/></route></zone>', None),
        (f'{LINK}<route src="a" dst="b"><link_ctn id="l"/></route>', "passes 1 link, but reference.links says 2"),
        (f'<zone id="A" routing="Vivaldi">{PEERS}</zone>', "of <peer>s: it holds no <link> and no <cluster>, so the measured network has no place"),
    ],
)
def test_a_measured_network_gets_into_the_base_files_links_wherever_they_are(topology, words, tmp_path, capsys):
    head, _, rest = (ROOT / "platforms" / "gigabit.xml").read_text().partition("<cluster")
    base, made = tmp_path / "base.xml", tmp_path / "made.xml"
    base.write_text(head + topology + rest.partition("/>")[2])
    (tmp_path / "iperf3.json").write_text(iperf3(941e6, 120))
    status = main([str(tmp_path / "iperf3.json"), "--base", str(base), "-o", str(made)])
    assert (status, made.exists()) == ((0, True) if words is None else (2, False))
    assert (words or "") in capsys.readouterr().err
    if words is None:
        assert set(re.findall(r'(?:bw|bandwidth)="([^"]+)" lat(?:ency)?="([^"]+)"', made.read_text())) == {("937.386Mbps", "29.3343us")}


def test_a_cluster_too_small_for_the_layouts_leaves_them_unproved(outputs, tmp_path, capsys):
    base = tmp_path / "pair.xml"
    network = [prop("reference.bandwidth", "100Gbps"), prop("reference.latency", "0us"), prop("reference.links", "2")]
    base.write_text(platform_text("Pair.", "pair", [*network, *cluster(2, "1Gf", 2, "100Gbps", "0us", "H.", "L.")]))
    files = [str(file) for file in outputs]
    assert main([*files, "--base", str(base), "-o", str(tmp_path / "p.xml")]) == 1
    assert "barrier.4x1: the base file's cluster has no room to re-run it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nowhere.json", "-o", "o.xml"], "nowhere.json"),
        (["text.json", "-o", "o.xml"], "text.json:1"),
        (["text.json"], "Give -o"),
        (["m.json", "m.json", "-o", "o.xml"], "m.json is given twice"),
        (["osu.out", "-o", "o.xml"], "osu.out has one output twice"),
        (["m.json", "copy.json", "-o", "o.xml"], "m.json and copy.json are one output, given twice"),
        (["m.json", "formatted.json", "-o", "o.xml"], "m.json and formatted.json are one output, given twice"),
        (["np.out", "epcc.out", "longer.out", "-o", "o.xml"], "epcc.out and longer.out are one output, given twice"),
        (["np.out", "twice.out", "-o", "o.xml"], "twice.out has one output twice"),
        (["m.json", "part.json", "-o", "o.xml"], "m.json and part.json are one output, given twice"),
        (["epcc.out", "-o", "o.xml", "--layout", "2x2"], "--layout 2x2 is of 4 threads, and no file's run is: EPCC's runs are of 2 threads"),
        (["m.json", "-o", "o.xml", "--base", "none/none.xml"], "none.xml"),
        (["m.json", "-o", "o.xml", "--base", "text.json"], "not XML"),
        (["m.json", "-o", "o.xml", "--build", "nowhere"], "does not exist"),
        (["printed.json", "-o", "o.xml"], "does not say on which layout"),
        (["np.out", "-o", "o.xml", "--base", "bare.xml"], "no page fault"),
        (["np.out", "-o", "o.xml", "--base", "frame.xml"], "frame.xml: reference network: frame.payload '1e20B'"),
    ],
)
def test_unusable_input_gives_one_line_and_status_2(tmp_path, monkeypatch, capsys, arguments, what):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.json").write_text("hello")
    for name in ("m.json", "copy.json"):
        (tmp_path / name).write_bytes((DATA / "sdsm" / "microbench.system.json").read_bytes())
    (tmp_path / "formatted.json").write_text(json.dumps(json.loads((tmp_path / "m.json").read_text())))
    (tmp_path / "printed.json").write_bytes((DATA / "sdsm" / "microbench.printed.2x1.json").read_bytes())
    epcc = [(DATA / "epcc" / f"v31.syncbench.gcc.{threads}.out").read_text() for threads in (1, 2)]
    (tmp_path / "epcc.out").write_text(epcc[1])
    (tmp_path / "longer.out").write_text("".join(epcc))
    (tmp_path / "twice.out").write_text(epcc[1] + epcc[1])
    (tmp_path / "osu.out").write_text("# OSU MPI Latency Test v5.8\n# Size Latency (us)\n0 2.00\n8 2.10\n64 2.20\n1024 2.90\n" * 2)
    part = json.loads((tmp_path / "m.json").read_text())
    for one in part["layouts"].values():
        one["samples_ns"] = {name: values[10:] or values for name, values in one["samples_ns"].items() if name != "barrier"}
    (tmp_path / "part.json").write_text(json.dumps(part))
    (tmp_path / "np.out").write_bytes((DATA / "network" / "netpipe.loopback.out").read_bytes())
    network = [prop("reference.bandwidth", "1Gbps"), prop("reference.latency", "5us"), prop("reference.links", "2")]
    bare = platform_text("Bare.", "bare", [*network, *cluster(2, "1Gf", 2, "1Gbps", "5us", "Hosts.", "Cables.")])
    (tmp_path / "bare.xml").write_text(bare)
    (tmp_path / "frame.xml").write_text(bare.replace("<prop", '<prop id="frame.payload" value="1e20B"/><prop', 1))
    before = (tmp_path / "m.json").read_bytes()
    assert main(arguments) == 2
    reported = [line for line in capsys.readouterr().err.splitlines() if "untried" not in line]
    assert len(reported) == 1 and what in reported[0] and reported[0].startswith("sdsm: ")
    assert not (tmp_path / "o.xml").exists()
    assert (tmp_path / "m.json").read_bytes() == before


@pytest.mark.parametrize("rates", [("11.21", "11.21"), ("11.21", "11.22")])
def test_a_few_rounded_numbers_are_no_proof_of_a_copy(tmp_path, rates):
    files = [tmp_path / f"{number}.out" for number in range(len(rates))]
    for file, rate in zip(files, rates, strict=True):
        file.write_text(f"# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1048576     {rate}\n")
    assert [len(reading.measurements) for reading in _read([str(file) for file in files])] == [1, 1]


SLIPS = [["--hold-out", "1"], ["--hold-out", "x"], ["--layout", "2"], ["--seed", "-1"], ["--what"]]


@pytest.mark.parametrize("option", SLIPS)
def test_slips_on_the_command_line_give_one_line_and_status_2(capsys, option):
    with pytest.raises(SystemExit) as ended:
        main(["m.json", "-o", "o.xml", *option])
    assert ended.value.code == 2
    reported = capsys.readouterr().err
    assert len(reported.splitlines()) == 1 and reported.startswith("sdsm: ")


def test_barriers_alone_are_calibrated_on_a_base_that_has_the_rest_and_held_out(outputs, tmp_path, capsys):
    document = json.loads(outputs[0].read_text())
    for part in document["layouts"].values():
        part["samples_ns"] = {"barrier": part["samples_ns"]["barrier"]}
    barriers = tmp_path / "barriers.json"
    barriers.write_text(json.dumps(document))
    report = tmp_path / "r.json"
    base = str(ROOT / "platforms" / "p3-score.xml")
    arguments = [str(barriers), "--base", base, "-o", str(tmp_path / "p.xml"), "--report", str(report)]
    assert main([*arguments, "--hold-out", "0.5"]) == 0
    found = json.loads(report.read_text())
    assert [row["name"] for row in found["hold_out"]["rows"]] == ["barrier.2x1", "barrier.2x2", "barrier.4x1"]
    kinds = {p["name"]: p["kind"] for p in found["parameters"]}
    assert kinds["barrier.2x1"] == "measured" and kinds["fault.RUMR"] == kinds["lock.4x1"] == "assumed"


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("/dev/null", "/dev/null: neither a file nor a pipe. Name a benchmark's output"),
        ("/", "/: a folder. Name the files in it"),
        ("nothing.json", "nothing.json: No such file or directory. Name a benchmark's output"),
    ],
)
def test_what_cannot_be_read_is_reported_with_one_advice(tmp_path, capsys, monkeypatch, name, reported):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(costs, "_asker", costs._asker)  # put back: --build changes it for the process
    (tmp_path / "sdsm").write_text("")
    assert main([name, "-o", "p.xml", "--build", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"sdsm: {reported}\n"


def test_the_platform_names_the_costs_that_nobody_measured(tmp_path):
    out = tmp_path / "p.xml"
    main([str(ROOT / "tests" / "python" / "data" / "sdsm" / "microbench.system.json"), "-o", str(out)])
    text = out.read_text()
    assumed = set(re.findall(r'<!-- assumed: .*-->\n\s*<prop id="(fault\.[A-Z]{4}|message[.a-z-]*|(?:barrier|lock)\.\dx\d)"', text))
    named = re.search(r'"costs.assumed" value="([^"]*)"', text)
    assert assumed and named and set(named[1].split()) == assumed | {"jiajia.*"}
    assert subprocess.run([ROOT / "build" / "sdsm", "check", out], check=False).returncode == 0
