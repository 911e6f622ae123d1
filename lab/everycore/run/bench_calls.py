# SPDX-License-Identifier: MIT
"""Form the calls of the harness that make up a bench, and the remainder of one that was cut off."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from everycore.environment.decoding import Record
from everycore.model.domain import RegistryLine
from everycore.model.protocol import Arithmetic, Bench, Failure, Kernel, Mode, Resolved
from everycore.model.run_lines import JobDone
from everycore.model.selection import PBKDF2, selected_kernel

MODES = (
    "cbc-enc", "cbc-dec", "ctr", "xts-enc", "xts-dec", "cmac", "ccm-seal", "gcm-seal", "gcm-open",
    "cbc-enc-many", "gcm-seal-many",
)  # fmt: skip
# Modes of primitives without a section in these pages.
MODES_OF = {
    "ghash": ("ghash",),
    "qarma": ("qarma5", "qarma5-blocks"),
    "sha2": (
        "sha256", "sha512", "hmac-sha256", "hmac-sha512", "pbkdf2-sha256", "pbkdf2-sha512",
        "sha256-many", "sha512-many", "hmac-sha256-many", "hmac-sha512-many",
        "pbkdf2-sha256-many", "pbkdf2-sha512-many",
    ),
    "bn": ("mont-mul", "mont-sqr"),
    "bn_words": ("mul-add-words", "mod-word16"),
}  # fmt: skip
PER_BYTE = ("aes", "gcm", "ghash", "qarma", "sha2")  # --primitive: figures are cycles per byte
# Modes and bytes of bn and of the layers on it, for `speed`. Lengths are those of n or p.
LAYERS = {
    "bn": (("mont-mul", "mont-sqr", "exp"), (128, 256, 384, 512)),
    "rsa": (("rsa-private", "rsa-private-batch", "rsa-public"), (256, 384, 512)),
    "dh": (("dh-public",), (256, 384, 512)),
    "prime": (("prime-test", "prime-check"), (256, 384, 512)),
}
TOO_SLOW = ("c_ref", "c_limb16")  # for operations of the layers, unless they are named
ALONE_BYTES = 64  # up to here a message is also measured alone, between fences
SIDE_BY_SIDE = (16, 32)  # messages, where a mode takes many
SAMPLES = 11  # of some 50 microseconds, in each process
PROCESSES, QUICK_PROCESSES = 5, 3  # of everything
# Bytes that a message is a multiple of, by how names of modes begin: docs/reference/harness.md.
UNITS_BYTES = {"qarma": 8, "pac-": 16, "mul-add-words": 8, "mod-word16": 8}


@dataclass(frozen=True, slots=True)
class Job:
    """One call of `harness bench`."""

    mode: str
    sizes_bytes: tuple[int, ...]
    style: str = "streamed"
    messages: int = 1
    kernels: tuple[str, ...] = ()  # empty: those that were asked for
    process: int = 0  # its number, of the several that do the same

    def arguments(
        self, kernels: Sequence[str], key_bits: int, budget_ms: int, samples: int = SAMPLES
    ) -> list[str]:
        words = ["--mode", self.mode, "--key-bits", str(key_bits), "--style", self.style]
        for size in self.sizes_bytes:
            words += ["--bytes", str(size)]
        if self.messages > 1:
            words += ["--messages", str(self.messages)]
        for kernel in self.kernels or kernels:
            words += ["--kernel", kernel]
        return [*words, "--samples", str(samples), "--budget-ms", str(budget_ms)]

    def done(self) -> JobDone:
        """Return the line that a result file has behind the lines of a complete job."""
        return JobDone(self.mode, self.style, self.messages, self.process)

    def has(self, line: Bench) -> bool:
        own = (self.mode, self.style, self.messages, self.process)
        return (line.mode, line.style, line.messages, line.process) == own


def usual_modes(kernels: Sequence[str], registry: Sequence[RegistryLine]) -> Sequence[str]:
    """The modes that are measured unless some are named: for kernels by name, of their primitives.

    Modes of AES and GCM measure no kernel of another primitive.
    """
    own = [line.primitive for line in registry if line.name in kernels]
    more = [mode for name in dict.fromkeys(own) for mode in MODES_OF.get(name, ())]
    return (*MODES, *more) if set(own) - MODES_OF.keys() or not more else more


def modes_of(primitive: str) -> Sequence[str]:
    """The modes that are measured of a primitive."""
    gcm = primitive == "gcm"
    return MODES_OF.get(primitive) or [mode for mode in MODES if mode.startswith("gcm-") == gcm]


def kernels_of_layers(registry: Sequence[RegistryLine]) -> list[str]:
    return [o.name for o in registry if o.primitive == "bn" and o.name not in TOO_SLOW]


LIMITS = Job("limits", ())  # what the CPU can do at best, after all others


def plan(modes: Sequence[str], sizes_bytes: Sequence[int]) -> list[Job]:
    """Streamed at every size; short messages also alone; modes of many messages side by side.

    Where messages are whole blocks, the next lower size.
    """
    jobs: list[Job] = []
    for mode in dict.fromkeys(modes):
        unit = next((n for start, n in UNITS_BYTES.items() if mode.startswith(start)), 1)
        sizes = tuple(dict.fromkeys(size // unit * unit for size in sizes_bytes if size >= unit))
        if is_pbkdf2 := mode.startswith(PBKDF2):  # the harness knows how many iterations
            sizes = ()
        short = tuple(size for size in sizes if size <= ALONE_BYTES)
        if mode.endswith("-many"):
            counts = SIDE_BY_SIDE[:1] if is_pbkdf2 else SIDE_BY_SIDE  # 32 take too long
            jobs += [Job(mode, sizes, messages=n) for n in counts]
        elif mode.startswith("setkey"):
            jobs.append(Job(mode, ()))
        else:
            jobs.append(Job(mode, sizes))
            if short:
                jobs.append(Job(mode, short, style="fenced"))
    return jobs


def points(job: Job, kernels: Sequence[Kernel], modes: Sequence[Mode]) -> int:
    """How many figures the job gives: kernels of the mode's primitive times sizes; of GCM, the
    selected pair too. Modes of every primitive, such as setkey, are not in `modes`."""
    gcm = job.mode.startswith("gcm-")
    own = [
        k
        for k in kernels
        if (k.primitive == "gcm") == gcm
        and (not job.kernels or k.name in job.kernels)
        and selected_kernel(job.mode, k.primitive, modes)
    ]
    return (len(own) + 1 if gcm else len(own or kernels)) * max(1, len(job.sizes_bytes))


def selected_pair(uses: Sequence[Resolved]) -> str:
    """The one that `harness bench` takes for GCM beside GCM's own kernels."""
    named = {(r.primitive, r.use): r.kernel for r in uses}
    ghash = next((r.kernel for r in uses if r.primitive == "ghash"), "")
    return f"{named.get(('aes', 'parallel'), '')}+{ghash}"


