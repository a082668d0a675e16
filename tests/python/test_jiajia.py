"""JIAJIA's statistics: are they refused where they cannot be, and are the costs sums over counts?"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from benchmark_files import DATA, JIAJIA
from sdsm.base.command_line import BadInput
from sdsm.calibrate import jiajia
from sdsm.readers import ReadError, Reading, read, read_text
from sdsm.readers.jiajia import COUNTS, SUMS, TIMES
from sdsm.readers.text import Text, load

BUILD = DATA.parents[2] / "build"

TSP = (DATA / "jiajia" / "pair-a.tsp.out").read_text()


def reading_of(text: str) -> Reading:
    return read_text(Text("some.out", text))


def values(reading: Reading, name: str) -> list[float]:
    return [m.values[0] for m in reading.measurements if m.quantity == name]


def test_the_hosts_columns_are_read_under_jiajias_names():
    reading = reading_of(TSP)
    assert values(reading, "Getp Reqs") == [0, 1713]
    assert values(reading, "SEGV time (remote)") == [0, 2085.93]
    assert {m.unit for m in reading.measurements if "time" in m.quantity} == {"ms"}
    settings = {setting.name: setting.value for setting in reading.settings}
    assert settings["hosts"] == 2
    assert settings["page_bytes"] == 4096
    assert settings["shared_pages"] == 197
    assert settings["program"] == "tsp"
    assert settings["comm_type"] == "udp"


@pytest.mark.parametrize(
    ("old", "new", "at", "words"),
    [
        ("SEGVs (local)      =     2024        0      2024", "SEGVs (local) = 2024 0 2025", "2025", "2025 is not the total of 2024 and 0"),
        ("Barriers           =        2        2         2", "Barriers = 2 3 2", "= 2 3", "2 is not the total of 2 and 3"),
        ("Getp Reqs          =        0     1713      1713", "Getp Reqs = 0 1713", "Getp", "is not 'Getp Reqs' with 3 numbers"),
        ("Getp Reqs          =", "Getp Requests =", "Requests", "is not 'Getp Reqs' with 3 numbers"),
        ("1713      1713", "-713 -713", "-713", "is not 'Getp Reqs' with 3 numbers"),
        ("=     6.51     3.00", "= 6.51 nan", "nan", "is not 'Barrier time' with 2 numbers"),
        ("=    10.87     0.00", "= -10.87 0.00", "-10.87", "Decode diff time is -10.87 ms, where a time is at least 0"),
        ("SEGV time (local)  =    11.13     0.00", "SEGV time (local) = 11.13 0.50", "11.13 0.50", "host 1 spends 0.50 ms, but SEGVs (local) is 0"),
        ("=  2223.44   469.60", "= 2223.44 470.60", "470.60", "470.60 ms are not the sum of host 1's"),
        ("hosts -->        0        1", "hosts --> 0 2", "0 2", "does not number the hosts"),
        ("-------------------------------------- (ms) \n", "", "Barrier time", "where a rule of 38 dashes stands"),
        ("######################################\n", "", None, "where the statistics end"),
        ("hostc   (total host count): 2", "hostc (total host count): 3", "count): 3", "3 hosts, where 2 have statistics"),
        ("option 1: comm_type = udp", "option 1: system_mode = udp", "option 1", "system_mode is there twice"),
        ("Pagesize=4096", "Pagesize=8192", "Shared Memory", "pages of 4096 bytes, and of 8192"),
        ("197 (used)", "8388609 (used)", "8388609", "8388609 of 8388608 pages are used"),
        ("real", "########  JIAJIA STATISTICS  #########\nreal", None, "statistics are there twice"),
    ],
)  # fmt: skip
def test_statistics_that_cannot_be_are_refused_with_their_line(old, new, at, words):
    assert TSP.count(old) == 1
    text = TSP.replace(old, new)
    with pytest.raises(ReadError) as refused:
        reading_of(text)
    assert words in str(refused.value)
    if at:
        assert at in text.split("\n")[refused.value.line - 1]


def test_every_cut_of_the_statistics_is_refused():
    begin, end = TSP.index("########  JIAJIA"), TSP.index("######################################")
    for cut in range(begin, end + 30):
        with pytest.raises(ReadError):
            reading_of(TSP[:cut])


@pytest.mark.parametrize("path", JIAJIA, ids=lambda path: path.name)
def test_nothing_but_numbers_of_the_statistics_is_taken_for_one(path):
    """What the program itself prints, JIAJIA's words included, changes nothing."""
    text = load(path).text
    more = text.replace("Print stats\n", "Print stats\nBarriers = 7 7 7\nSEGV time = 1 2\nhosts --> 0 total\n")
    plain = [(m.quantity, m.values, m.keys) for m in reading_of(text).measurements]
    assert [(m.quantity, m.values, m.keys) for m in reading_of(more).measurements] == plain


