# SPDX-License-Identifier: MIT
"""The plots: series over compiler versions, and heat maps, as specifications of Vega-Lite.

The page and the files show the same series; the page puts in what its filters leave.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from everycore.model.cells import Kind, Outcome
from everycore.report.figures import number
from everycore.report.page import colours, order
from everycore.report.page.facts import CYCLES, Fact, Panel, best, key_words

if TYPE_CHECKING:
    pass

DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2), (4, 2))  # of the groups: told apart without hue
LOG_FROM = 4.0  # ratio of the largest value to the least, from which on a scale is logarithmic
PEAK_APART = 1.05  # ratio of values, from which on one is the worse
NAMES_APART = 1.15  # the same, from which on there is room for two names
LOOKS = {"wrong": "#000000", "failed": "#fbd5da", "none": "#eceef1"}  # without a figure
SERIES_WIDTH, SERIES_HEIGHT = 420, 260


def plot_library() -> str:
    """Return Vega, Vega-Lite and vega-embed, as vl-convert carries them: JavaScript."""
    import vl_convert

    newest = vl_convert.get_vegalite_versions()[-1]
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", newest))


def peaks(facts: Sequence[Fact]) -> dict[int, str]:
    """Names at the odd points where lines are worst: of some facts of a panel, by their places."""
    worst: dict[tuple[str, str], int] = {}
    for place, fact in enumerate(facts):
        if fact.value is not None and any(a.kind is Kind.SLOW for a in fact.anomalies):
            key = (order.family(fact.cell.toolchain), fact.label)
            least = facts[worst[key]].value if key in worst else None
            if least is None or fact.value > least * PEAK_APART:
                worst[key] = place
    at: dict[str, list[list[int]]] = {}  # by toolchain, those that lie close together
    for place in sorted(worst.values(), key=lambda p: facts[p].value or 0):
        near = at.setdefault(facts[place].cell.toolchain, [])
        if near and (facts[place].value or 0) < (facts[near[-1][-1]].value or 0) * NAMES_APART:
            near[-1].append(place)
        else:
            near.append([place])
    found = {}
    for places in (own for near in at.values() for own in near):
        names = sorted((facts[place].label for place in places), key=lambda n: (len(n), n))
        more = f" +{len(names) - 2}" if len(names) > 2 else ""
        found[places[-1]] = ", ".join(names[:2]) + more
    return found


def rows(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    """Return the points of a series: a line is a flag set, a point a compiler."""
    named = peaks(facts)
    return [
        {
            "compiler": order.short(fact.cell.toolchain),
            "at": place,
            "family": order.family(fact.cell.toolchain),
            "flags": fact.label,
            "group": order.group(fact.cell.flags),
            "value": round(fact.value, 4),
            "odd": bool(fact.anomalies),
            "peak": named.get(place, ""),
            "side": "left" if _is_older_half(fact, facts) else "right",
        }
        for place, fact in enumerate(facts)
        if fact.value is not None
    ]


def _is_older_half(fact: Fact, facts: Sequence[Fact]) -> bool:
    """Names of points begin there, and end there in the newer half: none leaves the plot."""
    kind = order.family(fact.cell.toolchain)
    own = list(
        dict.fromkeys(f.cell.toolchain for f in facts if order.family(f.cell.toolchain) == kind)
    )
    return own.index(fact.cell.toolchain) < len(own) // 2


def domain(values: Sequence[float]) -> tuple[tuple[float, float], str]:
    """Return the domain of an axis, and the kind of its scale."""
    low, high = min(values), max(values)
    if low > 0 and high / low >= LOG_FROM:
        return (low / 1.06, high * 1.12), "log"
    return (0.0, high * 1.08), "linear"


def layers(
    data: Any, unit: str, extent: tuple[float, float], scale: str, family: str
) -> tuple[Any, Any, Any]:
    """Lines, points and names of peaks, of one family of compilers."""
    import altair as alt

    base = alt.Chart(data).encode(
        x=alt.X(
            "compiler:N",
            sort=alt.EncodingSortField("at", op="min"),
            title=family,
            axis=alt.Axis(labelAngle=0, labelOverlap=True),
        ),
        y=alt.Y(
            "value:Q",
            scale=alt.Scale(domain=list(extent), type=scale, nice=False),  # type: ignore[arg-type]
            axis=alt.Axis(tickCount=6),
            title=unit,
        ),
        detail="flags:N",
        color=alt.Color("group:N", scale=alt.Scale(domain=list(order.GROUPS)), legend=None),
    )
    dashes = alt.Scale(domain=list(order.GROUPS), range=[list(dash) for dash in DASHES])
    lines = base.mark_line(strokeWidth=1.4, opacity=0.65).encode(
        strokeDash=alt.StrokeDash("group:N", scale=dashes, legend=None)
    )
    points = base.mark_point(filled=True, opacity=1).encode(
        size=alt.condition("datum.odd", alt.value(52), alt.value(16)),
        shape=alt.condition("datum.odd", alt.value("triangle-up"), alt.value("circle")),
        tooltip=[
            alt.Tooltip("flags:N"),
            alt.Tooltip("compiler:N", title=family),
            alt.Tooltip("value:Q", title=unit, format=".4~g"),
        ],
    )
    named = (
        base.transform_filter("datum.peak !== ''")
        .mark_text(dy=-10, align=alt.ExprRef("datum.side"), fontSize=11)
        .encode(text="peak:N")
    )
    return lines, points, named


def pointed(lines: Any, points: Any, named: Any) -> Any:
    """With the line that is pointed at drawn over the others."""
    import altair as alt

    choice = alt.selection_point(
        "pointed", on="pointerover", fields=["flags"], nearest=True, empty=False, clear="pointerout"
    )
    bold = lines.copy().transform_filter(choice)
    bold.mark = alt.MarkDef(type="line", strokeWidth=3.5, opacity=1)
    return alt.layer(lines, bold, points.add_params(choice), named)


def page_series(unit: str, extent: tuple[float, float], scale: str, title: str) -> dict[str, Any]:
    """Without data: the page puts it in, under the name "cells"."""
    import altair as alt

    chart = pointed(*layers(alt.NamedData(name="cells"), unit, extent, scale, title))
    made: dict[str, Any] = chart.properties(width="container", height=SERIES_HEIGHT).to_dict()
    made.pop("config", None)
    return made


def series_of(panel: Panel, own: Sequence[Fact]) -> Any:
    """All families side by side, for a file; None: there is nothing to draw."""
    import altair as alt

    data = rows(own)
    if not data:
        return None
    extent, scale = domain([row["value"] for row in data])
    charts = []
    for name in dict.fromkeys(row["family"] for row in data):
        mine = [row for row in data if row["family"] == name]
        chart = alt.layer(*layers(alt.InlineData(values=mine), own[0].unit, extent, scale, name))
        charts.append(chart.properties(width=SERIES_WIDTH, height=SERIES_HEIGHT))
    return _dressed(alt.hconcat(*charts), panel, own)


def heat(panel: Panel, own: Sequence[Fact]) -> Any:
    """Compilers down, flags across; the colour is the ratio to the best cell."""
    import altair as alt

    least = best(own, lambda fact: fact.value).of_all
    steps = [str(i) for i in range(len(colours.LIGHT))]
    data = []
    for place, fact in enumerate(own):
        value = fact.value
        ratio = colours.step(value / least) if value is not None and least else None
        data.append(
            {
                "compiler": fact.cell.toolchain,
                "at": place,
                "flags": fact.label,
                "step": str(ratio) if ratio is not None else _look(fact),
                "shown": number(value) if value is not None else word(fact),
                "ink": colours.ink(
                    colours.LIGHT[ratio] if ratio is not None else LOOKS[_look(fact)]
                ),
            }
        )
    labels = list(
        dict.fromkeys(f.label for f in sorted(own, key=lambda f: order.flags_key(f.cell.flags)))
    )
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X("flags:N", sort=labels, title=None, axis=alt.Axis(orient="top", labelAngle=-50)),
        y=alt.Y("compiler:N", sort=alt.EncodingSortField("at", op="min"), title=None),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color(
            "step:N",
            scale=alt.Scale(domain=[*steps, *LOOKS], range=[*colours.LIGHT, *LOOKS.values()]),
            legend=None,
        )
    )
    texts = base.mark_text(fontSize=9).encode(text="shown:N", color=alt.Color("ink:N", scale=None))
    chart = alt.layer(squares, texts).properties(width=alt.Step(40), height=alt.Step(17))
    return _dressed(chart, panel, own, own[0].unit)


def _look(fact: Fact) -> str:
    outcome = fact.result.outcome
    return "wrong" if outcome is Outcome.WRONG else "failed" if outcome.is_failure else "none"


def word(fact: Fact) -> str:
    """Return the text of a cell without a value."""
    return WORDS.get(fact.result.outcome, "?")


WORDS = {
    "wrong": "WRONG",
    "crashed": "crash",
    "time limit": "limit",
    "not compiled": "refused",
    "skipped": "\N{EN DASH}",
}


def _dressed(chart: Any, panel: Panel, own: Sequence[Fact], unit: str = CYCLES) -> Any:
    caption = f"{panel.machine}, {panel.target}; {key_words(own)}{panel.n_bytes} bytes"
    title = {"text": panel.title, "subtitle": f"{unit}; {caption}", "anchor": "start"}
    return (
        chart.properties(title=title)
        .configure_view(stroke=None)
        .configure_range(category=list(colours.LINES_LIGHT))
    )
