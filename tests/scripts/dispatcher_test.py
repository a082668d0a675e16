#!/usr/bin/env python3
"""What `sdsm` answers, with small programs in place of the real subcommands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHELL_TOOLS = "/usr/bin:/bin"


class Dispatcher(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sdsm test ")  # a space, as a checkout's path may hold one
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name)
        self.build = self.root / "build"
        self.elsewhere = self.root / "elsewhere"
        self.build.mkdir()
        self.elsewhere.mkdir()
        self.package = self.root / "python" / "sdsm"
        shutil.copytree(ROOT / "python" / "sdsm" / "base", self.package / "base")
        for file in ("__main__.py", "sdsm/__init__.py"):
            shutil.copy(ROOT / "python" / file, self.root / "python" / file)
        self.sdsm = self.build / "sdsm"
        filled = {"SDSM_CHECKOUT": str(self.root), "PROJECT_VERSION": "4.5.6"}
        self.sdsm.write_text(re.sub(r"@(\w+)@", lambda found: filled[found[1]], (ROOT / "cmake" / "sdsm.in").read_text()))
        self.sdsm.chmod(0o755)
        (self.root / "CMakeLists.txt").write_text("project(sdsm VERSION 4.5.6 LANGUAGES C CXX\n")

    def program(self, folder: Path, name: str, body: str, interpreter: str = "/bin/sh") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(f"#!{interpreter}\n{body}\n")
        path.chmod(0o755)
        return path

    def run_sdsm(self, *arguments: str, command: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(command or self.sdsm), *arguments],
            env={"PATH": f"{self.elsewhere}:{SHELL_TOOLS}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_a_subcommand_gets_its_arguments_unchanged_and_its_status_is_handed_on(self) -> None:
        self.program(self.build, "sdsm-count", 'printf "[%s]" "$@"; exit 7')
        result = self.run_sdsm("count", "two words", "", "*", "--help")
        self.assertEqual((result.stdout, result.returncode), ("[two words][][*][--help]", 7))

    def test_beside_the_command_comes_before_path(self) -> None:
        self.program(self.build, "sdsm-where", "echo beside")
        self.program(self.elsewhere, "sdsm-where", "echo path")
        self.program(self.elsewhere, "sdsm-only", "echo path")
        self.assertEqual(self.run_sdsm("where").stdout, "beside\n")
        self.assertEqual(self.run_sdsm("only").stdout, "path\n")

    def test_a_link_to_the_command_looks_beside_the_real_one(self) -> None:
        self.program(self.build, "sdsm-where", "echo beside")
        link = self.elsewhere / "sdsm"
        link.symlink_to(self.sdsm)
        self.assertEqual(self.run_sdsm("where", command=link).stdout, "beside\n")

    def test_a_python_subcommand_runs_in_the_checkouts_environment(self) -> None:
        # The environment's Python says that it is: the interpreter's name is a link's.
        (self.root / ".venv" / "bin").mkdir(parents=True)
        (self.root / ".venv" / "bin" / "python").symlink_to(sys.executable)
        self.program(self.build, "sdsm-figure", "import sys; print(sys.executable, *sys.argv[1:])", interpreter="/usr/bin/env python3")
        self.program(self.build, "sdsm-binary", "echo sh")
        self.assertEqual(self.run_sdsm("figure", "a").stdout, f"{self.root}/.venv/bin/python a\n")
        self.assertEqual(self.run_sdsm("binary").stdout, "sh\n")

    def new_command(self, name: str, body: str) -> None:
        folder = self.package / name
        folder.mkdir()
        (folder / "command.py").write_text(f'DESCRIPTION = "Counts words.\\nThen ends."\n\n\ndef main():\n    {body}\n')

    def test_a_folder_with_a_command_is_a_subcommand_and_nothing_else_names_it(self) -> None:
        self.new_command("count", "import sys; print(sys.argv[1:]); return 7")
        (self.package / "empty").mkdir()
        result = self.run_sdsm("count", "two words", "")
        self.assertEqual((result.stdout, result.returncode), ("['two words', '']\n", 7))
        self.assertIn("\n  count        Counts words.\n\n", self.run_sdsm("help").stdout)
        self.assertIn("did you mean 'sdsm count'?", self.run_sdsm("cuont").stderr)

    def test_modules_in_the_working_folder_hide_none_of_sdsms(self) -> None:
        self.new_command("count", "import csv; print(csv.__file__); return 0")
        (self.elsewhere / "csv.py").write_text("")
        (self.elsewhere / "sdsm.py").write_text("")
        result = subprocess.run([self.sdsm, "count"], cwd=self.elsewhere, capture_output=True, text=True)
        self.assertEqual((result.returncode, str(self.elsewhere) in result.stdout), (0, False), result.stderr)

    def test_the_projects_own_python_subcommands_are_listed_with_a_sentence(self) -> None:
        reported = subprocess.run([sys.executable, ROOT / "python", "--help"], capture_output=True, text=True).stdout
        for folder in (ROOT / "python" / "sdsm").glob("*/command.py"):
            self.assertRegex(reported, rf"(?m)^  {folder.parent.name:<12} [A-Z].*\.$")

    def test_an_entry_point_of_the_environment_is_a_subcommand(self) -> None:
        self.program(self.root / ".venv" / "bin", "sdsm-fit", "echo fitted")
        (self.root / ".venv" / "bin" / "python").symlink_to(sys.executable)
        self.assertEqual(self.run_sdsm("fit").stdout, "fitted\n")

    def test_help_lists_each_subcommand_with_the_first_sentence_of_its_help(self) -> None:
        self.program(self.build, "sdsm-cli11", "printf 'Play a trace.\\nUsage: sdsm-cli11 [OPTIONS]\\n'")
        self.program(self.elsewhere, "sdsm-argparse", "printf 'usage: x [-h]\\n         [--more]\\n\\nFit costs.\\n'")
        for arguments in (["help"], ["--help"], ["-h"]):
            result = self.run_sdsm(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("  argparse     Fit costs.\n  cli11        Play a trace.\n", result.stdout)

    def test_the_usage_line_of_a_subcommand_is_not_taken_for_its_description(self) -> None:
        self.program(self.build, "sdsm-trace", "printf 'sdsm trace -n N\\nsdsm trace info\\n\\nRuns a program.\\n'")
        self.assertIn("  trace        Runs a program.\n", self.run_sdsm("help").stdout)

    def test_an_overview_that_cannot_be_written_is_one_line_and_status_1(self) -> None:
        self.program(self.build, "sdsm-count", "echo Counts.")
        for argument in ("--help", "--version", "help"):
            with open("/dev/full", "w") as full:
                result = subprocess.run(
                    [str(self.sdsm), argument], env={"PATH": SHELL_TOOLS}, stdout=full, stderr=subprocess.PIPE, text=True
                )
            self.assertEqual(result.returncode, 1, argument)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("sdsm: "), result.stderr)

    def test_help_with_a_name_asks_that_subcommand(self) -> None:
        self.program(self.build, "sdsm-count", 'echo "$*"')
        self.assertEqual(self.run_sdsm("help", "count").stdout, "--help\n")
        self.assertEqual(self.run_sdsm("help", "help").stdout, self.run_sdsm("help").stdout)

    def test_a_subcommand_whose_help_fails_is_listed_without_a_sentence(self) -> None:
        self.program(self.build, "sdsm-broken", "exit 1")
        result = self.run_sdsm("help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("  broken", result.stdout)

    def test_no_argument_is_bad_usage_and_says_what_there_is(self) -> None:
        self.program(self.build, "sdsm-count", "echo Counts.")
        result = self.run_sdsm()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("Counts.", result.stderr)

    def test_an_unknown_subcommand_gets_the_nearest_name_and_status_2(self) -> None:
        self.program(self.build, "sdsm-simulate", "")
        self.program(self.build, "sdsm-trace", "")
        for typed, meant in (("simluate", "simulate"), ("tarce", "trace"), ("sim", "simulate")):
            result = self.run_sdsm(typed)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"did you mean 'sdsm {meant}'?", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_a_far_name_gets_no_guess(self) -> None:
        self.program(self.build, "sdsm-trace", "")
        result = self.run_sdsm("quaternion")
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("did you mean", result.stderr)

    def test_names_that_are_paths_or_patterns_are_refused(self) -> None:
        self.program(self.build / "sdsm-x", "y", "echo escaped")
        for typed in ("x/y", "../build/sdsm-x/y", "*", "a b"):
            result = self.run_sdsm(typed)
            self.assertEqual((result.returncode, result.stdout), (2, ""), typed)

    def test_unknown_options_are_refused(self) -> None:
        result = self.run_sdsm("--frobnicate")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--frobnicate", result.stderr)

    def test_version_is_the_projects(self) -> None:
        self.assertEqual(self.run_sdsm("--version").stdout, "sdsm 4.5.6\n")

    def test_files_that_cannot_be_run_are_not_subcommands(self) -> None:
        (self.build / "sdsm-notes").write_text("just text")
        self.assertEqual(self.run_sdsm("notes").returncode, 2)
        self.assertNotIn("notes", self.run_sdsm("help").stdout)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
