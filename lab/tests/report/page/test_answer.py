# SPDX-License-Identifier: MIT
"""Pages of `profile` and `doctor`: one file each, with a flame graph that Vega-Lite can draw."""

import json
import re

import pytest

from everycore.explain.stacks import Stack
from everycore.report.page import colours
from everycore.report.page.answer import AnswerPage, AnswerTable, render_answer
from everycore.report.page.flame_graph import NONE, flame_graph

pytest.importorskip("jinja2", reason="make lab")

STACKS = [
    Stack(("x", "main", "update", "encrypt", "AES: AES-NI"), 60.0, "AES", "cipher"),
    Stack(("x", "main", "parse"), 40.0),
]


def page(**more: object) -> AnswerPage:
    table = AnswerTable("Where", ("Share", "Computes"), (("60 %", "AES <script>"),))
    return AnswerPage("profile", "60 %", ("x",), ("Why: a < b.",), (table,), **more)  # type: ignore[arg-type]


def test_a_flame_graph_has_a_rectangle_for_each_frame() -> None:
    found = flame_graph(STACKS)
    assert found is not None
    rows = {row["name"]: row for row in found["data"]["values"]}
    assert (rows["main"]["begin"], rows["main"]["end"]) == (0, 100)
    assert rows["AES: AES-NI"]["share"] == 60
    assert rows["AES: AES-NI"]["computes"] == "AES"
    assert rows["parse"]["computes"] == NONE
    assert flame_graph([]) is None


def test_more_primitives_than_colours_share_the_last_one() -> None:
    many = [Stack(("x", f"p{n}"), 20.0 - n, f"p{n}", "hash") for n in range(12)]
    found = flame_graph(many)
    assert found is not None
    scale = found["layer"][0]["encoding"]["color"]["scale"]
    assert len(scale["domain"]) == len(scale["range"]) == len(colours.FRAMES) + 1
    assert {row["computes"] for row in found["data"]["values"]} == set(scale["domain"])


def test_vega_lite_draws_the_flame_graph() -> None:
    vl_convert = pytest.importorskip("vl_convert", reason="make lab")
    found = flame_graph(STACKS)
    assert found is not None
    drawn = vl_convert.vegalite_to_svg({**found, "width": 800})
    for word in ("encrypt", "AES: AES-NI", colours.FRAMES[0], colours.FRAME_WITHOUT):
        assert word in drawn


def test_a_page_fetches_nothing_and_lets_no_text_become_code() -> None:
    text = render_answer(page(drawing=flame_graph(STACKS)), "window.vegaEmbed = () => {};")
    assert "AES &lt;script&gt;" in text
    assert "Why: a &lt; b." in text
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", text)
    held = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert held
    assert json.loads(held[1])["data"]["values"]


def test_a_page_without_a_drawing_holds_no_script() -> None:
    assert "<script" not in render_answer(page(), "unused")
