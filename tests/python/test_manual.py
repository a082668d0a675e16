"""Are commands' help texts read alike, whatever version of CLI11 prints them?"""

from __future__ import annotations

import pytest

from sdsm.manual import completions, help_text, pages

#: What one command prints with CLI11 2.1 and 2.4: a default stands behind a sign, or in brackets and a space.
OLDER = """Predict.
Usage: sdsm simulate [OPTIONS]

Options:
  -p,--platform PLATFORM REQUIRED
                              platform file
  -t,--threads T=1            threads
  --placement block|first-touch=block
                              where pages lie
"""
NEWER = OLDER.replace("T=1            threads", "T [1] \n                              threads").replace(
    "first-touch=block\n", "first-touch [block] \n"
)


@pytest.mark.parametrize("text", [OLDER, NEWER])
def test_options_their_words_and_their_texts_are_those_of_the_command(text):
    entries = list(help_text.parse(text).entries())
    assert [entry.names for entry in entries] == [["-p", "--platform"], ["-t", "--threads"], ["--placement"]]
    assert [entry.text for entry in entries] == ["platform file", "threads", "where pages lie"]
    assert entries[2].choices == ["block", "first-touch"]
    assert all(entry.takes_value for entry in entries)
    assert "--platform -t --threads --placement" in completions.bash({"simulate": help_text.parse(text)})


WORDY = """usage: sdsm sweep SPEC

Simulate what
a file asks for:

options:
  -q, --quiet           no progress

results (without any: tables):
  --json FILE           all

A file, a.toml (each value a list):
  nodes = 2
Further axes: all options.

examples:
  sdsm sweep a.toml
"""


def test_titles_become_headings_and_sentences_that_end_with_a_colon_do_not():
    text = help_text.parse(WORDY)
    assert [section.title for section in text.sections] == ["", "options", "results (without any: tables)", "", "examples"]
    page = pages.page("sdsm sweep", "0", text).splitlines()
    headings = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "RESULTS (without any: tables)", "EXAMPLES"]
    assert [line[4:] for line in page if line.startswith(".SH")] == headings
    assert "A file, a.toml (each value a list):" in page
