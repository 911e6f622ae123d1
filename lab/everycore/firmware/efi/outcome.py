# SPDX-License-Identifier: MIT
"""The outcome of one run of a driver on a platform."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from everycore.firmware.findings import Finding


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run. steps: of the life cycle, with their results. calls: of each service."""

    platform: str
    findings: tuple[Finding, ...] = ()
    steps: tuple[str, ...] = ()
    console: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)