def report(hosts: int = 2, **rows: tuple[str, ...]) -> Reading:
    """Of hosts on which nothing happened but what is given, as "Getp_Reqs"."""
    words = {"_": " ", "local": "(local)", "remote": "(remote)"}
    given = {}
    for name, row in rows.items():
        for short, long in words.items():
            name = name.replace(short, long)
        given[name] = row
    lines = ["########  JIAJIA STATISTICS  #########", f"hosts --> {' '.join(map(str, range(hosts)))} total"]
    for names, mark, nothing in ((COUNTS, "", "0"), (TIMES, " (ms)", "0.00"), (SUMS, "", "0.00")):
        lines.append("-" * (20 + 9 * hosts) + mark)
        for name in names:
            own = given.get(name, (nothing,) * hosts)
            total = [own[0] if name == "Barriers" else str(sum(map(int, own)))] if names is COUNTS else []
            lines.append(f"{name} = {' '.join([*own, *total])}")
    return reading_of("\n".join([*lines, "#" * (20 + 9 * hosts)]))


def test_a_cost_is_the_time_of_all_hosts_over_how_often_they_acted():
    long = report(Getp_Reqs=("300", "0"), SEGVs_remote=("350", "0"), SEGV_time_remote=("600.00", "0.00"))
    short = report(Getp_Reqs=("0", "100"), SEGVs_remote=("0", "100"), SEGV_time_remote=("0.00", "100.00"))
    cost = jiajia.fit([long, short]).page_request
    assert cost is not None
    assert cost.us == pytest.approx(700 / 400 * 1000)
    assert (cost.least_us, cost.most_us) == pytest.approx((1000, 2000))
    assert cost.actions == 400
    assert jiajia.fit([long, short]).message_us == pytest.approx(875)


def test_a_host_that_acted_seldom_counts_for_the_cost_but_not_for_its_range():
    reading = report(SEGVs_local=("99", "101"), SEGV_time_local=("0.99", "4.04"))
    cost = jiajia.fit([reading]).local_fault
    assert cost is not None
    assert cost.us == pytest.approx(5.03 / 200 * 1000)
    assert (cost.least_us, cost.most_us) == pytest.approx((40, 40))


def test_what_did_not_happen_has_no_cost():
    costs = jiajia.fit([report()])
    assert costs == jiajia.Costs(2, None, None, None, None, None)
    assert jiajia.table(costs).count("\n") == 1


def test_a_barrier_costs_at_most_what_the_last_one_waits():
    costs = jiajia.fit(
        [
            report(Barriers=("4", "4"), Barrier_time=("8.00", "2.00"), **{"Syn._time": ("8.00", "2.00")}),
            report(Barriers=("2", "2"), Barrier_time=("9.00", "3.00"), **{"Syn._time": ("9.00", "3.00")}),
        ]
    )
    assert costs.barrier_at_most_us == pytest.approx(500)


@pytest.mark.parametrize(("name", "us"), [("pair-a.tsp.out", 2085.93e3 / 1713), ("pair-b.lu.out", (825.54e3 + 871.08e3) / 1425)])
def test_page_requests_of_the_real_machines_take_what_was_read_off_by_hand(name, us):
    cost = jiajia.fit([read(DATA / "jiajia" / name)]).page_request
    assert cost is not None and cost.us == pytest.approx(us)


