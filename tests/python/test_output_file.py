"""What is left behind, and what is told, where a result cannot be written?"""

from __future__ import annotations

import errno
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import run_results
from benchmark_files import DATA
from sdsm.base.children import CommandFailed
from sdsm.base.output_file import write_output
from sdsm.epcc import command as epcc
from sdsm.microbench import command as microbench
from sdsm.plot import command as plot
from sdsm.validate import command as validate

ROOT = Path(__file__).resolve().parents[2]
EPCC_31 = str(DATA / "epcc" / "v31.syncbench.gcc.2.out")


@contextmanager
def room_for(size_bytes: int) -> Iterator[None]:
    """Writes beyond that many bytes of a file fail, as on a full disk; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_whole_or_as_it_was(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("before")
    for path in (old, new):
        with room_for(100), pytest.raises(OSError) as caught:
            write_output(path, "x" * 101)
        assert caught.value.filename == str(path) and str(tmp_path) in str(caught.value)
    assert old.read_text() == "before"
    assert os.listdir(tmp_path) == ["old"]
    with room_for(100):
        write_output(old, "ü" * 50)
        write_output(new, b"\xff")
    assert (old.read_bytes(), new.read_bytes()) == ("ü".encode() * 50, b"\xff")
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]


def test_what_fails_when_the_file_gets_its_name_leaves_no_part(tmp_path, monkeypatch):
    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "part", None, "target")

    monkeypatch.setattr(Path, "replace", no_room)
    with pytest.raises(OSError) as caught:
        write_output(tmp_path / "result", "text")
    assert str(caught.value) == f"[Errno {errno.ENOSPC}] No space left on device: '{tmp_path / 'result'}'"
    assert os.listdir(tmp_path) == []


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to("folder/result")
    for text in ("first", "second"):
        write_output(link, text)
        assert link.is_symlink() and (tmp_path / "folder" / "result").read_text() == text
    assert os.listdir(tmp_path / "folder") == ["result"]


def test_devices_and_pipes_are_written_as_they_are(tmp_path):
    write_output(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_output(Path("/dev/full"), "text")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_output(pipe, "through the pipe")
    assert os.read(reader, 100) == b"through the pipe" and pipe.is_fifo()
    os.close(reader)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("before")
    kept.chmod(0o444)
    with pytest.raises(PermissionError, match="kept"):
        write_output(kept, "after")
    assert kept.read_text() == "before"


def simulated(folder: Path) -> str:
    result = folder / "result.json"
    result.write_text(json.dumps(run_results.simulation(1, 1.0)))
    return str(result)


def test_figures_are_whole_or_not_there(tmp_path, capsys):
    result, plots = simulated(tmp_path), tmp_path / "plots"
    with room_for(64):
        assert plot.main([result, "-o", str(plots)]) == 1
    assert f"sdsm: {plots / 'speedup.png'}: File too large. Make room, or " in capsys.readouterr().err
    assert os.listdir(plots) == []
    with room_for(64):
        assert epcc.main([EPCC_31, "--plots", str(plots)]) == 1
    assert f"sdsm: {plots}/" in capsys.readouterr().err
    assert os.listdir(plots) == []


def test_a_campaigns_tables_are_whole_or_not_there(tmp_path, capsys, monkeypatch):
    (tmp_path / "build").mkdir()
    for name in validate.NEEDED:
        (tmp_path / "build" / name).write_text("")

    def failed(*_: object) -> None:
        raise CommandFailed("not here")

    monkeypatch.setattr(microbench, "measure_layouts", failed)
    results = tmp_path / "results"
    arguments = ["--only", "emulated", "--build", str(tmp_path / "build"), "--results", str(results)]
    with room_for(10):
        assert validate.main(arguments) == 1
    reported = capsys.readouterr().err
    assert f"sdsm: {results / 'validation.json'}: File too large. Make room, or name another place" in reported
    # Without a line its table is empty, and small enough.
    assert [path.name for path in results.rglob("*") if path.is_file()] == ["emulated.csv"]