def left_of(
    job: Job,
    earlier: Sequence[Record],
    kernels: Sequence[str],
    running: Sequence[Kernel],
    pair: str,
) -> tuple[list[Job], list[Record]]:
    """Return what is still to be measured of a job, and the earlier lines that stay.

    The harness goes through the sizes in their order, and at each through the kernels. So it is
    the last size that may lack some of them.
    """
    if job.done() in earlier:
        return [], [r for r in earlier if _is_of(job, r)]
    lines = [r for r in earlier if isinstance(r, Bench) and job.has(r)]
    if not lines or not job.sizes_bytes:
        return [job], []
    lengths = {line.bytes for line in lines}
    last = max(i for i, n in enumerate(job.sizes_bytes) if lengths & {n, n // 16 * 16})
    size, primitive = job.sizes_bytes[last], lines[0].primitive
    wanted = list(kernels) or [k.name for k in running if k.primitive == primitive]
    wanted += [pair] if primitive == "gcm" and not kernels else []
    done = {line.kernel for line in lines if line.bytes in (size, size // 16 * 16)}
    missing = tuple(name for name in wanted if name not in done)
    parts = [replace(job, sizes_bytes=(size,), kernels=missing)] if missing else []
    rest = job.sizes_bytes[last + 1 :]
    return [*parts, *([replace(job, sizes_bytes=rest)] if rest else [])], list(lines)


def _is_of(job: Job, record: Record) -> bool:
    match record:
        case Bench() as line:
            return job.has(line)
        case Failure() as line:
            return line.mode == job.mode
        case Arithmetic() as line:
            return job == replace(LIMITS, process=line.process)
    return False
