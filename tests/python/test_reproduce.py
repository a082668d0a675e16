"""scripts/reproduce: what can be told without setting a machine up and building."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sdsm.report.main_job.__main__ import main, parser

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "reproduce"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose set-up only notes that it was called, and fails."""
    folder = tmp_path / "checkout"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / "scripts" / "reproduce")
    for part in ("python", "calibration", "platforms", "CMakeLists.txt"):
        (folder / part).symlink_to(ROOT / part)
    setup = folder / "scripts" / "setup"
    setup.write_text('#!/bin/sh\necho "$@" > "$(dirname "$0")/set-up"\nexit 1\n')
    setup.chmod(0o755)
    return folder


def reproduce(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "scripts" / "reproduce", *arguments], capture_output=True, text=True, timeout=600, cwd=checkout
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--results", "scripts/reproduce"], "scripts/reproduce"),
        (["--results", "scripts/reproduce/below"], "scripts/reproduce"),
        (["--results", "/dev/null/below/it"], "/dev/null"),
        (["--results", ""], "--results"),
        (["--platform", "nosuch"], "nosuch"),
        (["--platform", "scripts"], "scripts"),
        (["--build", "nosuch"], "nosuch"),
        (["--seeds", "0"], "--seeds: '0' is not a whole number from 1 to 1000000"),
        (["--seeds", "many"], "--seeds: 'many' is not a whole number from 1 to 1000000"),
        (["--only", "swim"], "--only"),
        (["--bogus"], "--bogus"),
        (["word"], "word"),
    ],
)
def test_a_slip_is_reported_in_one_line_with_status_2_before_anything_is_set_up(checkout, arguments, named):
    ended = reproduce(checkout, *arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("sdsm: ")
    assert ended.stderr.count("\n") == 1
    assert named in ended.stderr
    assert not (checkout / "scripts" / "set-up").exists()


def test_without_a_slip_the_machine_is_set_up_without_what_only_tests_need(checkout):
    assert reproduce(checkout, "--results", "new/folder").returncode == 1
    assert (checkout / "scripts" / "set-up").read_text() == "--no-tests\n"
    assert not (checkout / "new").exists()


def test_the_folder_that_is_built_need_not_be_there_yet_but_another_one_must(checkout, capsys):
    assert main(["--check-options", "--build", str(ROOT / "build")]) == 0
    assert main(["--check-options", "--build", str(checkout)]) == 2
    assert str(checkout) in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_results_go_only_where_something_can_be_written(checkout):
    (checkout / "shut").mkdir(mode=0o500)
    ended = reproduce(checkout, "--results", "shut/results")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1


def test_results_that_cannot_be_written_after_all_are_reported_in_words(monkeypatch, tmp_path, capsys):
    def fail(settings):
        raise OSError(28, "No space left on device", str(tmp_path / "times.csv"))

    monkeypatch.setattr("sdsm.report.main_job.job.run", fail)
    build = tmp_path / "build"
    build.mkdir()
    (build / "sdsm").touch()
    assert main(["--build", str(build), "--results", str(tmp_path / "results")]) == 1
    said = capsys.readouterr().err
    assert said == f"sdsm: {tmp_path}/times.csv: No space left on device. Make room, or name another place\n"


def test_help_names_every_option_of_the_job_and_installs_and_builds_nothing():
    ended = subprocess.run([SCRIPT, "--seeds", "3", "--help"], capture_output=True, text=True, timeout=600, check=True)
    assert ended.stderr == ""
    options = [text for action in parser()._actions for text in action.option_strings if action.help != "==SUPPRESS=="]
    assert len(options) > 8
    for option in options:
        assert option in ended.stdout or option in ("-h", "--help")


def test_the_script_is_plain_posix_shell():
    subprocess.run(["sh", "-n", SCRIPT], check=True, timeout=600)
    assert SCRIPT.read_text().startswith("#!/bin/sh\n")
