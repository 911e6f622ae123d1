# SPDX-License-Identifier: MIT
"""The page in Chromium: drawn, filtered, sorted, walked through; and it asks for nothing."""

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from report.page import matrices

from everycore.commands.report import _plot_library
from everycore.explain.stacks import Stack
from everycore.model.cells import Result
from everycore.report.page import anomaly_groups, colours
from everycore.report.page.answer import AnswerPage, render_answer
from everycore.report.page.benches import Entry, Table
from everycore.report.page.facts import Facts, Source, best, collect
from everycore.report.page.flame_graph import flame_graph
from everycore.report.page.html import Page, Section, render

pytest.importorskip("altair", reason="make lab")
vl_convert = pytest.importorskip("vl_convert", reason="make lab")
webdriver = pytest.importorskip("selenium.webdriver", reason="pip install selenium")

WIDE, NARROW = (1400, 1000), (400, 900)
SETTLED = 20  # seconds that a busy machine may take
EMPTY_BYTES = 12_000  # a picture of nothing takes fewer


@cache
def javascript() -> str:
    """Bundle the plot library once, which takes a second."""
    return _plot_library()


@pytest.fixture(scope="module")
def address(facts: Facts, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(render(Page(facts), javascript()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    browser, chauffeur = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not chauffeur:
        pytest.skip("no chromium: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(chauffeur)
    with webdriver.Chrome(options=options, service=service) as found:
        found.set_script_timeout(SETTLED)
        yield found


READY_SECONDS = 60  # on a busy machine a large page is parsed long after it is loaded


class Shown:
    """The page as it is looked at."""

    def __init__(self, driver: Any, address: str) -> None:
        self._driver = driver
        self._address = address

    def open(
        self, fragment: str = "", size: tuple[int, int] = WIDE, colours: str = "light"
    ) -> None:
        self._driver.get("about:blank")
        for kind in ("browser", "performance"):
            self._driver.get_log(kind)
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = [{"name": "prefers-color-scheme", "value": colours}]
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        self._driver.get(f"{self._address}#{fragment}")
        end = time.monotonic() + READY_SECONDS
        while self("return document.documentElement.dataset.ready") != "yes":
            assert time.monotonic() < end, f"the page is not ready after {READY_SECONDS} s"
            time.sleep(0.05)
        self("document.documentElement.style.scrollBehavior = 'auto'")

    def __call__(self, script: str, *arguments: Any) -> Any:
        return self._driver.execute_script(script, *arguments)

    def until(self, condition: str) -> None:
        """Wait for a condition of JavaScript."""
        script = (
            "const done = arguments[0]; const look = () =>"
            f" {{ if ({condition}) {{ done(true); }} else {{ setTimeout(look, 20); }} }}; look();"
        )
        assert self._driver.execute_async_script(script)

    def count(self, selector: str) -> int:
        script = "return [...document.querySelectorAll(arguments[0])].filter((e) => !e.hidden)"
        return int(self(f"{script}.length", selector))

    def press(self, key: str) -> None:
        from selenium.webdriver.common.keys import Keys

        self._driver.switch_to.active_element.send_keys(getattr(Keys, key))

    def picture(self) -> bytes:
        return bytes(self._driver.get_screenshot_as_png())

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self._driver.get_log("browser")]

    def requests(self) -> set[str]:
        found = set()
        for entry in self._driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.add(message["params"]["request"]["url"].partition("#")[0])
        return found


@pytest.fixture
def page(driver: Any, address: str) -> Shown:
    return Shown(driver, address)


def rounded(value: float) -> float:
    """As the page has it."""
    return float(f"{value:.5g}")


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_it_is_drawn_without_complaint_or_request(
    page: Shown, address: str, size: tuple[int, int], look: str, tmp_path: Path
) -> None:
    page.open(size=size, colours=look)
    page("document.getElementById('series').scrollIntoView()")
    page.until("document.querySelector('#charts [data-drawn] svg .mark-line')")
    picture = page.picture()
    (tmp_path / f"{look}-{size[0]}.png").write_bytes(picture)
    assert len(picture) > EMPTY_BYTES
    assert page("return document.documentElement.scrollWidth") <= size[0]
    assert page.complaints() == []
    assert page.requests() == {address}


def test_a_flame_graph_is_drawn_without_complaint_or_request(driver: Any, tmp_path: Path) -> None:
    path = tmp_path / "profile.html"
    stacks = [Stack(("x", "main", "encrypt", "AES: AES-NI"), 60, "AES"), Stack(("x", "main"), 40)]
    answer = AnswerPage("profile", "60 %", (), (), (), flame_graph(stacks))
    path.write_text(render_answer(answer, javascript()), encoding="utf-8")
    page = Shown(driver, path.as_uri())
    page.open()
    page.until("document.querySelectorAll('#flame svg .mark-rect path').length >= 4")
    assert len(page.picture()) > EMPTY_BYTES
    assert page.complaints() == []
    assert page.requests() == {path.as_uri()}


def test_each_cell_has_the_colour_of_its_ratio(page: Shown, facts: Facts) -> None:
    page.open()
    found = page(
        "return Object.fromEntries([...document.querySelectorAll('#maps td[data-i]')]"
        ".map((td) => [td.dataset.i, td.className]))"
    )
    assert len(found) == len(facts.facts)
    least = {panel: best(own, lambda f: f.value).of_all for panel, own in facts.panels().items()}
    for place, fact in enumerate(facts.facts):
        classes = found[str(place)].split()
        if fact.value is not None:
            ratio = rounded(fact.value) / rounded(least[fact.panel] or 1)
            assert f"h{colours.step(ratio)}" in classes, fact.cell
        else:
            assert any(name in classes for name in ("x-skipped", "x-wrong", "x-failed"))


def test_wrong_answers_failures_and_skips_are_told_apart_by_words(page: Shown) -> None:
    page.open()
    words = page(
        "return ['x-wrong', 'x-failed', 'x-skipped'].map((name) =>"
        " [...new Set([...document.querySelectorAll('#maps .' + name)].map((e) => e.textContent))])"
    )
    assert words == [["WRONG"], ["crash", "limit", "refused"], ["\N{EN DASH}"]]


def test_a_text_leaves_cells_groups_and_maps_that_have_it(page: Shown, facts: Facts) -> None:
    page.open()
    page("document.querySelector('input[name=q]').focus()")
    for key in "clang-22 vpgatherdd":
        page._driver.switch_to.active_element.send_keys(key)
    page.until("document.getElementById('shown').innerText.startsWith('3 of')")
    assert page.count(".card") == 1
    assert page.count("#maps .panel") == 3
    assert page.count("#table tbody tr") == 3
    assert page.count("#maps td[data-i]:not(.faded)") == 3
    page("document.querySelector('button[type=reset]').click()")
    page.until(
        f"document.querySelectorAll('.card').length === {len(anomaly_groups.groups(facts.facts))}"
    )
    assert page.count(".card[hidden]") == 0


@pytest.mark.parametrize(
    ("fragment", "cells"),
    [("o=wrong", 1), ("o=failed", 3), ("o=leak", 1), ("s=libressl&c=gcc&f=O2", 10), ("q=none", 0)],
)
def test_filters_are_in_the_address(page: Shown, fragment: str, cells: int) -> None:
    page.open(fragment)
    assert page("return document.getElementById('shown').innerText") == f"{cells} of 1,145 cells"
    assert page.count("#table tbody tr") == cells


def test_a_tile_filters_by_outcome(page: Shown) -> None:
    page.open()
    page("document.querySelector('.t-skipped').click()")
    assert page("return location.hash") == "#o=skipped"
    assert page("return document.querySelector('.t-skipped').ariaPressed") == "true"


def test_a_column_sorts_the_cells_both_ways_and_blanks_stay_last(page: Shown) -> None:
    page.open("c=gcc-7")
    script = (
        "return [...document.querySelectorAll('#table tbody tr')].map((r) => r.cells[6].innerText)"
    )
    for _ in range(2):
        page("document.querySelector('#table thead [data-by=\"6\"]').click()")
    assert page("return document.querySelector('#table th[aria-sort]').ariaSort") == "descending"
    frames = page(script)
    assert frames[0] == "4040"
    assert frames[-1] == ""
    known = [int(text) for text in frames if text]
    assert known == sorted(known, reverse=True)


def test_columns_without_a_value_in_any_cell_are_left_out(
    driver: Any, page: Shown, tmp_path: Path
) -> None:
    """They would push the reason of a wrong answer out of sight."""
    names = "return [...document.querySelectorAll('#table thead th')].map((h) => h.innerText)"
    page.open()
    assert {"frame", "gathers", "why"} <= set(page(names))
    lines = [
        line.replace(code=None, executed=None)
        for line in matrices.lines()
        if isinstance(line, Result)
    ]
    path = tmp_path / "uncounted.html"
    path.write_text(render(Page(collect([Source("x", matrices.head(), tuple(lines))])), ""))
    bare = Shown(driver, path.as_uri())
    bare.open()
    shown = bare(names)
    assert not {"frame", "gathers", "executed"} & set(shown)
    assert shown[-1] == "why"
    cells = "return [...document.querySelector('#table tbody tr').cells].length"
    assert bare(cells) == len(shown)
    bare("document.querySelector('#table thead th:last-child button').click()")
    assert bare("return document.querySelector('#table th[aria-sort]').innerText") == "why"
    assert bare.complaints() == []


def test_arrow_keys_walk_through_a_map_and_enter_tells_all(page: Shown) -> None:
    page.open("s=linux-6.1&c=clang-22")
    page("document.querySelector('#maps td[tabindex=\"0\"]').focus()")
    for _ in range(5):
        page.press("ARROW_RIGHT")
    tip = page("return document.getElementById('tip').innerText")
    assert "clang-22 O2+v" in tip
    assert "interval" in tip
    page.press("END")
    assert page(
        "return document.activeElement.parentElement.lastElementChild === document.activeElement"
    )
    page.press("ENTER")
    assert page("return document.getElementById('dialog').open")
    page.press("ESCAPE")
    page.until("!document.getElementById('dialog').open")


def test_pointing_tells_cycles_frame_instructions_and_gathers(page: Shown) -> None:
    from selenium.webdriver import ActionChains

    page.open("q=vpgatherdd&c=clang-22&s=linux-6.1")
    page("document.querySelector('#maps td.odd').scrollIntoView({block: 'center'})")
    page.until("new Promise((done) => requestAnimationFrame(done))")
    cell = page("return document.querySelector('#maps td.odd')")
    ActionChains(page._driver).move_to_element(cell).move_by_offset(2, 2).perform()
    page.until("!document.getElementById('tip').hidden")
    tip = page("return document.getElementById('tip').innerText")
    words = ["cycles per byte", "interval", "5 processes, 94 %", "frame", "64 gathers"]
    for word in (*words, "-fno-slp-vectorize"):
        assert word in tip


def test_a_group_opens_to_cells_code_and_a_command(page: Shown) -> None:
    page.open("q=vpgatherdd")
    page("document.querySelector('.card:not([hidden]) details').open = true")
    page.until("document.querySelector('.card:not([hidden]) .asm tr.gone')")
    inside = page("return document.querySelector('.card:not([hidden]) .inside').innerText")
    for words in (
        "vpgatherdd %ymm0",
        "everycore matrix --toolchain clang-2",
        "differs in",
        "march",
    ):
        assert words in inside
    button = "document.querySelector('.card:not([hidden]) p [data-copy]')"
    report = page(f"return {button}.dataset.copy")
    assert "-fno-slp-vectorize repairs it" in report


def test_the_switch_of_colours_outweighs_the_system(page: Shown) -> None:
    page.open(colours="light")
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = page(ground)
    page("document.querySelector('[data-theme-is=dark]').click()")
    assert page(ground) != light
    page("document.querySelector('[data-theme-is=\"\"]').click()")
    assert page(ground) == light


def test_another_metric_and_another_best_recolour_the_maps(page: Shown) -> None:
    page.open("m=frame")
    hot = "return [...document.querySelectorAll('#maps td.h6')].map((td) => td.textContent)"
    assert set(page(hot)) == {"4040"}
    page.open("b=row&s=linux-6.1&c=gcc-7")
    rows = page("return [...document.querySelectorAll('#maps td.h0')].length")
    page.open("b=col&s=linux-6.1&c=gcc-7")
    assert page("return [...document.querySelectorAll('#maps td.h0')].length") != rows


def test_ten_thousand_cells_are_shown_and_filtered(driver: Any, tmp_path: Path) -> None:

    from everycore.model.cells import Anomaly, Result

    lines = []
    original = list(matrices.lines())
    for number in range(9):
        for line in original:
            if isinstance(line, Result | Anomaly):
                name = f"{line.cell.subject}-{number}"
                lines.append(line.replace(cell=line.cell.replace(subject=name)))
    facts = collect([Source("big", matrices.head(), tuple(lines))])
    assert len(facts.facts) > 10_000
    path = tmp_path / "big.html"
    path.write_text(render(Page(facts), ""), encoding="utf-8")
    page = Shown(driver, path.as_uri())
    page.open()
    took = page(
        "const start = performance.now(); const q = document.querySelector('input[name=q]');"
        "location.hash = 'q=libressl-3'; window.dispatchEvent(new HashChangeEvent('hashchange'));"
        "return performance.now() - start"
    )
    assert page("return document.getElementById('shown').innerText") == "375 of 10,305 cells"
    assert took < 5_000  # milliseconds; an idle machine takes some 100
    assert page.complaints() == []


def test_hand_written_assembly_is_a_row_below_the_compilers(
    driver: Any, facts: Facts, tmp_path: Path
) -> None:
    where = matrices.cell("openssl-x86", "gcc-12", "O2", "aesni-cbc-enc")
    lines = [
        line.replace(computes="cbc-enc") if isinstance(line, Result) else line
        for line in facts.sources[0].lines
    ]
    by_hand = matrices.measured(where, 0.63).replace(computes="cbc-enc", is_assembly=True)
    found = collect([replace(facts.sources[0], lines=(*lines, by_hand))])
    path = tmp_path / "page.html"
    path.write_text(render(Page(found), javascript()), encoding="utf-8")
    page = Shown(driver, path.as_uri())
    page.open("s=linux-6.1")
    page("document.getElementById('maps').scrollIntoView()")
    (tmp_path / "assembly.png").write_bytes(page.picture())
    rows = page("return [...document.querySelectorAll('.asmref')].map((row) => row.innerText)")
    (text,) = rows  # none among counts of instructions
    assert text.split("\t") == ["assembly", "0.631 openssl-x86 aesni-cbc-enc, written by hand"]
    page.open("s=linux-6.1&m=frame")
    assert page.count(".asmref") == 0
    assert page.complaints() == []


# ---- What a reader looks at first ---------------------------------------------------------------


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_map_is_cut_off(page: Shown, size: tuple[int, int]) -> None:
    page.open(size=size)
    cut = page(
        """const room = document.getElementById("maps").clientWidth;
        return [...document.querySelectorAll(".panel")].filter((panel) => {
            const heat = panel.querySelector(".heat");
            return heat.scrollWidth > heat.clientWidth + 1 && panel.offsetWidth < room - 1;
        }).length"""
    )
    assert cut == 0
    assert page("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("target", ["heat", "panel2", "cells"])
def test_a_link_leads_to_what_it_names(page: Shown, target: str, size: tuple[int, int]) -> None:
    """Its top is in sight, below what sticks to the window."""
    for how in (target, ""):  # in the address, and clicked
        page.open(how, size)
        if not how:
            page(
                "const a = document.createElement('a'); a.href = '#' + arguments[0];"
                "document.body.append(a); a.click()",
                target,
            )
        page.until(
            f"(() => {{ const box = document.getElementById('{target}').getBoundingClientRect();"
            " const top = box.top;"
            " const end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;"
            " const stuck = [...document.querySelectorAll('.bar, .filters')]"
            ".filter((e) => getComputedStyle(e).position === 'sticky')"
            ".reduce((sum, e) => sum + e.offsetHeight, 0);"
            " return top >= stuck - 1 && (end || top < stuck + 80); })()"
        )


def test_charts_are_drawn_after_a_jump(page: Shown) -> None:
    page.open("series")
    page.until("document.querySelector('.chart:not([hidden]) [data-drawn]')")


def test_the_navigation_wraps_on_a_phone(page: Shown) -> None:
    page.open(size=NARROW)
    assert page("""return [...document.querySelectorAll(".bar nav a")].every((a) => {
        const box = a.getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth;
    })""")


def test_many_links_of_the_navigation_take_several_lines(
    driver: Any, facts: Facts, tmp_path: Path
) -> None:
    table = Table("times", ("kernel", "cycles"), ((Entry("c_ref"), Entry("1.0")),))
    names = [f"Peers-of-suite-{i}" for i in range(12)]
    sections = tuple(Section(name, f"{name} 2026-01-02", "here", (table,)) for name in names)
    path = tmp_path / "page.html"
    path.write_text(render(Page(facts, sections), javascript()), encoding="utf-8")
    shown = Shown(driver, path.as_uri())
    shown.open(size=(1200, 800))
    assert shown("""const nav = document.querySelector(".bar nav").getBoundingClientRect();
        const links = [...document.querySelectorAll(".bar nav a")];
        const filters = document.querySelector(".filters").getBoundingClientRect();
        return links.length > 12 && links.every((a) => {
            const box = a.getBoundingClientRect();
            return box.right <= nav.right + 1 && box.bottom <= filters.top;
        });""")


def test_own_runs_are_open_and_stored_ones_are_not_until_a_link_leads_there(
    driver: Any, facts: Facts, tmp_path: Path
) -> None:
    table = Table("times", ("kernel", "cycles"), ((Entry("c_ref"), Entry("1.0")),))
    own = Section("bench", "Bench 2026-01-02", "here", (table,))
    sections = (own, replace(own, title="Bench 2025-01-02", is_own=False))
    path = tmp_path / "page.html"
    path.write_text(render(Page(facts, sections), javascript()), encoding="utf-8")
    shown = Shown(driver, path.as_uri())
    shown.open()
    assert shown("return [...document.querySelectorAll('.run')].map((e) => e.open)") == [
        True,
        False,
    ]
    shown.open("run2")
    shown.until("document.getElementById('run2').open")


def test_own_and_stored_cells_are_told_apart(driver: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(render(Page(matrices.own_and_stored()), javascript()), encoding="utf-8")
    shown = Shown(driver, path.as_uri())
    shown.open()
    names = "[...document.querySelectorAll('#maps h3')].map((e) => e.textContent)"
    own, stored = shown(f"return {names}")
    assert own.startswith("mine")
    assert "stored" not in own
    assert stored.endswith("; stored with everycore")
    for value, left in (("own", "mine"), ("stored", "libressl")):
        shown.open(f"w={value}")
        shown.until(f"{names}.length === 1 && {names}[0].startsWith('{left}')")
        assert shown.count(".card:not([hidden])") == 1
