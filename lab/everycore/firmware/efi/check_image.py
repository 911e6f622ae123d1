# SPDX-License-Identifier: MIT
"""Checks one image by all methods."""

import json
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from everycore.binary import pe
from everycore.environment import extras
from everycore.environment.context import Completed, Context
from everycore.environment.decoding import decode
from everycore.environment.workers import worker_pool
from everycore.firmware.efi import code_rules, image_rules
from everycore.firmware.efi.devices.device import Identity
from everycore.firmware.efi.driver_output import Checked
from everycore.firmware.efi.driver_rules import finding
from everycore.firmware.efi.linker_map import Symbols
from everycore.firmware.efi.platforms import PLATFORMS, Platform, Translation
from everycore.firmware.efi.violations import Outcome, merged
from everycore.firmware.findings import Finding, Place

CHILD = Path(__file__).parents[1] / "child.py"
SECONDS = 10.0
SPARE_SECONDS = 20.0  # a busy machine
PURPOSE = "running EFI drivers"
EXTRA = "firmware"


@dataclass(frozen=True, slots=True)
class Options:
    """The checks of a run. platforms: none is all that can be run here."""

    platforms: tuple[Platform, ...] = ()
    static: bool = False
    others: tuple[Identity, ...] = ()
    fixed: tuple[tuple[int, int], ...] = ()
    translation: Translation = Translation.UEFI
    seconds: float = SECONDS
    symbols: Symbols = Symbols()  # noqa: RUF009  # frozen


def check(context: Context, name: str, image: pe.Image, options: Options) -> Checked:
    """Check an image. What cannot be done here is in the notes."""
    static = image_rules.check(image)
    scan = code_rules.check(image, options.fixed)
    notes = list(scan.notes)
    runs: list[Outcome] = []
    reason = _why_not(image, options)
    if reason:
        notes.append(f"not run: {reason}")
    else:
        runs = run_all(context, image, options)
    everything = [static, scan.findings, *(list(outcome.findings) for outcome in runs)]
    findings = [_placed(image, options.symbols, efi_finding) for efi_finding in merged(everything)]
    return Checked(name, findings, notes, image, runs, scan.instructions)


def _placed(image: pe.Image, symbols: Symbols, efi_finding: Finding) -> Finding:
    """A finding with its function, and its offset in the image's file."""
    address = efi_finding.place.address
    offset = None if address is None else pe.file_offset(image, address)
    return replace(efi_finding, place=Place(address, symbols.at(address), offset))


def _why_not(image: pe.Image, options: Options) -> str:
    if options.static:
        return "--static was given"
    if image.machine_name not in image_rules.MACHINES:
        return f"there is no model of {image.machine_name}"
    if image.subsystem not in (pe.EFI_BOOT_DRIVER, pe.EFI_RUNTIME_DRIVER):
        return f"the image is no driver ({image.subsystem_name})"
    if not can_run():
        error = extras.missing_packages(PURPOSE, EXTRA)
        if options.platforms:
            raise error
        return f"{error.message}; {error.hint}"
    return ""


def can_run() -> bool:
    """Whether the emulator is installed."""
    return extras.is_installed("unicorn")


def run_all(context: Context, image: pe.Image, options: Options) -> list[Outcome]:
    """Run the image on each platform, each in a process of its own."""
    platforms = options.platforms or tuple(PLATFORMS.values())
    with worker_pool() as pool:
        jobs = [pool.submit(run_one, context, image, platform, options) for platform in platforms]
        return [job.result() for job in jobs]


def run_one(context: Context, image: pe.Image, platform: Platform, options: Options) -> Outcome:
    """Run the image on a platform; however that ends, the outcome says so."""
    request = {
        "platform": platform.name,
        "fixed": options.fixed,
        "translation": options.translation,
        "others": [
            (identity.vendor, identity.device, identity.class_code) for identity in options.others
        ],
        "seconds": options.seconds,
    }
    argv = [sys.executable, "-P", str(CHILD), "run"]
    stdin = json.dumps(request).encode() + b"\n" + image.data
    seconds = options.seconds + SPARE_SECONDS
    try:
        done = context.runner.run(argv, stdin=stdin, seconds=seconds)
    except TimeoutError:
        return _failed(platform, "run-endless", f"no end after {seconds:g} s")
    if done.code:
        return _failed(platform, "run-emulator-failed", _reason(done))
    outcome: Outcome = decode(Outcome, json.loads(done.stdout))
    return outcome


def _failed(platform: Platform, rule: str, text: str) -> Outcome:
    found = replace(finding(rule, None, text), platforms=(platform.name,))
    return Outcome(platform.name, (found,), (f"stopped: {text}",))


def _reason(done: Completed) -> str:
    if done.code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "its process took more CPU time than it may"
    if done.code < 0:
        return f"its process ended by signal {-done.code}"
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"its process ended with code {done.code}"
