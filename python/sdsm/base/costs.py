"""Costs of messages, diffs and barriers, from `sdsm costs`: the simulator's own code computes them (models/).

One process answers all questions, a line each way. It starts with the first question and ends with this process.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sdsm.base.command_line import RunFailed
from sdsm.base.places import PROGRAMS

if TYPE_CHECKING:
    from sdsm.microbench.command import Layout


class CostsFailed(RunFailed):
    """`sdsm costs` gave no answer. The text is one line."""


class Sizes(msgspec.Struct, frozen=True):
    """Payloads in bytes: a control message, a page, and the largest message."""

    control_bytes: int
    page_bytes: int
    most_payload_bytes: int


class Frame(msgspec.Struct, frozen=True):
    """Ethernet frames in bytes: largest payload, overhead, and least size on a wire."""

    payload: int
    overhead: int
    minimum: int


class Diff(msgspec.Struct, frozen=True):
    words: int
    bytes: int
    messages: int


class Message(msgspec.Struct, frozen=True):
    """wire_bytes: size on one wire, with its frames. idle_bytes: bytes whose wire times sum to its time over an idle route,
    where each switch forwards a frame when it has all of it."""

    bytes: int
    wire_bytes: int
    idle_bytes: int


class Barrier(msgspec.Struct, frozen=True):
    """One gather, a barrier from messages alone, and one scaled to a measurement; us."""

    layout: str
    gather_us: float
    modelled_us: float
    extrapolated_us: float


class Fault(msgspec.Struct, frozen=True):
    """A kind of fault. access: "read" or "write"; twins_copy: of a page of another node."""

    name: str
    access: str
    fetches_page: bool
    twins_copy: bool


class Answer(msgspec.Struct, frozen=True):
    sizes: Sizes
    frame: Frame
    diffs: tuple[Diff, ...] = ()
    messages: tuple[Message, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    faults: tuple[Fault, ...] = ()


class Asker:
    """Asks `sdsm costs`. build: the folder of the built commands."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: Mapping[str, Any]) -> Answer:
        """Raises CostsFailed."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            return msgspec.json.decode(process.stdout.readline(), type=Answer)
        except (OSError, msgspec.DecodeError):
            self._process = None
            said = process.communicate()[1].strip().removeprefix("sdsm: ") or "it ended"
            raise CostsFailed(f"sdsm costs: {said}") from None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = self.build / "sdsm-costs"
            pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            try:
                self._process = subprocess.Popen([command, "-"], text=True, **pipes)
            except OSError as error:
                raise CostsFailed(f"{command} cannot be started ({error.strerror}). Build it first") from None
        return self._process


_asker = Asker(PROGRAMS)


def use(build: Path) -> None:
    """Asks the command in this folder from the next question on."""
    global _asker
    if build.resolve() != _asker.build.resolve():
        _asker = Asker(build)


@cache
def sizes() -> Sizes:
    return _asker.ask({}).sizes


@cache
def default_frame() -> Frame:
    return _asker.ask({}).frame


@cache
def diff(words: int) -> Diff:
    """The diff of `words` changed words of a page, in one run."""
    return _asker.ask({"diff_words": [words]}).diffs[0]


@cache
def message(size: int, frame: Frame, links: int) -> Message:
    """A message of `size` bytes of payload over a route of `links` links."""
    asked = {"payloads": [size], "frame": msgspec.structs.asdict(frame), "links": links}
    return _asker.ask(asked).messages[0]


@cache
def faults(protocol: str) -> tuple[Fault, ...]:
    """Returns the kinds of faults of a protocol. Raises CostsFailed for an unknown one."""
    return _asker.ask({"protocol": protocol}).faults


def fault_names() -> tuple[str, ...]:
    """Page faults that a platform file has costs of, in its order."""
    return tuple(fault.name for fault in faults("scash"))


def barriers(
    shape: str, message_us: Mapping[str, float], measured_us: Mapping[Layout, float], layouts: Sequence[Layout]
) -> tuple[Barrier, ...]:
    """message_us: wire, link and processor of a control message. measured_us: the barrier to extrapolate from."""
    measured = {str(layout): time for layout, time in measured_us.items()}
    question = {"shape": shape, "message_us": message_us, "measured_us": measured, "layouts": [str(one) for one in layouts]}
    return _asker.ask({"barrier": question}).barriers
