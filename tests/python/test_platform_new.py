"""`sdsm platform new`: does it write clusters that `sdsm check` takes, with the costs of one platform on the network of another?"""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from sdsm.base.places import PLATFORMS
from sdsm.platform.command import main
from sdsm.platform.derived import jiajia
from sdsm.platform.derived import properties as properties_of
from sdsm.platform.networks import NETWORKS
from sdsm.platform.platform_file import parse, properties

ROOT = Path(__file__).resolve().parents[2]
SDSM = ROOT / "build" / "sdsm"
#: One frame of 1460 + 78 bytes crosses two links, store and forward: 2 x (1538 B / bandwidth + latency).
FRAME_US = {
    "100mbit": 2 * (123.04 + 5),
    "gigabit": 2 * (12.304 + 2.5),
    "10gbe": 2 * (1.2304 + 0.125),
    "25gbe": 2 * (0.49216 + 0.15),
    "infiniband": 2 * (0.11888 + 0.05),  # 1460 + 26 B, as a packet has 4096
}


@pytest.mark.parametrize("network", [one.name for one in NETWORKS])
@pytest.mark.parametrize("source", ["one-machine", "p3-score"])
def test_messages_take_what_the_network_says_and_costs_are_the_other_platforms(tmp_path, network, source):
    file = tmp_path / "new.xml"
    assert main(["new", "--nodes", "5", "--cores", "3", "--network", network, "--from", source, "-o", str(file)]) == 0
    given, made = properties(parse(ROOT / "platforms" / f"{source}.xml")), properties(parse(file))
    if network != "infiniband":
        assert {name: value for name, value in made.items() if name in given} == given
        assert all(name.startswith("jiajia.") or name == "costs.assumed" for name in made.keys() - given.keys())
    checked = subprocess.run([SDSM, "check", file], capture_output=True, text=True)
    assert checked.returncode == 0 and " 5 hosts" in checked.stdout, checked.stderr
    replay = [SDSM, "replay", file, "--only", "network", "--messages", "1460", "--json", "-"]
    (row,) = json.loads(subprocess.run(replay, capture_output=True, check=True).stdout)["rows"]
    assert row["simulated_s"] == pytest.approx(FRAME_US[network] * 1e-6, abs=2e-12)


@pytest.mark.parametrize("network", ["gigabit", "25gbe", "infiniband"])
def test_the_platforms_here_are_what_the_command_writes(capsys, network):
    assert main(["new", "--nodes", "64", "--network", network]) == 0
    assert capsys.readouterr().out == (ROOT / "platforms" / f"{network}.xml").read_text()


def test_rdma_replaces_messages_and_fetches_by_published_ones(capsys):
    assert main(["new", "--nodes", "2", "--network", "infiniband"]) == 0
    made = properties(ElementTree.fromstring(capsys.readouterr().out))
    given = properties(parse(PLATFORMS / "one-machine.xml"))
    # 32 B in 0.82 us and 4 KiB in 2.26: (2.26 - 0.82) / 4064 us/B, and 0.82 us less 32 of them.
    assert (made["message.fixed"], made["message.per-byte"]) == ("0.808661us", "0.000354us/B")
    # A trap of 7.048 us, two messages of which one has a page of 4096 B, and a twin of 33.2365 - 23.0735 us.
    assert (made["fault.RUMR"], made["fault.WUMR"], made["fetch.home-share"]) == ("10.116661us", "20.279661us", "0")
    # 64 B take 0.831339 us instead of 29.8211.
    assert (made["barrier.2x1"], made["lock.2x1"]) == ("2.702922us", "0.781365us")
    assert made["jiajia.fault.RUMR"] == made["fault.RUMR"] and made["fault.WROH"] == given["fault.WROH"]
    assert {"fault.RUMR", "message.fixed", "barrier.2x1", "jiajia.*"} <= set(made["costs.assumed"].split())
    assert main(["new", "--nodes", "2", "--network", "infiniband", "--from", "p3-jiajia"]) == 2
    assert "costs of RDMA are made from SCASH's" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("of", "by", "what"),
    [
        ('<prop id="message.per-byte" value="[^"]*', '<prop id="message.per-byte" value="354ps/B', ""),
        ('<prop id="frame.payload"', '<prop id="page.size" value="16384"/><prop id="frame.payload"', ""),
        ('<prop id="fault.WUMR"[^>]*>', "", "no property 'fault.WUMR'"),
        ('(message.(fixed|per-byte)" value=")[0-9.]*', r"\g<1>0", "its messages take no time"),
    ],
)
def test_costs_in_all_units_make_those_of_rdma_or_are_refused(tmp_path, capsys, of, by, what):
    file = tmp_path / "p.xml"
    file.write_text(re.sub(of, by, (PLATFORMS / "one-machine.xml").read_text()))
    assert main(["new", "--nodes", "2", "--network", "infiniband", "--from", str(file)]) == (2 if what else 0)
    assert what in capsys.readouterr().err


def test_costs_of_rdma_are_not_put_on_a_network_without(capsys):
    assert main(["new", "--nodes", "2", "--network", "gigabit", "--from", "infiniband"]) == 2
    assert "its costs are those of RDMA, and gigabit has none" in capsys.readouterr().err


