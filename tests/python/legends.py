"""Whether legends stand where no data are, in pixels."""

from __future__ import annotations

from matplotlib.figure import Figure


def data_under_legends(figure: Figure) -> list[tuple[float, float]]:
    """Points of lines and ends of bars, in pixels, that lie in the box of a legend."""
    figure.canvas.draw()
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
