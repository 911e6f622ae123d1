# SPDX-License-Identifier: MIT
"""Pages of `everycore profile` and `everycore doctor`: each one file that needs no other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from everycore.report.page.html import POLICY, as_script


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """A table of texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """The contents of a page."""

    command: str  # "profile"
    headline: str
    subtitles: tuple[str, ...]  # where the answer comes from
    sentences: tuple[str, ...]  # causes, remedies and notes
    tables: tuple[AnswerTable, ...]
    drawing: Mapping[str, Any] | None = None  # a specification of Vega-Lite
    made: str = ""  # when
    version: str = ""


def render_answer(page: AnswerPage, plot_library: str) -> str:
    """Return the page. `plot_library`: JavaScript with vegaEmbed; not used without a drawing."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("everycore.report.page", "parts"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("answer.html").render(
        page=page,
        policy=POLICY,
        drawing=as_script(page.drawing) if page.drawing else "",
        plot_library=plot_library.replace("</script", "<\\/script"),
    )
