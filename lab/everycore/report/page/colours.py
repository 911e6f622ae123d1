# SPDX-License-Identifier: MIT
"""Steps of heat, and their colours on light and on dark.

Lightness falls (on dark: rises) from step to step, so that they are told apart without hue; every
cell shows its figure as well.
"""

from bisect import bisect_left
from collections.abc import Sequence

RATIO_STEPS = (1.03, 1.10, 1.25, 1.5, 2.0, 3.0, 5.0)
LIGHT = ("#e9f4f0", "#f2ebc8", "#fbdf9d", "#f8bd6c", "#f0914f", "#dd6443", "#b02f3a", "#6b1440")
DARK = ("#1b2b2b", "#33311f", "#4c3d1b", "#6e4a17", "#97531b", "#d3693c", "#f08e66", "#ffc2ad")
INKS = ("#ffffff", "#14171c")
# One for each of order.GROUPS; at least 3 to 1 against both grounds of the page.
LINES_LIGHT = ("#3a4657", "#b8480c", "#5b6b00", "#7a3db8", "#0a6f87")
LINES_DARK = ("#c3ccd9", "#ff9d5c", "#b9cc4a", "#c79bf2", "#5ccbe3")
# Primitives in a flame graph, told apart by their lightness too; the last one is for all others.
FRAMES = ("#b8480c", "#3f9ab5", "#7a3db8", "#8aa000", "#0a5f78", "#d9a13a", "#9c2f5f", "#6f7d8f")
FRAME_WITHOUT = "#d6dae0"
GROUND_LIGHT, GROUND_DARK = "#ffffff", "#14171c"


def step(value: float, steps: Sequence[float] = RATIO_STEPS) -> int:
    """0 is the coolest; a bound belongs to the step below it."""
    return bisect_left(steps, value)


def ink(ground: str) -> str:
    """The colour of text that is read best there."""
    return max(INKS, key=lambda colour: contrast(colour, ground))


def contrast(first: str, second: str) -> float:
    """WCAG 2.2 (2023), contrast ratio."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """WCAG 2.2 (2023), relative luminance of #rrggbb."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
