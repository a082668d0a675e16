"""Whether legends stand where no data are, and texts where nothing else is written, in pixels."""

from __future__ import annotations

from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def data_under_legends(figure: Figure) -> list[tuple[float, float]]:
    """Points of lines and ends of bars, in pixels, that lie in the box of a legend."""
    figure.draw_without_rendering()
    panels = figure.get_axes()
    boxes = [legend.get_window_extent() for legend in [*figure.legends, *(axes.get_legend() for axes in panels)] if legend]
    assert boxes, "the figure has no legend"
    points = []
    for axes in panels:
        points += [tuple(point) for line in axes.get_lines() for point in axes.transData.transform(line.get_xydata())]
        for patch in axes.patches:
            points += [tuple(point) for point in patch.get_window_extent().corners()]
        for shape in axes.collections:
            for path in shape.get_paths():
                points += [tuple(point) for point in shape.get_transform().transform(path.vertices)]
    assert points, "the figure has no data"
    return [(x, y) for x, y in points for box in boxes if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1]


def faults_of_texts(figure: Figure) -> list[str]:
    """Texts that leave the figure, or are written over one another, where the renderer puts them."""
    drawn: list[Text] = []
    draw = Text.draw

    def noted(text: Text, renderer: RendererBase) -> None:
        drawn.append(text)
        draw(text, renderer)

    try:
        figure.draw_without_rendering()  # which lays it out
        Text.draw = noted  # type: ignore[assignment, method-assign]
        figure.draw_without_rendering()
    finally:
        Text.draw = draw  # type: ignore[method-assign]
    inside = figure.bbox.padded(1)
    boxes = [(one.get_text(), _letters(one)) for one in drawn if one.get_visible() and one.get_text().strip()]
    assert boxes, "the figure has no text"
    faults = [f"cut off: {text!r}" for text, box in boxes if not (inside.contains(*box.p0) and inside.contains(*box.p1))]
    for number, (text, box) in enumerate(boxes):
        faults += [f"{text!r} over {other!r}" for other, beside in boxes[number + 1 :] if _overlap(box, beside)]
    return faults


def _letters(text: Text) -> Bbox:
    """Where its letters are: of a text aslant only a box around its end, as the rest of the upright one is empty."""
    box = text.get_window_extent()
    if text.get_rotation() % 90:
        height = text.get_fontsize() * 2
        return Bbox([[box.x1 - height, box.y1 - height], [box.x1, box.y1]])
    return box


def _overlap(one: Bbox, other: Bbox) -> bool:
    """By more than a pixel."""
    return min(one.x1, other.x1) - max(one.x0, other.x0) > 1 and min(one.y1, other.y1) - max(one.y0, other.y0) > 1
