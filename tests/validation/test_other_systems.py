"""Does the README hold on a bare Debian 12 and 13, and the simulator with SimGrid's release from source?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "test-on-debian"
#: What is long in the making stays here for the next time.
CACHE = Path(os.environ.get("SDSM_TEST_CACHE", ROOT / ".cache"))


def call(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Of the checkout, with the environment's variables and these."""
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}
    )


def passed(*command: object, **environment: str) -> str:
    ended = call(*command, **environment)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    return ended.stdout


@pytest.mark.parametrize("arguments", [("11",), ("--jobs", "0"), ("--jobs",), ("--bogus",)])
def test_a_slip_of_the_command_line_is_reported_with_status_2(arguments):
    ended = call(SCRIPT, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("sdsm: ") and "--help" in ended.stderr


@pytest.mark.parametrize(
    ("tool", "says", "why"),
    [
        ("id", "echo 1000", "making a root needs the user root"),
        ("unshare", "exit 1", "this machine allows no namespaces of mounts and processes"),
        ("apt-get", "exit 0", "apt knows no mirror of Debian"),
    ],
)
def test_where_no_root_can_be_made_the_status_is_77(tmp_path, tool, says, why):
    for name, text in {"id": "echo 0", "debootstrap": "exit 1", "unshare": "exit 0", tool: says}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    ended = call(SCRIPT, "--cache", tmp_path / "cache", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert ended.returncode == 77
    assert ended.stdout.startswith(f"skipped: {why}")


@pytest.mark.long
@pytest.mark.parametrize("release", ["12", "13"])
def test_the_two_commands_of_the_readme_pass_on_a_bare_debian(release):
    ended = call(SCRIPT, "--cache", CACHE / "debian", release)
    if ended.returncode == 77:
        pytest.skip(ended.stdout.strip())
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.long
@pytest.mark.parametrize("release", ["12", "13"])
@pytest.mark.parametrize("kind", ["--package", "--pip"])
def test_what_is_installed_works_on_a_bare_debian(release, kind):
    ended = call(SCRIPT, kind, "--cache", CACHE / "debian", release)
    if ended.returncode == 77:
        pytest.skip(ended.stdout.strip())
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.long
def test_the_simulator_is_right_with_simgrid_4_1():
    prefix, build = CACHE / "simgrid-4.1", CACHE / "build-with-simgrid-4.1"
    packages = str(prefix / "lib" / "pkgconfig")
    if not Path(packages, "simgrid.pc").exists():
        made = call(ROOT / "scripts" / "build-simgrid", prefix)
        if "pip could not fetch" in made.stderr:
            pytest.skip("SimGrid's source package cannot be fetched here")
        assert made.returncode == 0, made.stderr[-4000:]
    configure = ("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSDSM_WERROR=ON")
    passed(*configure, PKG_CONFIG_PATH=packages)
    assert "SimGrid_VERSION:INTERNAL=4.1\n" in (build / "CMakeCache.txt").read_text()
    passed("cmake", "--build", build, "--target", "tests/sim/all")
    totals = passed("ctest", "--test-dir", build, "-R", "^sim_", "--no-tests=error")
    assert "100% tests passed" in totals
