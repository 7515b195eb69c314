"""Small maps as SVG: an extent over a coarse outline of land, which is in this package."""

from __future__ import annotations

import functools
import importlib.resources
import math

Box = tuple[float, float, float, float]  # xmin, ymin, xmax, ymax

WIDTH, HEIGHT = 360, 180  # pixels
UNITS = 2  # of the outline in a degree
SMALLEST_WINDOW = 40.0  # degrees of longitude: the outline is too coarse for less
SMALLEST_BOX = 0.03  # of the window's width: a smaller extent has a circle


def drawn(extent: Box, asked: Box | None = None) -> str:
    """A map of an extent in degrees of longitude and latitude, and of a box that was asked for; "" for an extent that is not finite."""
    if not all(math.isfinite(bound) for bound in extent):
        return ""
    west, south, width, height = window = _window(extent)
    shapes = [_rectangle(extent, 'fill="#d6402a" fill-opacity="0.25" stroke="#d6402a" stroke-width="1.5"')]
    if extent[2] - extent[0] < SMALLEST_BOX * width and extent[3] - extent[1] < SMALLEST_BOX * width:
        x, y = (extent[0] + extent[2]) / 2, (extent[1] + extent[3]) / 2
        shapes.append(f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{width / 60:.6g}" fill="none" stroke="#d6402a" stroke-width="1.5" {_FIXED}/>')
    if asked is not None and all(math.isfinite(bound) for bound in asked):
        shapes.append(_rectangle(_within(asked, window), 'fill="none" stroke="#1f4e9c" stroke-width="1.5" stroke-dasharray="4 3"'))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="map of the extent" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="{west:.6g} {-south - height:.6g} {width:.6g} {height:.6g}" style="background:#e8f0f6;overflow:hidden">'
        f'<g transform="scale(1,-1)"><g transform="scale({1 / UNITS})">'
        f'<path d="{_land()}" fill="#c9d3c0" stroke="#9aa793" stroke-width="0.5" {_FIXED}/></g>{"".join(shapes)}</g></svg>'
    )


_FIXED = 'vector-effect="non-scaling-stroke"'


@functools.cache
def _land() -> str:
    return importlib.resources.files(__package__).joinpath("land.txt").read_text(encoding="ascii").strip()


def _window(extent: Box) -> Box:
    """What the map shows, as west, south, width and height: the world, or for a small extent what is around it."""
    west, south, east, north = extent
    width = min(max(1.6 * (east - west), 3.2 * (north - south), SMALLEST_WINDOW), 360.0)
    height = width * HEIGHT / WIDTH
    x = min(max((west + east) / 2 - width / 2, -180.0), 180.0 - width)
    y = min(max((south + north) / 2 - height / 2, -90.0), 90.0 - height)
    return x, y, width, height


def _within(box: Box, window: Box) -> Box:
    """The box, cut a little outside of the window."""
    west, south, width, height = window
    xs = (min(max(x, west - width), west + 2 * width) for x in (box[0], box[2]))
    ys = (min(max(y, south - height), south + 2 * height) for y in (box[1], box[3]))
    (xmin, xmax), (ymin, ymax) = xs, ys
    return xmin, ymin, xmax, ymax


def _rectangle(box: Box, style: str) -> str:
    x, y = min(box[0], box[2]), min(box[1], box[3])
    return f'<rect x="{x:.6g}" y="{y:.6g}" width="{abs(box[2] - box[0]):.6g}" height="{abs(box[3] - box[1]):.6g}" {style} {_FIXED}/>'
