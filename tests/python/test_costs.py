"""`sdsm costs`: are its answers those of models/, by hand, and is what is no question refused in one line?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sdsm.base import costs
from sdsm.base.places import PROGRAMS
from sdsm.microbench.command import Layout

COMMAND = PROGRAMS / "sdsm-costs"
MESSAGE = {"wire": 10.0, "link": 2.0, "processor": 3.0}


def one(shape: str, layout: Layout, measured: dict[Layout, float]) -> costs.Barrier:
    return costs.barriers(shape, MESSAGE, measured, [layout])[0]


def test_messages_of_a_barrier_by_hand():
    assert one("flat", Layout(4, 2), {}).gather_us == 10 + 5 * 3 + 3
    assert one("tree", Layout(8, 1), {}).gather_us == 39
    assert one("tree", Layout(4, 2), {Layout(1, 2): 5.0}).modelled_us == 6 * 26 + 5


def test_a_layout_follows_from_those_around_it_by_ratio():
    barriers = {Layout(2, 1): 78.0, Layout(8, 1): 2 * 6 * 39.0}
    # Ratios 1 and 2; a third of the way from two nodes to eight 4 / 3; beyond eight 2.
    assert one("tree", Layout(4, 1), barriers).extrapolated_us == pytest.approx(4 / 3 * 6 * 26)
    assert one("tree", Layout(16, 1), barriers).extrapolated_us == pytest.approx(2 * 6 * 52)
    flat = one("flat", Layout(16, 1), barriers).extrapolated_us
    assert flat == pytest.approx(2 * 6 * 39 / (10 + 6 * 3 + 3) * (10 + 14 * 3 + 3))


def test_kinds_of_faults_by_hand():
    fetching = {protocol: {kind.name for kind in costs.faults(protocol) if kind.fetches_page} for protocol in ("scash", "home-open", "jiajia", "hardware")}
    assert fetching["scash"] == fetching["home-open"] == {"WUMR", "RUMR"}
    assert fetching["jiajia"] == {"RUMR", "RIVR", "WUMR", "WIVR"} and fetching["hardware"] == set()
    twinning = {kind.name for kind in costs.faults("scash") if kind.twins_copy}
    assert twinning == {"WROR", "WUMR"} and {kind.access for kind in costs.faults("scash")} == {"read", "write"}


def test_sizes_by_hand():
    assert costs.sizes() == costs.Sizes(32, 4096, 1460)
    assert [(costs.diff(words).bytes, costs.diff(words).messages) for words in (1, 362, 363, 1024)] == [
        *((16, 1), (1460, 1)),
        *((1464, 2), (4108, 3)),
    ]
    # Three frames, of which the first is 1538 bytes and passes two links alone.
    assert costs.message(4096, costs.default_frame(), 3) == costs.Message(4096, 4330, 4330 + 2 * 1538)


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("p3-score", "p3-score: no JSON object. `sdsm costs --help`"),
        ("[1]", "no question is called"),
        ('{"protocol": "none"}', "there is no protocol 'none'"),
        ('{"protocol": 3}', "type must be string"),
        ('{"diff": [1]}', "no question is called 'diff'"),
        ('{"diff_words": [1025]}', "a page has 1024 words"),
        ('{"payloads": [-1]}', "-1 bytes"),
        ('{"payloads": [1], "links": 99}', "1 to 16 links"),
        ('{"payloads": [1], "frame": {}}', "payload"),
        ('{"barrier": {"shape": "ring"}}', "neither flat nor tree"),
        ('{"barrier": {"shape": "flat", "message_us": {"wire": "x"}}}', "must be number"),
    ],
)
@pytest.mark.parametrize("as_lines", [False, True])
def test_what_is_no_question_is_reported_in_one_line(question, what, as_lines):
    words = ([COMMAND, "-"], question) if as_lines else ([COMMAND, question], "")
    done = subprocess.run(words[0], input=words[1], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sdsm: ") and what in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_command_that_is_not_built_or_refuses_is_reported_in_one_line(tmp_path):
    with pytest.raises(costs.CostsFailed, match=r"cannot be started .*Build it first"):
        costs.Asker(tmp_path).ask({})
    with pytest.raises(costs.CostsFailed, match="a page has 1024 words"):
        costs.Asker(Path(COMMAND.parent)).ask({"diff_words": [5000]})
