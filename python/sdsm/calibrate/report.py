"""The JSON report of a calibration, and its table for the terminal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sdsm.calibrate import network_gate
from sdsm.calibrate.barrier_shape import Choice
from sdsm.calibrate.fit import Fit
from sdsm.calibrate.gate import Row
from sdsm.calibrate.measured_platform import plain
from sdsm.calibrate.network_gate import Held
from sdsm.calibrate.parameters import Parameter

FORMAT = "sdsm-calibration"
VERSION = 1


def digest(path: str) -> str | None:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def check(row: Row) -> dict[str, Any]:
    measured = row.measured
    head = {"name": row.name, "parameters": list(row.parameters), "measured_us": measured.value}
    known = {"standard_error_us": measured.standard_error, "samples": measured.samples}
    simulated = {"simulated_us": row.simulated, "allowed_us": row.allowed, "passes": row.passes}
    return head | known | simulated | {"sources": list(row.sources)}


def shape(choice: Choice) -> dict[str, Any]:
    """left_out: each layout beside each shape's prediction from the others."""
    left_out = [
        {"layout": str(one.layout), "measured_us": one.measured, "predicted_us": dict(one.predicted)}
        for one in choice.left_out
    ]
    return {"shape": choice.shape, "kind": choice.kind, "how": choice.how, "left_out": left_out}


def document(
    fit: Fit | None,
    parameters: Sequence[Parameter],
    base: str | None,
    files: Mapping[str, str],
    gate: Sequence[Row],
    held_out: Mapping[str, Any] | None,
    jitter: float | None,
    notes: Sequence[str],
    network: Sequence[Held] = (),
) -> dict[str, Any]:
    """files: by name, their format. network: the gate's messages by size."""
    passes = all(row.passes for row in gate) and all(one.passes for one in network)
    rows = {"passes": passes, "rows": [check(row) for row in gate], "network": network_gate.document(network)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "base": base,
        "files": [{"file": name, "format": kind, "sha256": digest(name)} for name, kind in files.items()],
        "parameters": [asdict(p) for p in parameters],
        "covariance": [{"of": list(pair), "value": value} for pair, value in (fit.covariance if fit else {}).items()],
        "not_in_the_platform_file": [asdict(p) for p in (fit.extras if fit else {}).values()],
        "jitter": jitter,
        "barrier_shape": None if fit is None else shape(fit.barrier_shape),
        "gate": rows if gate or network else None,
        "hold_out": held_out,
        "notes": list(notes),
    }


def table(parameters: Sequence[Parameter], gate: Sequence[Row]) -> str:
    """Returns the terminal's table."""
    lines = [f"{'parameter':<26}{'value':>14} {'unit':<6}{'standard error':>15}{'samples':>9}  is"]
    for p in parameters:
        error = "" if p.standard_error is None else f"{p.standard_error:.3g}"
        unit = p.unit if p.unit != "1" else ""
        lines.append(f"{p.name:<25} {plain(p.value):>14} {unit:<6} {error:>14} {p.samples or '':>8}  {p.kind}")
    if gate:
        titles = f"{'re-run in the simulator':<26}{'measured, us':>14}{'simulated, us':>15}{'difference':>12}"
        lines += ["", f"{titles}{'allowed':>11}"]
        for row in gate:
            shown = f"{row.simulated:.4f}" if row.simulated is not None else "not re-run"
            difference = f"{row.difference:+.4f}" if row.difference is not None else ""
            mark = "" if row.passes else "  FAILS"
            cells = f"{row.measured.value:>13.4f} {shown:>14} {difference:>11} {row.allowed:>10.4f}"
            lines.append(f"{row.name:<26} {cells}{mark}")
    return "\n".join(lines)
