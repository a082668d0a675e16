#!/usr/bin/env python3
"""What scripts/setup does on machines that lack things, with recorders in place of apt-get, sudo and the probes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parent.parent.parent / "scripts" / "setup"
DEBIAN_12 = 'ID=debian\nVERSION_ID="12"\n'
COMMANDS = ("c++", "cc", "gfortran", "cmake", "ninja", "git")
SHELL_TOOLS = ("bash", "sed", "dirname", "readlink", "cat", "cmp", "cp", "rm", "env", "printf", "grep")


class Machine(unittest.TestCase):
    """A machine of recorders: everything is installed, and nothing else of the real one can be reached."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="sdsm test ")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.bin = self.root / "bin"
        self.log = self.root / "log"
        self.log.write_text("")
        (self.root / "scripts").mkdir()
        self.bin.mkdir()
        shutil.copy(SETUP, self.root / "scripts" / "setup")
        (self.root / "scripts" / "requirements.txt").write_text("matplotlib\n")
        (self.root / "scripts" / "requirements-tests.txt").write_text("pytest\n")
        for tool in SHELL_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
        for name in COMMANDS:
            self.tool(name, "exit 0")
        self.libraries("simgrid", "fmt", "libzstd", "nlohmann_json", "pugixml", "CLI11", "libcrypto")
        self.tool("id", "echo 0")
        self.tool("apt-get", f'echo "apt-get $*" >>"{self.log}"')
        self.system(DEBIAN_12)

    def tool(self, name: str, body: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def libraries(self, *known: str) -> None:
        self.tool("pkg-config", f'case "$2" in {"|".join(f"{name}*" for name in known)}) exit 0;; esac; exit 1')

    def system(self, text: str) -> None:
        (self.root / "os-release").write_text(text)

    def run_setup(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.root / "scripts" / "setup"), *arguments],
            env={"PATH": str(self.bin), "SDSM_OS_RELEASE": str(self.root / "os-release"), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def commands(self) -> list[str]:
        return self.log.read_text().splitlines()

    def test_where_all_is_there_nothing_is_run_or_said(self) -> None:
        result = self.run_setup("--no-python")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.commands(), [])

    def test_a_missing_library_is_named_with_its_reason_before_it_is_installed(self) -> None:
        (self.bin / "ninja").unlink()
        self.tool("apt-get", f'echo "apt-get $*" >>"{self.log}"; printf "#!/bin/sh\\n" >"{self.bin}/ninja"; '
                             f'/bin/chmod +x "{self.bin}/ninja"')
        result = self.run_setup("--no-python")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ninja-build: runs the build", result.stderr)
        self.assertTrue(self.commands()[0].endswith(" update"))
        self.assertTrue(self.commands()[1].endswith(" install -y --no-install-recommends ninja-build"))
        self.assertEqual(len(self.commands()), 2)

    def test_what_only_the_tests_need_is_left_out_on_request(self) -> None:
        (self.bin / "gfortran").unlink()
        self.assertEqual(self.run_setup("--check", "--no-python").returncode, 1)
        self.assertEqual(self.run_setup("--check", "--no-python", "--no-tests").returncode, 0)

    def test_what_single_tests_need_is_left_out_unless_it_is_asked_for(self) -> None:
        self.assertEqual(self.run_setup("--check", "--no-python").returncode, 0)
        self.assertEqual(self.run_setup("--check", "--no-python", "--long", "--no-tests").returncode, 0)
        asked = self.run_setup("--check", "--no-python", "--long")
        self.assertEqual(asked.returncode, 1)
        self.assertIn("chromium: shows and prints", asked.stderr)
        self.assertIn("pajeng: reads timelines", asked.stderr)
        # Ubuntu has no package of it.
        self.system('ID=ubuntu\nVERSION_ID="24.04"\n')
        self.assertNotIn("chromium", self.run_setup("--check", "--no-python", "--long").stderr)
        self.tool("pj_dump", "exit 0")
        self.tool("ip", "exit 0")
        self.assertEqual(self.run_setup("--check", "--no-python", "--long").returncode, 0)

    def test_what_apt_did_not_bring_is_an_error(self) -> None:
        self.libraries("fmt", "libzstd", "nlohmann_json", "pugixml", "CLI11", "libcrypto")
        result = self.run_setup("--no-python")
        self.assertEqual(result.returncode, 1)
        self.assertIn("still missing after apt-get", result.stderr)
        self.assertIn("libsimgrid-dev", result.stderr)

    def test_check_only_tells(self) -> None:
        (self.bin / "cmake").unlink()
        result = self.run_setup("--check", "--no-python")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cmake: configures the build", result.stderr)
        self.assertEqual(self.commands(), [])

    def test_other_and_older_systems_are_pointed_to_the_readme_and_left_alone(self) -> None:
        (self.bin / "cmake").unlink()
        for text in ("ID=fedora\nVERSION_ID=41\n", 'ID=ubuntu\nVERSION_ID="22.04"\n', 'ID=debian\nVERSION_ID="11"\n', ""):
            self.system(text)
            result = self.run_setup("--no-python")
            self.assertEqual(result.returncode, 1, text)
            self.assertIn("README.md", result.stderr)
            self.assertEqual(self.commands(), [], text)

    def test_newer_systems_are_served(self) -> None:
        (self.bin / "cmake").unlink()
        for text in ('ID=ubuntu\nVERSION_ID="24.04"\n', 'ID=debian\nVERSION_ID="13"\n', "ID=debian\n"):
            self.log.write_text("")
            self.system(text)
            self.run_setup("--no-python")
            self.assertEqual(len(self.commands()), 2, text)

    def test_a_user_without_root_goes_through_sudo_and_without_sudo_is_reported_what_to_run(self) -> None:
        (self.bin / "cmake").unlink()
        self.tool("id", "echo 1000")
        result = self.run_setup("--no-python")
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install --no-install-recommends cmake", result.stderr)
        self.assertEqual(self.commands(), [])
        self.tool("sudo", f'echo "sudo $*" >>"{self.log}"')
        self.run_setup("--no-python")
        self.assertTrue(self.commands()[0].startswith("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get"))

    def test_a_failing_apt_is_reported_with_the_command_to_run_by_hand(self) -> None:
        (self.bin / "cmake").unlink()
        self.tool("apt-get", "echo no network >&2; exit 100")
        result = self.run_setup("--no-python")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no network", result.stderr)
        self.assertIn("apt-get install --no-install-recommends cmake", result.stderr)

    def python(self, pip_status: int = 0) -> Path:
        """A python3 whose `-m venv F` makes F/bin/python, whose `-m pip` is recorded."""
        path = self.root / "a python3"
        path.write_text(
            f"""#!/bin/sh
case "$1 $2" in
"-m venv") /bin/mkdir -p "$3/bin"; /bin/cp "$0" "$3/bin/python"; echo venv >>"{self.log}" ;;
"-m pip") echo "pip ${{6##*/}} ${{7##*/}}" >>"{self.log}"; exit {pip_status} ;;
esac
"""
        )
        path.chmod(0o755)
        return path

    def test_the_environment_is_made_once_and_filled_again_when_the_requirements_change(self) -> None:
        python = str(self.python())
        self.assertEqual(self.run_setup(PYTHON=python).returncode, 0)
        self.assertEqual([line.split()[0] for line in self.commands()], ["venv", "pip", "pip"])
        self.assertEqual(self.run_setup(PYTHON=python).returncode, 0)
        self.assertEqual(len(self.commands()), 3)
        (self.root / "scripts" / "requirements.txt").write_text("matplotlib\npandas\n")
        self.assertEqual(self.run_setup("--check", PYTHON=python).returncode, 1)
        self.assertEqual(self.run_setup(PYTHON=python).returncode, 0)
        self.assertEqual([line.split()[0] for line in self.commands()], ["venv", "pip", "pip", "pip"])

    def test_without_tests_their_packages_stay_away(self) -> None:
        self.assertEqual(self.run_setup("--no-tests", PYTHON=str(self.python())).returncode, 0)
        (pip,) = (line for line in self.commands() if line.startswith("pip"))
        self.assertEqual(pip, "pip -r requirements.txt")

    def test_a_failed_pip_is_tried_again_the_next_time(self) -> None:
        self.assertEqual(self.run_setup(PYTHON=str(self.python(pip_status=1))).returncode, 1)
        self.assertEqual(self.run_setup("--check", PYTHON=str(self.python())).returncode, 1)

    def test_unknown_arguments_are_bad_usage(self) -> None:
        result = self.run_setup("--everything")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--everything", result.stderr)

    def test_help_is_a_report(self) -> None:
        result = self.run_setup("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("--check", result.stdout)


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