def test_the_command_prints_a_line_for_each_cost_and_refuses_others_in_one(tmp_path):
    def call(*names: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sdsm.calibrate.jiajia", *map(str, names)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=DATA.parents[2] / "python")

    printed = call(*JIAJIA)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert len(printed.stdout.splitlines()) == 7
    copy = tmp_path / "copy.out"
    copy.write_text(JIAJIA[0].read_text() + "\n")
    for names, words in (
        ((), "no reports"),
        ((DATA / "network" / "netpipe.loopback.out",), "is of NetPIPE"),
        ((DATA / "nothing",), "nothing: No such file or directory. Name what a program on JIAJIA printed"),
        ((JIAJIA[0], copy), "copy.out are one output, given twice"),
    ):
        refused = call(*names)
        assert words in refused.stderr
        assert (refused.returncode, refused.stdout) == (2, "")
        assert len(refused.stderr.splitlines()) == 1


def test_a_page_request_shorter_than_a_fault_is_no_matter_of_the_log():
    costs = replace(acted(), page_request=jiajia.Cost(9.0, 100, 9.0, 9.0))
    with pytest.raises(BadInput, match="a page request takes 9"):
        jiajia.properties(costs)


def acted() -> jiajia.Costs:
    """Faults at home of 10 us, page requests of 1312 us, diffs of 3 us."""
    return jiajia.fit(
        [
            report(
                SEGVs_local=("200", "0"), SEGV_time_local=("2.00", "0.00"),
                Getp_Reqs=("0", "100"), SEGVs_remote=("0", "120"), SEGV_time_remote=("0.00", "131.20"),
                MWdiffs=("50", "0"), Encode_diff_time=("0.15", "0.00"),
            )
        ]
    )  # fmt: skip


def test_a_platform_has_costs_per_page_request_and_the_logs_part_apart():
    given = {name: value for _, group in jiajia.properties(acted(), log_us=4) for name, value in group.items()}
    # A page request logs its fault and two messages: 12 us.
    for kind in ("RUMR", "RIVR", "WUMR", "WIVR"):
        assert given[f"jiajia.fault.{kind}"] == "1300.00us"
    assert given["jiajia.fault.WROH"] == "6.00us"
    assert given["jiajia.fault.WROR"] == "9.00us"
    assert given["jiajia.message.fixed"] == "647.00us"  # half of 1300 - 6
    assert given["jiajia.message.size"] == "40960B"
    assert given["jiajia.log"] == "4.00us"


@pytest.mark.parametrize(("log", "words"), [("10us", "a fault at home takes 10.00 us"), ("4", "no time in us"), ("-4us", "no time in us")])
def test_a_log_that_takes_longer_than_what_it_logs_is_refused(tmp_path, capsys, log, words):
    file = tmp_path / "platform.xml"
    if words.startswith("a fault"):
        with pytest.raises(BadInput, match=words):
            jiajia.platform(acted(), float(log.removesuffix("us")), "1Gbps", "5us", 2)
        return
    with pytest.raises(SystemExit) as left:
        jiajia.main([*map(str, JIAJIA), "-o", str(file), f"--log={log}"])
    assert left.value.code == 2
    assert words in capsys.readouterr().err
    assert not file.exists()


def test_a_platform_of_the_real_reports_is_one_that_sdsm_takes(tmp_path):
    file = tmp_path / "pair-a.xml"
    assert jiajia.main([*map(str, JIAJIA), "-o", str(file), "--log", "2us"], lambda text: None) == 0
    checked = subprocess.run([BUILD / "sdsm", "check", file], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "nothing found" in checked.stdout


def test_without_diffs_or_with_costs_below_the_printed_digits_there_is_no_platform():
    with pytest.raises(BadInput, match="no diffs"):
        jiajia.properties(jiajia.fit([report(SEGVs_local=("200", "0"), SEGV_time_local=("2.00", "0.00"))]))
    nothing = replace(acted(), make_diff=jiajia.Cost(0.0, 3, 0.0, 0.0))
    with pytest.raises(BadInput, match=r"3 diffs take 0\.00 ms, which is less than is printed\. Give reports of longer programs"):
        jiajia.properties(nothing)


def test_a_sum_may_be_below_0_as_jiajia_takes_an_estimate_off():
    assert values(reading_of(TSP.replace("=  1225.53  3446.74", "= -12.50  3446.74")), "SEGV time") == [-12.5, 3446.74]


def test_reports_of_clusters_of_different_sizes_are_refused():
    with pytest.raises(BadInput, match="reports of 2 and 3 hosts"):
        jiajia.fit([report(), report(hosts=3)])
