"""Clock frequencies as people write them."""

from __future__ import annotations

import re

_CLOCK = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)\s*(k|M|G)?Hz", re.IGNORECASE)
_FACTORS = {"": 1e-6, "k": 1e-3, "m": 1.0, "g": 1e3}


def megahertz(text: str) -> float:
    """MHz, which are cycles per microsecond. Raises ValueError for text without unit or out of 1 kHz to 100 GHz."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text}' is no clock frequency with its unit, such as 500MHz or 2.4GHz")
    value = float(match[1]) * _FACTORS[(match[2] or "").lower()]
    if not 1e-3 <= value <= 1e5:
        raise ValueError(f"a clock of {text} cannot be: it is not between 1 kHz and 100 GHz")
    return value