def test_the_shipped_platforms_of_todays_machines_have_costs_of_all_protocols():
    for name in ("one-machine", "ethernet-10mbit", "gigabit", "25gbe", "infiniband"):
        given = properties(parse(PLATFORMS / f"{name}.xml"))
        assert {"fault.RUMR", "jiajia.fault.RUMR", "hardware.barrier.2"} <= given.keys()
        # JIAJIA's come from SCASH's by one rule, which also made the Pentium III cluster's.
        derived = properties_of(jiajia(given))
        assert {name: given[name] for name in derived} == derived
    derived = properties_of(jiajia(properties(parse(PLATFORMS / "p3-score.xml"))))
    assert derived.items() <= properties(parse(PLATFORMS / "p3-jiajia.xml")).items()


def test_processors_are_those_of_the_other_platform_unless_given(tmp_path, capsys):
    assert main(["new", "--nodes", "2", "--network", "gigabit", "--from", "p3-score"]) == 0
    assert 'core="2"' in capsys.readouterr().out
    # What it has written, it takes as a source.
    file = tmp_path / "first.xml"
    assert main(["new", "--nodes", "65536", "--cores", "7", "--network", "gigabit", "-o", str(file)]) == 0
    assert main(["new", "--nodes", "2", "--network", "25gbe", "--from", str(file)]) == 0
    assert 'core="7"' in capsys.readouterr().out


def test_every_figure_has_its_source_in_the_file_and_in_the_list(capsys):
    assert main(["--list"]) == 0
    reported = capsys.readouterr().out
    for one in NETWORKS:
        assert main(["new", "--nodes", "2", "--network", one.name]) == 0
        text = capsys.readouterr().out
        assert one.bandwidth in text and one.latency in text
        for line in (*one.bandwidth_from.splitlines(), *one.latency_from.splitlines()):
            assert line in text and line in reported


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "sdsm platform new --nodes 64 --network 25gbe"),
        (["new", "--network", "gigabit"], "sdsm platform new --nodes 64 --network 25gbe"),
        (["new", "--nodes", "2", "--network", "gigabit", "--from", "none/nowhere.xml"], "nowhere.xml"),
        (["new", "--nodes", "2", "--network", "gigabit", "--from", "/"], "/"),
        (["new", "--nodes", "2", "--network", "gigabit", "-o", "/nowhere/x.xml"], "/nowhere"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(capsys, words, what):
    assert main(words) == 2
    reported = capsys.readouterr().err
    assert what in reported and reported.startswith("sdsm: ") and len(reported.splitlines()) == 1


@pytest.mark.parametrize(
    ("of", "by", "what"),
    [('(fault.RUMR" value=")[^"]*', r"\g<1>1001s", "more than 1000 s"), ("fault.RUMR", "fault.RUMOR", "missing property fault.RUMR")],
)
def test_costs_that_make_no_platform_are_refused_before_a_file_is_written(tmp_path, capsys, of, by, what):
    bad, out = tmp_path / "bad.xml", tmp_path / "new.xml"
    bad.write_text(re.sub(of, by, (PLATFORMS / "one-machine.xml").read_text(), count=1))
    assert main(["new", "--nodes", "2", "--network", "gigabit", "--from", str(bad), "-o", str(out)]) == 2
    (reported,) = capsys.readouterr().err.splitlines()
    assert reported.startswith(f"sdsm: {bad}: ") and what in reported and not out.exists()


@pytest.mark.parametrize("words", [["--nodes", "0"], ["--nodes", "65537"], ["--nodes", "2", "--network", "token-ring"]])
def test_a_wrong_number_or_network_is_refused(capsys, words):
    with pytest.raises(SystemExit, match="2"):
        main(["new", "--network", "gigabit", *words])
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_speed_of_a_trace_is_the_hosts_measured_one(tmp_path, capsys):
    trace, file = tmp_path / "a.trace", tmp_path / "new.xml"
    laplace = [ROOT / "build" / "workloads" / "laplace", "--impl", "4", "--size", "64", "--iterations", "2", "--no-check"]
    subprocess.run([SDSM, "trace", "-q", "-n", "2", "-o", trace, "--", *laplace], check=True, capture_output=True)
    assert main(["new", "--nodes", "2", "--network", "gigabit", "--speed-of", str(trace), "-o", str(file)]) == 0
    assert "host.speed-is" in properties(parse(file)) and "measured by sdsm trace on " in file.read_text()
    reported = subprocess.run([SDSM, "simulate", trace, "-q", "-p", file, "-n", "2", "--from-host-speed", "--json", "-"], capture_output=True, text=True)
    assert reported.returncode == 0, reported.stderr
    # On the machine that traced, computing takes as long as in the trace, and nothing is left to warn of.
    result = json.loads(reported.stdout)
    least = result["computing_range"]["least_factor"] if "computing_range" in result else result["options"]["compute_factor"]
    assert least == 1 and "nobody says" not in reported.stderr and "gives no cache." not in reported.stderr
    # A second time it takes the place of the first.
    again = ["new", "--nodes", "2", "--network", "25gbe", "--from", str(file)]
    assert main(again) == 0 and main([*again, "--speed-of", str(trace)]) == 0
    assert capsys.readouterr().out.count("host.speed-is") == 2
    old = ROOT / "docs" / "questions" / "cg-2.trace"
    assert main([*again, "--speed-of", str(old)]) == 2 and "does not keep how fast" in capsys.readouterr().err
