#!/usr/bin/env python3
"""What `sdsm` answers, with small programs in place of the real subcommands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DISPATCHER = Path(__file__).resolve().parent.parent.parent / "scripts" / "sdsm"
SHELL_TOOLS = "/usr/bin:/bin"


class Dispatcher(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sdsm test ")  # a space, as a checkout's path may hold one
        self.addCleanup(self._folder.cleanup)
        self.root = Path(self._folder.name)
        self.scripts = self.root / "scripts"
        self.elsewhere = self.root / "elsewhere"
        self.scripts.mkdir()
        self.elsewhere.mkdir()
        self.sdsm = self.scripts / "sdsm"
        shutil.copy(DISPATCHER, self.sdsm)
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
        self.program(self.scripts, "sdsm-count", 'printf "[%s]" "$@"; exit 7')
        result = self.run_sdsm("count", "two words", "", "*", "--help")
        self.assertEqual((result.stdout, result.returncode), ("[two words][][*][--help]", 7))

    def test_beside_the_command_comes_before_path(self) -> None:
        self.program(self.scripts, "sdsm-where", "echo beside")
        self.program(self.elsewhere, "sdsm-where", "echo path")
        self.program(self.elsewhere, "sdsm-only", "echo path")
        self.assertEqual(self.run_sdsm("where").stdout, "beside\n")
        self.assertEqual(self.run_sdsm("only").stdout, "path\n")

    def test_a_link_to_the_command_looks_beside_the_real_one(self) -> None:
        self.program(self.scripts, "sdsm-where", "echo beside")
        link = self.elsewhere / "sdsm"
        link.symlink_to(self.sdsm)
        self.assertEqual(self.run_sdsm("where", command=link).stdout, "beside\n")

    def test_a_python_subcommand_runs_in_the_checkouts_environment(self) -> None:
        self.program(self.root / ".venv" / "bin", "python", 'echo "environment ran $(basename "$1") $2"')
        self.program(self.scripts, "sdsm-figure", "print('bare')", interpreter="/usr/bin/env python3")
        self.program(self.scripts, "sdsm-binary", "echo sh")
        self.assertEqual(self.run_sdsm("figure", "a").stdout, "environment ran sdsm-figure a\n")
        self.assertEqual(self.run_sdsm("binary").stdout, "sh\n")

    def test_a_copy_in_the_build_folder_finds_the_checkouts_python_subcommands(self) -> None:
        build = self.root / "build"
        build.mkdir()
        filled = DISPATCHER.read_text().replace("@SDSM_CHECKOUT@", str(self.root)).replace("@PROJECT_VERSION@", "4.5.6")
        (build / "sdsm").write_text(filled)
        (build / "sdsm").chmod(0o755)
        self.program(self.root / ".venv" / "bin", "python", 'echo "Tables of $(basename "$1")"')
        self.program(self.scripts, "sdsm-epcc", "print('bare')", interpreter="/usr/bin/env python3")
        self.assertEqual(self.run_sdsm("epcc", "x.out", command=build / "sdsm").stdout, "Tables of sdsm-epcc\n")
        self.assertIn("  epcc         Tables of sdsm-epcc\n", self.run_sdsm("--help", command=build / "sdsm").stdout)

    def test_the_projects_own_python_subcommands_are_listed_with_a_sentence(self) -> None:
        listed = self.run_sdsm("--help", command=DISPATCHER)
        self.assertRegex(listed.stdout, r"(?m)^  epcc         [A-Z].*\.$")
        self.assertEqual(self.run_sdsm("epcc", command=DISPATCHER).returncode, 2)

    def test_an_entry_point_of_the_environment_is_a_subcommand(self) -> None:
        self.program(self.root / ".venv" / "bin", "sdsm-fit", "echo fitted")
        self.assertEqual(self.run_sdsm("fit").stdout, "fitted\n")

    def test_help_lists_each_subcommand_with_the_first_sentence_of_its_help(self) -> None:
        self.program(self.scripts, "sdsm-cli11", "printf 'Play a trace.\\nUsage: sdsm-cli11 [OPTIONS]\\n'")
        self.program(self.elsewhere, "sdsm-argparse", "printf 'usage: x [-h]\\n         [--more]\\n\\nFit costs.\\n'")
        for arguments in (["help"], ["--help"], ["-h"]):
            result = self.run_sdsm(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("  argparse     Fit costs.\n  cli11        Play a trace.\n", result.stdout)

    def test_the_usage_line_of_a_subcommand_is_not_taken_for_its_description(self) -> None:
        self.program(self.scripts, "sdsm-trace", "printf 'sdsm trace -n N\\nsdsm trace info\\n\\nRuns a program.\\n'")
        self.assertIn("  trace        Runs a program.\n", self.run_sdsm("help").stdout)

    def test_an_overview_that_cannot_be_written_is_one_line_and_status_1(self) -> None:
        self.program(self.scripts, "sdsm-count", "echo Counts.")
        for argument in ("--help", "--version", "help"):
            with open("/dev/full", "w") as full:
                result = subprocess.run(
                    [str(self.sdsm), argument], env={"PATH": SHELL_TOOLS}, stdout=full, stderr=subprocess.PIPE, text=True
                )
            self.assertEqual(result.returncode, 1, argument)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("sdsm: "), result.stderr)

    def test_help_with_a_name_asks_that_subcommand(self) -> None:
        self.program(self.scripts, "sdsm-count", 'echo "$*"')
        self.assertEqual(self.run_sdsm("help", "count").stdout, "--help\n")
        self.assertEqual(self.run_sdsm("help", "help").stdout, self.run_sdsm("help").stdout)

    def test_a_subcommand_whose_help_fails_is_listed_without_a_sentence(self) -> None:
        self.program(self.scripts, "sdsm-broken", "exit 1")
        result = self.run_sdsm("help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("  broken", result.stdout)

    def test_no_argument_is_bad_usage_and_says_what_there_is(self) -> None:
        self.program(self.scripts, "sdsm-count", "echo Counts.")
        result = self.run_sdsm()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("Counts.", result.stderr)

    def test_an_unknown_subcommand_gets_the_nearest_name_and_status_2(self) -> None:
        self.program(self.scripts, "sdsm-simulate", "")
        self.program(self.scripts, "sdsm-trace", "")
        for typed, meant in (("simluate", "simulate"), ("tarce", "trace"), ("sim", "simulate")):
            result = self.run_sdsm(typed)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"did you mean 'sdsm {meant}'?", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_a_far_name_gets_no_guess(self) -> None:
        self.program(self.scripts, "sdsm-trace", "")
        result = self.run_sdsm("quaternion")
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("did you mean", result.stderr)

    def test_names_that_are_paths_or_patterns_are_refused(self) -> None:
        self.program(self.scripts / "sdsm-x", "y", "echo escaped")
        for typed in ("x/y", "../scripts/sdsm-x/y", "*", "a b"):
            result = self.run_sdsm(typed)
            self.assertEqual((result.returncode, result.stdout), (2, ""), typed)

    def test_unknown_options_are_refused(self) -> None:
        result = self.run_sdsm("--frobnicate")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--frobnicate", result.stderr)

    def test_version_is_the_projects(self) -> None:
        self.assertEqual(self.run_sdsm("--version").stdout, "sdsm 4.5.6\n")

    def test_files_that_cannot_be_run_are_not_subcommands(self) -> None:
        (self.scripts / "sdsm-notes").write_text("just text")
        self.assertEqual(self.run_sdsm("notes").returncode, 2)
        self.assertNotIn("notes", self.run_sdsm("help").stdout)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
