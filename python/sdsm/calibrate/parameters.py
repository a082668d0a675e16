"""A parameter of a platform with its birth certificate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a platform file.

    name:           the property's id.
    value, unit:    as in the file.
    standard_error: of the value, in its unit; None where nothing tells.
    samples:        how many it rests on; None where nothing tells.
    kind:           measured (a statistic of samples of that very thing, or published as such), fitted (solved for from
                    measurements of other things), assumed (nothing measured says it).
    how:            the statistic, the fit, or the reason.
    sources:        files, with lines where they have lines.
    runs:           what it was in each measured run, in its unit; the i-th of all parameters is of one run. None where it
                    was not measured in every run.
    """

    name: str
    value: float
    unit: str
    standard_error: float | None
    samples: int | None
    kind: str
    how: str
    sources: tuple[str, ...]
    runs: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("measured", "fitted", "assumed"):
            raise ValueError(f"{self.name}: {self.kind!r} is not one of measured, fitted, assumed")
