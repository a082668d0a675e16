"""scripts/reproduce: what can be told without setting a machine up and building."""

import subprocess
from pathlib import Path

from sdsm_report.__main__ import parser

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reproduce"


def test_help_names_every_option_of_the_job_and_installs_and_builds_nothing():
    ended = subprocess.run([SCRIPT, "--seeds", "3", "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stderr == ""
    options = [text for action in parser()._actions for text in action.option_strings if action.help != "==SUPPRESS=="]
    assert len(options) > 8
    for option in options:
        assert option in ended.stdout or option in ("-h", "--help")


def test_the_script_is_plain_posix_shell():
    subprocess.run(["sh", "-n", SCRIPT], check=True, timeout=60)
    assert SCRIPT.read_text().startswith("#!/bin/sh\n")
