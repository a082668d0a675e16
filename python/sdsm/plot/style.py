"""The style of all figures, and their output: the same bytes from the same data."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter
from matplotlib.transforms import ScaledTranslation

from sdsm.base.output_file import write_output

# Okabe and Ito's palette: distinguishable with every common form of colour blindness.
BLUE = "#0072B2"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
ORANGE = "#E69F00"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
INK = "#222222"
GREY = "#8A8A8A"
PALE = "#D9D9D9"

PUBLISHED = VERMILION
PREDICTED = BLUE

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.dpi": 100,
    # Text stays text in SVG; a fixed salt keeps its identifiers the same from run to run.
    "svg.fonttype": "none",
    "svg.hashsalt": "sdsm",
}


def new_figure(width_in: float, height_in: float) -> Figure:
    """An empty figure in the project's style, drawn without a display, whatever the user's matplotlibrc says."""
    matplotlib.use("Agg")
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
    return Figure(figsize=(width_in, height_in), layout="constrained")


def heading(figure: Figure, title: str, explanation: str) -> None:
    """A title and a sentence that says how to read the figure, left-aligned above all panels; wrapped to its width."""
    width_in, height_in = figure.get_size_inches()
    titles = wrapped(title, int(TITLE_LETTERS * width_in))
    lines = [line for paragraph in explanation.split("\n") for line in wrapped(paragraph, int(LETTERS * width_in))]
    below_title_in = 0.20 + 0.20 * len(titles)
    top = 1.0 - (below_title_in + 0.12 + 0.17 * len(lines)) / height_in
    figure.get_layout_engine().set(rect=(0.0, 0.0, 1.0, top))  # type: ignore[union-attr, call-arg]
    # A user's name is text, and no formula.
    figure.text(0.012, 1.0 - 0.12 / height_in, "\n".join(titles), fontsize=12, fontweight="bold", va="top", parse_math=False)
    figure.text(0.012, 1.0 - below_title_in / height_in, "\n".join(lines), fontsize=8.5, color="#555555", va="top", linespacing=1.35)


#: Letters that an inch has room for, in a title and in the text below it.
TITLE_LETTERS, LETTERS = 9.0, 14.5


def wrapped(text: str, letters: int, most_lines: int = 4) -> list[str]:
    """Returns lines of the text; words that are too long are broken."""
    return textwrap.wrap(text, letters, max_lines=most_lines, placeholder=" ...") or [""]


def about(programs: Iterable[str], platforms: Iterable[str], layouts: Iterable[str]) -> str:
    """Returns "PROGRAM on PLATFORM, LAYOUT" for a title, of each what all have in common; empty if nothing."""
    program, platform, layout = (one.pop() if len(one := set(names)) == 1 else "" for names in (programs, platforms, layouts))
    return ", ".join(filter(None, (f"{program} on {platform}" if program and platform else program or platform, layout)))


def light_grid(axes: Axes, axis: str = "y") -> None:
    """Thin lines behind the data along one axis."""
    axes.grid(True, axis=axis, color="#E6E6E6", linewidth=0.7)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


#: Ticks with numbers on an axis.
LEAST_TICKS = 3
#: Markers of a figure's marked points.
EXTRAPOLATED = "some costs were not measured, but extrapolated or assumed."
HOLLOW = f"Hollow points: {EXTRAPOLATED}"


def logarithmic_y(axes: Axes, low: float, high: float) -> None:
    """Scales from low to high, with numbers at 1, 2 and 5; over a short range, which has too few of these, at round numbers."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    ticks = LogLocator(subs=(1, 2, 5))
    has_enough = sum(low <= one <= high for one in ticks.tick_values(low, high)) >= LEAST_TICKS
    axes.yaxis.set_major_locator(ticks if has_enough else MaxNLocator(5))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def logarithmic_bar(bar: Colorbar) -> None:
    """Numbers at 1, 2 and 5 beside a colour bar, or at 1 alone over several decades; not as powers."""
    low, high = bar.ax.get_ylim()
    subs = (1, 2, 5) if high < 50 * low else (1,)
    bar.set_ticks(LogLocator(subs=subs))  # type: ignore[arg-type]
    bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    bar.ax.yaxis.set_minor_locator(NullLocator())


#: Longest name beside an axis.
MOST_SIGNS = 60


def short(name: str, most: int = MOST_SIGNS) -> str:
    """Shortens a name beside an axis, to leave room for the drawing."""
    return name if len(name) <= most else f"{name[: most - 3]}..."


def name_places(axes: Axes, which: str, places: Iterable[float], names: Iterable[str]) -> None:
    """Names places of the axis "x" or "y". Users' names are text, and no formula."""
    getattr(axes, f"set_{which}ticks")(list(places), list(names))
    for label in getattr(axes, f"get_{which}ticklabels")():
        label.set_parse_math(False)


def is_crowded(names: Sequence[str], width_in: float) -> bool:
    """Whether names below an axis of that width run into each other."""
    return max(map(len, names)) + 2 > LETTERS * 0.9 * width_in / len(names)


def names_below(axes: Axes, places: Iterable[float], names: Sequence[str], width_in: float, most: int = MOST_SIGNS) -> None:
    """Names places of the x axis, as they are, or aslant if they would run into each other on a panel of that width."""
    name_places(axes, "x", places, (short(name, most) for name in names))
    if is_crowded(names, width_in):
        for label in axes.get_xticklabels():
            label.set(rotation=25, ha="right", rotation_mode="anchor")


def label(name: str) -> str:
    """Returns a name for a legend, which leaves out what begins with _."""
    return f"\u200b{name}" if name.startswith("_") else name


def legend_of_all(figure: Figure, panels: Iterable[Axes], columns: int = 1) -> None:
    """Places one legend for all panels below them; each label once. Users' names are text, and no formula."""
    shown = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    legend = figure.legend(list(shown.values()), list(shown), loc="outside lower left", fontsize=8, ncols=columns)
    for text in legend.get_texts():
        text.set_parse_math(False)


def legend_below(axes: Axes, of: Axes | None = None, fontsize: float = 8.0, columns: int = 1) -> None:
    """Places the legend below the panel and its axis label, where it covers no data: its lines, or those of `of`. Users'
    names are text, and no formula."""
    below = axes.transAxes + ScaledTranslation(0, -0.42, axes.get_figure().dpi_scale_trans)  # type: ignore[union-attr]
    handles, labels = (of or axes).get_legend_handles_labels()
    legend = axes.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, borderaxespad=0, fontsize=fontsize,
        ncols=columns,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


#: Metadata of each format without dates and versions, so that the same figure is the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def write_figure(figure: Figure, path: Path) -> None:
    """Writes the format of the name's ending: png, svg or pdf. Raises OSError."""
    write_output(path, drawing(figure, path.suffix[1:]))


def drawing(figure: Figure, ending: str) -> bytes:
    """ending: png, svg or pdf."""
    out = io.BytesIO()
    figure.savefig(out, format=ending, dpi=160, facecolor="white", metadata=_METADATA[ending])
    return out.getvalue()


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Writes NAME.png and NAME.svg. Returns their paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
    for path in paths:
        write_figure(figure, path)
    return paths
