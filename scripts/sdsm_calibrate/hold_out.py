"""How well a fit predicts the samples that it has not seen."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import Any

from calibration.fit import CalibrationError, Data, Fit, fit
from calibration.network import Network

#: Of a standard normal distribution: 90 % lie within.
BAND = 1.6449


def score(
    fitted: Fit, held: Data, network: Network, given: Mapping[str, str], simulated: Mapping[str, float]
) -> dict[str, Any]:
    """Each quantity of the held-out samples beside what the simulator makes of the fit; microseconds and parts.

    network, given: as for the fit itself.

    Raises CalibrationError if too little was held out to compare anything.
    """
    others = {check.row: check.measured for check in fit(held, network, given).checks}
    rows: list[dict[str, Any]] = []
    for check in fitted.checks:
        value, other = simulated.get(check.row), others.get(check.row)
        if value is None or other is None or other.value == 0:
            continue
        errors = (check.measured.standard_error, other.standard_error)
        both = None if None in errors else math.hypot(*(e or 0.0 for e in errors))
        rows.append(
            {
                "name": check.row,
                "simulated_us": value,
                "held_out_us": other.value,
                "standard_error_us": other.standard_error,
                "samples": other.samples,
                "relative_error": (value - other.value) / other.value,
                "within_90_percent_band": None if not both else abs(value - other.value) <= BAND * both,
            }
        )
    if not rows:
        raise CalibrationError("too little was held out to compare anything. Measure more samples")
    within = [row["within_90_percent_band"] for row in rows if row["within_90_percent_band"] is not None]
    return {
        "rows": rows,
        "median_relative_error": statistics.median(abs(row["relative_error"]) for row in rows),
        "within_90_percent_band": sum(within) / len(within) if within else None,
    }


def table(value: Mapping[str, Any]) -> str:
    lines = ["", f"{'held out':<26}{'held out, us':>14}{'simulated, us':>15}{'error':>9}"]
    for row in value["rows"]:
        lines.append(
            f"{row['name']:<26}{row['held_out_us']:>14.4f}{row['simulated_us']:>15.4f}{row['relative_error']:>9.1%}"
        )
    lines.append(f"median error {value['median_relative_error']:.1%}")
    if value["within_90_percent_band"] is not None:
        lines.append(f"within the 90 % band of both errors: {value['within_90_percent_band']:.0%}")
    return "\n".join(lines)
