"""What `cmake --install` puts into an empty prefix: does it work alone, for an ordinary user, from any folder?"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SDSM_BUILD", ROOT / "build"))
NOBODY = 65534


def open_folder() -> Iterator[Path]:
    """One that an ordinary user may enter; pytest's own folder each start of pytest closes again."""
    with tempfile.TemporaryDirectory(prefix="sdsm-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture(scope="module", name="prefix")
def installed() -> Iterator[Path]:
    yield from (install(folder / "prefix") for folder in open_folder())


def install(folder: Path) -> Path:
    # Another worker of this test run may be at it: manual pages are made in the build folder.
    with (BUILD / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Somebody:
    """An ordinary user in a folder of its own, with the prefix on PATH; sees no build folder, where that can be hidden."""

    def __init__(self, prefix: Path, home: Path) -> None:
        self.prefix, self.home = prefix, home
        self.environment = {
            "PATH": f"{prefix}/bin:/usr/bin:/bin",
            "HOME": str(home),
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            # The prefix has no packages of its own.
            "SDSM_PYTHON": sys.executable,
        }
        self.as_user: list[str] = []
        if os.geteuid() == 0:
            self.as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0:
                hidden = f'mount -t tmpfs none "{BUILD}" && exec "$@"'
                self.as_user = ["unshare", "--mount", "sh", "-c", hidden, "sh", *self.as_user]

    def calls(self, *command: object, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        words = [*self.as_user, *map(str, command)]
        done = subprocess.run(
            words, cwd=self.home, env=self.environment | environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done

    def takes_the_main_path(self) -> None:
        script = self.home / "main_path"
        shutil.copy(ROOT / "tests" / "installed" / "main_path", script)
        self.calls(script)


@pytest.fixture
def somebody(prefix) -> Iterator[Somebody]:
    yield from (Somebody(prefix, home) for home in open_folder())


PROGRAM = """
#include <sdsm/placement.h>
int main(void) {
  double *block = (double *)sdsm_galloc(4096, sdsm_block);
#pragma omp parallel
  block[0] = 1;
  return 0;
}
"""


def test_the_main_path_works_for_an_ordinary_user_without_the_build_folder(somebody):
    somebody.takes_the_main_path()


def test_the_placement_header_is_found_below_the_prefix(somebody):
    (somebody.home / "program.c").write_text(PROGRAM)
    somebody.calls("gcc", "-fsyntax-only", "-fopenmp", f"-I{somebody.prefix}/include", "program.c")


def test_each_installed_command_explains_itself_in_any_locale_and_has_a_manual_page(somebody):
    for line in somebody.calls("sdsm", "--help").stdout.splitlines():
        if not line.startswith("  "):
            continue
        name, sentence = line.split(maxsplit=1)
        assert sentence.endswith(".")
        page = gzip.decompress((somebody.prefix / "share" / "man" / "man1" / f"sdsm-{name}.1.gz").read_bytes()).decode()
        assert sentence.rstrip(".").replace("-", "\\-") in page
        if shutil.which("man"):
            warned = subprocess.run(
                ["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True, env={**os.environ, "MANROFFSEQ": "", "LC_ALL": "C"}
            )
            assert warned.stderr == ""


def test_completion_knows_subcommands_options_and_the_words_of_an_option(somebody):
    script = somebody.prefix / "share" / "bash-completion" / "completions" / "sdsm"

    def completed(*words: str) -> list[str]:
        ask = f'source {script}; COMP_WORDS=({" ".join(words)} ""); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sdsm; echo "${{COMPREPLY[@]}}"'
        return somebody.calls("bash", "-c", ask, "bash", *words).stdout.split()

    assert completed("sdsm", "sim") == ["simulate"]
    assert completed("sdsm", "simulate", "--place") == ["--placement"]
    assert completed("sdsm", "run", "--placement", "b") == ["block"]
    assert completed("sdsm", "calibrate", "--hold") == ["--hold-out"]


def test_parts_of_two_versions_refuse_each_other_by_name(somebody):
    home = somebody.prefix / "libexec" / "sdsm"
    parts = {name: [home / f"sdsm-{name}"] for name in ("simulate", "trace", "run", "check")}
    for name, words in {**parts, "python": [sys.executable, home / "python", "plot"]}.items():
        refused = somebody.calls(*words, "x", status=2, SDSM_VERSION="0.0.9")
        assert f"{name} is of sdsm " in refused.stderr
        assert "what started it is sdsm 0.0.9" in refused.stderr
    copy = somebody.home / "copy"
    shutil.copytree(somebody.prefix / "libexec" / "sdsm", copy)
    for kind in ("trace", "run"):
        library = copy / f"libsdsm-{kind}.so"
        library.write_bytes(library.read_bytes().replace(b"run-time of version 0", b"run-time of version 9"))
        options = ["-o", "x.trace"] if kind == "trace" else []
        refused = somebody.calls(copy / f"sdsm-{kind}", "-n", 2, *options, "--", somebody.prefix / "libexec/sdsm/workloads/laplace", status=1)
        assert f"libsdsm-{kind}.so is of another version" in refused.stderr


BARE = {"SDSM_PYTHON": "/usr/bin/python3", "PYTHONPATH": "", "PYTHONNOUSERSITE": "1"}


def test_a_missing_python_package_is_reported_with_how_its_user_gets_it_without_writing_to_the_prefix(somebody):
    bare = somebody.calls("sdsm", "plot", "x.json", "-o", "y", status=1, **BARE).stderr
    assert bare.count("\n") == 1
    advice = bare.partition("is missing. Install it for yourself: ")[2]
    made, filled, named = advice.split(" && ")
    assert (made, named) == ("python3 -m venv ~/.sdsm-python", "export SDSM_PYTHON=~/.sdsm-python/bin/python\n")
    assert filled.startswith("~/.sdsm-python/bin/pip install -r ") and Path(filled.split()[-1]).is_file()


def test_without_python_packages_each_command_still_says_what_it_does(somebody):
    reported = somebody.calls("sdsm", "--help", **BARE).stdout
    assert [line for line in reported.splitlines() if line.startswith("  ") and not line.endswith(".")] == []


def test_installed_pages_show_installed_commands(somebody):
    pages = somebody.prefix / "share" / "doc" / "sdsm"
    texts = {path.relative_to(pages): path.read_text() for path in pages.rglob("*.md")}
    assert {path: line for path, text in texts.items() for line in text.splitlines() if "build/sdsm " in line or "build/workloads" in line} == {}
    first = re.search(r"```sh\n(.*?)```", texts[Path("README.md")], re.DOTALL)
    assert first is not None
    somebody.calls("bash", "-euc", first[1].replace("1024", "64"))


def test_installed_pages_say_what_is_in_the_sources_only(somebody):
    pages = somebody.prefix / "share" / "doc" / "sdsm"
    texts = [path.read_text() for path in pages.rglob("*.md")]
    named = [text for text in texts if "scripts/" in text]
    assert named
    assert all("What this page names in `scripts/` is in its sources only." in text.splitlines()[2] for text in named)
    packages = [found for text in texts for found in re.findall(r"\S*/requirements[a-z-]*\.txt", text)]
    assert packages
    assert all(Path(found.strip("`()")).is_file() for found in packages)


def test_uninstalling_takes_away_every_file_and_its_own_folders_and_no_other(tmp_path):
    """/usr/local/bin, say, may have been there, and empty, before."""
    copy, prefix = tmp_path / "build", tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    install(prefix)
    copy.mkdir()
    shutil.copy(BUILD / "install_manifest.txt", copy)
    script = ROOT / "cmake" / "uninstall.cmake"
    assert subprocess.run(["cmake", f"-DMANIFEST={copy}/install_manifest.txt", "-P", script]).returncode == 0
    left = list(prefix.rglob("*"))
    assert [path for path in left if path.is_symlink() or not path.is_dir() or "sdsm" in path.parts[len(prefix.parts) :]] == []
    assert prefix / "bin" in left


def test_each_of_the_three_builds_makes_all_that_is_installed():
    reproduce = re.search(r"cmake --build --preset release --target (.*)", (ROOT / "scripts" / "reproduce").read_text())
    assert reproduce is not None
    listed = re.search(r'set\(built "(.*)"\)', (BUILD / "cmake_install.cmake").read_text())
    assert listed is not None
    wanted = {str(Path(file).relative_to(BUILD)) for file in listed[1].split(";")}
    assert len(wanted) > 15
    manual = {"manual/man/man1/sdsm.1.gz"}  # -t inputs tells of no custom command's output
    for targets in (reproduce[1].split(), ["all"]):  # the other two build all
        made, commands = (
            subprocess.run(["ninja", "-C", BUILD, "-t", tool, *targets], capture_output=True, text=True, check=True).stdout
            for tool in ("inputs", "commands")
        )
        assert wanted - {line.removeprefix(f"{BUILD}/") for line in made.splitlines()} <= manual
        assert "-m sdsm.manual" in commands


def test_nothing_is_installed_from_a_build_that_lacks_something(tmp_path):
    script = (BUILD / "cmake_install.cmake").read_text().replace(f"{BUILD}/sdsm-costs", f"{BUILD}/sdsm-none")
    (tmp_path / "install.cmake").write_text(script)
    prefix = tmp_path / "prefix"
    refused = subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", tmp_path / "install.cmake"], capture_output=True, text=True)
    assert refused.returncode != 0
    assert "sdsm-none is not built, so nothing is installed" in " ".join(refused.stderr.split())
    assert not prefix.exists()


def test_python_imports_sdsm_from_the_prefix(somebody):
    script = """
import sdsm
trace = sdsm.trace([LAPLACE, "--impl", "4", "--size", "64", "--iterations", "2", "--no-check"], "a.trace", threads=2, passes=1)
result = sdsm.simulate(trace, "p3-score", nodes=2)
print(sdsm.__version__, sdsm.__file__, len(result.threads))
"""
    script = script.replace("LAPLACE", repr(str(somebody.prefix / "libexec" / "sdsm" / "workloads" / "laplace")))
    packages = somebody.prefix / "lib" / "python3" / "dist-packages"
    version, file, threads = somebody.calls(sys.executable, "-c", script, PYTHONPATH=str(packages)).stdout.split()
    assert (Path(file).parents[1], threads) == (packages, "2")
    assert version == somebody.calls("sdsm", "--version").stdout.split()[1]


def wheel(folder: Path, *options: str) -> Path:
    """Made without the network: by what .venv has."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, *options, ROOT]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def environment_with(made: Path, folder: Path) -> Path:
    """A virtual environment with the wheel; its requirements are those of .venv."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--no-deps", made], check=True, capture_output=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "requirements.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_the_package_needs_what_requirements_txt_has():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def listed(name: str) -> list[str]:
        return [line for line in (ROOT / "scripts" / name).read_text().splitlines() if not line.startswith("#")]

    assert project["dependencies"] == listed("requirements.txt")
    assert project["optional-dependencies"]["sweep"] == listed("requirements-sweep.txt")


def test_a_wheel_of_the_python_part_alone_has_all_its_commands_and_their_files(tmp_path):
    environment = environment_with(wheel(tmp_path, "--config-settings=wheel.cmake=false"), tmp_path / "environment")
    (package,) = environment.glob("lib/python3*/site-packages/sdsm")
    source = ROOT / "python" / "sdsm"
    files = {file.relative_to(source) for file in source.rglob("*.*") if file.is_file() and "__pycache__" not in file.parts}
    assert {file for file in files if not (package / file).is_file()} == set()


@pytest.mark.long
def test_a_wheel_in_a_virtual_environment_is_all_of_sdsm_and_is_taken_away_whole():
    with contextlib.contextmanager(open_folder)() as folder, contextlib.contextmanager(open_folder)() as home:
        made = wheel(folder)
        environment = environment_with(made, folder / "environment")
        before = {path for path in environment.rglob("*") if "sdsm" in path.name}
        user = Somebody(environment, home)
        user.environment["SDSM_PYTHON"] = ""
        user.takes_the_main_path()
        assert "<html" in (home / "page.html").read_text()
        assert user.calls(environment / "bin" / "python", "-c", "import sdsm; print(sdsm.load('predicted-2.json').makespan_s)").stdout
        assert (environment / "share" / "man" / "man1" / "sdsm-plot.1.gz").is_file()
        assert (environment / "share" / "sdsm" / "calibration" / "published" / "scash_faults.csv").is_file()
        subprocess.run([environment / "bin" / "pip", "uninstall", "--quiet", "--yes", "sdsm"], check=True)
        assert before and [path for path in before if path.exists() and not path.is_dir()] == []
