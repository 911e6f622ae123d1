# SPDX-License-Identifier: MIT
"""The flame graph of a profile, as a specification of Vega-Lite.

Each rectangle is a function, as wide as its samples; it lies on the function that called it. The
colour is the primitive that the innermost function computes.
"""

from collections.abc import Sequence
from typing import Any

from everycore.explain.stacks import Frame, Stack, flame, primitives_by_share
from everycore.report.page import colours

ROW_HEIGHT = 18
_LEAST_SHARE = 0.0005  # of the width: narrower frames are not drawn
_NAME_PIXELS = 28  # narrower frames have no name in them
_REST = "other cryptography"
NONE = "no primitive named"


def flame_graph(found: Sequence[Stack]) -> dict[str, Any] | None:
    """Return the drawing of some stacks; None where there are none."""
    frames = flame(found)
    if not frames:
        return None
    total = max(box.end for box in frames)
    names = primitives_by_share(found)
    shown = names[: len(colours.FRAMES) - 1]
    domain = [*shown, *([_REST] if len(names) > len(shown) else []), NONE]
    palette = [*colours.FRAMES[: len(domain) - 1], colours.FRAME_WITHOUT]
    depth = 1 + max(box.depth for box in frames)
    rows = [_row(box, total, shown) for box in frames if box.end - box.begin > _LEAST_SHARE * total]
    width = "scale('x', datum.end) - scale('x', datum.begin)"
    x: dict[str, Any] = {
        "field": "begin",
        "type": "quantitative",
        "scale": {"domain": [0, 100], "nice": False},
        "axis": {"title": "% of the samples of user code", "grid": False},
    }
    y = {
        "field": "depth",
        "type": "quantitative",
        "scale": {"domain": [0, depth], "nice": False},
        "axis": None,
    }
    fill = {
        "field": "computes",
        "type": "nominal",
        "scale": {"domain": domain, "range": palette},
        "legend": {"orient": "top", "title": None, "labelLimit": 300, "columns": 2},
    }
    tooltip = [
        {"field": "name", "type": "nominal", "title": "function"},
        {"field": "share", "type": "quantitative", "title": "% of samples", "format": ".1f"},
        {"field": "computes", "type": "nominal", "title": "computes"},
    ]
    turning = {"type": "interval", "encodings": ["x"]}  # the wheel and dragging change the part
    frame = {
        "params": [{"name": "part", "select": turning, "bind": "scales"}],
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.5, "clip": True},
        "encoding": {
            "x": x,
            "x2": {"field": "end"},
            "y": y,
            "y2": {"field": "top"},
            "color": fill,
            "tooltip": tooltip,
        },
    }
    name = {
        "mark": {
            "type": "text",
            "align": "left",
            "baseline": "middle",
            "dx": 3,
            "fontSize": 11,
            "clip": True,
            "limit": {"expr": f"max(1, {width} - 5)"},
        },
        "encoding": {
            "x": x,
            "y": {**y, "field": "middle"},
            "text": {
                "condition": {"test": f"{width} > {_NAME_PIXELS}", "field": "name"},
                "value": "",
            },
            "color": {"field": "ink", "type": "nominal", "scale": None},
            "tooltip": tooltip,
        },
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": rows},
        "width": "container",
        "height": ROW_HEIGHT * depth,
        "layer": [frame, name],
        "config": {"view": {"stroke": None}},
    }


def _row(box: Frame, total: float, shown: Sequence[str]) -> dict[str, Any]:
    computes = box.primitives if box.primitives in shown or not box.primitives else _REST
    colour = colours.FRAMES[shown.index(computes)] if computes in shown else ""
    if computes == _REST:
        colour = colours.FRAMES[len(shown)]
    return {
        "name": box.name,
        "depth": box.depth,
        "middle": box.depth + 0.5,
        "top": box.depth + 1,
        "begin": round(100 * box.begin / total, 4),
        "end": round(100 * box.end / total, 4),
        "share": round(100 * (box.end - box.begin) / total, 4),
        "computes": computes or NONE,
        "ink": colours.ink(colour or colours.FRAME_WITHOUT),
    }
