"""Is a platform's name that nobody has answered by the nearest one, in every Python command alike?"""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from sdsm.base.command_line import platform_name
from sdsm.base.places import PLATFORMS


def test_a_file_comes_before_one_of_sdsms_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert platform_name("p3-score") == platform_name("p3-score.xml") == PLATFORMS / "p3-score.xml"
    (tmp_path / "p3-score.xml").write_text("")
    assert platform_name("p3-score.xml") == Path("p3-score.xml")
    # What lies in a folder is a file, there or not.
    assert platform_name("none/p3-score") == Path("none/p3-score")


@pytest.mark.parametrize(("name", "near"), [("p3-scor", "Did you mean p3-score?"), ("gigabyt.xml", "Did you mean gigabit?"), ("m.xml", "m.xml. Give")])
def test_an_unknown_name_is_answered_by_the_nearest_one_and_all_others(name, near, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        platform_name(name)
    assert f"there is no file {name}" in str(refused.value) and near in str(refused.value) and "one-machine" in str(refused.value)
