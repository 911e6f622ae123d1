# SPDX-License-Identifier: MIT
"""Write the calibration for docs/evidence/estimates.md, as text alone."""

from collections.abc import Mapping, Sequence

from everycore.estimate.core_estimates import Core, Fit, Point, rms
from everycore.report.kernels import markdown_table


def page(
    cores: Mapping[str, Core],
    points: Sequence[Point],
    fits: Mapping[str, Fit],
    tools: Mapping[str, str],
    instructions: Mapping[str, float],
) -> str:
    """Tables of cores, of each core's points, and of where all that comes from."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(tools.items()))
    text = f"Evaluated with {versions}.\n\n"
    text += markdown_table(
        ["core", "model", "points", "rms error", "range at least", "remark"],
        [_core(core, points, fits) for core in cores.values()],
        right=(2, 3, 4),
    )
    for core in cores.values():
        own = [point for point in points if point.core == core.name]
        if own:
            text += f"\n### {core.title}\n\n" + _points(own, fits, instructions)
    return text


def _core(core: Core, points: Sequence[Point], fits: Mapping[str, Fit]) -> list[str]:
    own = [
        fits[p.key]
        for p in points
        if p.core == core.name and p.use == "calibrate" and p.key in fits
    ]
    error = f"{rms([fit.error for fit in own]):.0%}" if own else ""
    margin = f"±{core.margin:.0%}" if core.margin else "none shown"
    name = core.model if core.model != "llvm-mca" else f"llvm-mca, pairs {core.pair}"
    return [core.title, name, str(len(own)), error, margin, core.why]


def _points(
    own: Sequence[Point], fits: Mapping[str, Fit], instructions: Mapping[str, float]
) -> str:
    left_out = any(fits[p.key].left_out is not None for p in own if p.key in fits)
    head = ["function", "technique", "i/B", "published", "model", "error"]
    head += ["left out", "error left out"] if left_out else []
    rows: list[list[str]] = []
    notes: list[str] = []
    for point in own:
        fit = fits.get(point.key)
        name = f"{point.subject} {point.function}"
        per_byte = instructions.get(name)
        row = [name + (" *" if point.use != "calibrate" else "")]
        row += ["+".join(point.techniques), f"{per_byte:.2f}" if per_byte else ""]
        row += [f"{point.cycles_per_byte:g}" + (" (derived)" if point.derived else "")]
        row += [f"{fit.model:.3g}", _error(fit.model, point)] if fit else ["", ""]
        if left_out:
            seen = fit.left_out if fit else None
            row += [f"{seen:.3g}", _error(seen, point)] if seen is not None else ["", ""]
        rows.append(row)
        notes.append(f"* {name}: {_note(point)}\n")
    text = markdown_table(head, rows, right=range(2, len(head)))
    if any(point.use != "calibrate" for point in own):
        text += "\n\\* in no fit and in no factor: what the model says of code that it never saw.\n"
    return text + "\n" + "".join(notes)


def _note(point: Point) -> str:
    return point.source + (f"; {point.note}" if point.note else "") + "."


def _error(model: float, point: Point) -> str:
    return f"{model / point.cycles_per_byte - 1:+.1%}"
