# SPDX-License-Identifier: MIT
"""everycore resolve: which kernel serves which algorithm, on this CPU or on any CPU named?"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from json import dumps
from typing import Annotated

import typer

from everycore.commands.completion import complete_cpus, complete_targets
from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    CompilerCommand,
    CompilerFlags,
    Json,
    Policy,
    context_of,
    split_commas,
)
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import Record, encode_line
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.model.domain import CpuModel, Tree
from everycore.model.protocol import Mode, Resolved
from everycore.model.targets import find_cpu, load_cpus, other_names, without_aes
from everycore.report import selection_tables
from everycore.report.table_style import plain_table
from everycore.run.session import open_session


@dataclass(frozen=True, slots=True)
class ResolveOptions:
    """The options of the command line."""

    cpu: Annotated[
        str | None,
        typer.Option(
            "--cpu",
            metavar="NAME",
            help="A CPU, a board or a server: cortex-a72, rpi4, zen4, n100.",
            autocompletion=complete_cpus,
        ),
    ] = None
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            metavar="A,B,...",
            help="With --arch: all features of the CPU. With --cpu: features to add; a minus "
            "before a name takes it away. Names are ours, or those of extensions (zkne, sha_ni).",
        ),
    ] = None
    arch: Annotated[
        str | None,
        typer.Option(
            "--arch", metavar="ARCH", help="x86, a64, a32, hppa, ppc64, s390x, rv64, rv32 or other."
        ),
    ] = None
    policy: Policy = "ct"
    why: Annotated[bool, typer.Option("--why", help="Every kernel, and why it was not taken.")] = (
        False
    )
    cpus: Annotated[bool, typer.Option("--cpus", help="List the CPUs known by name.")] = False
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="NAME",
            help="The CPU of this place: a name of catalog/targets/, or a file.",
            autocompletion=complete_targets,
        ),
    ] = None
    cc: CompilerCommand = None
    flags: CompilerFlags = None
    json: Json = False

    def refuse_contradictions(self) -> None:
        """Refuse options that name no CPU, or two."""
        cpu, arch = self.cpu, self.arch
        if cpu is not None and not cpu.strip():
            raise EverycoreError("--cpu needs a name", "everycore resolve --cpus lists the names")
        if self.features and not (arch or cpu):
            raise EverycoreError("--features needs --arch", "for example --arch x86")
        if cpu and arch is not None:
            raise EverycoreError(
                f"--cpu {cpu} has an architecture of its own, so --arch cannot stand beside it",
                "leave --arch out; --features adds to a CPU's features, or takes from them (-aes)",
            )
        taken = [word for word in split_commas(self.features) if word.startswith("-")]
        if taken and not cpu:
            raise EverycoreError(
                f"--features {taken[0]} takes a feature away, which only --cpu allows",
                f"name a CPU by --cpu, or leave {taken[0]} out",
            )
        if self.target and (cpu or arch):
            raise EverycoreError(
                f"--target asks the CPU of a place, --{'cpu' if cpu else 'arch'} names another",
                "give one of them",
            )


@with_option_sets
def resolve(
    command: typer.Context,
    options: ResolveOptions,
) -> None:
    """Show which kernel serves each mode, on this CPU or any other."""
    context = context_of(command)
    options.refuse_contradictions()
    if options.cpus:
        _list_cpus(context, catalog.tree_of(context), options.json)
        return
    tree = catalog.tree_of(context)
    model = find_cpu(tree, options.cpu) if options.cpu else None
    arguments = _arguments(tree, options, model)
    session = open_session(
        context, options.target or "host", options.cc, options.flags, without_kernels=True
    )
    records = list(session.records("resolve", *arguments))
    if options.json:
        for record in records:
            context.print_raw(encode_line(record))
    else:
        _print(context, session.tree, options, model, records)


def _features(tree: Tree, options: ResolveOptions, model: CpuModel) -> list[str]:
    """Return the features of a CPU by name, with those that --features adds or takes away."""
    from everycore.model.extensions import features_named, features_without  # not at every start

    known = _known_features(tree, model.arch)
    words = split_commas(options.features)
    added = [word.removeprefix("+") for word in words if not word.startswith("-")]
    features = dict.fromkeys([*model.features, *features_named(model.arch, added, known)])
    for word in words:
        if word.startswith("-"):
            for feature in features_without(model.arch, word[1:], known):
                features.pop(feature, None)
    return list(features)


def _arguments(tree: Tree, options: ResolveOptions, model: CpuModel | None) -> list[str]:
    """Return the arguments of the harness; no architecture: it takes its own CPU."""
    arch, names = options.arch, split_commas(options.features)
    if model:
        arch = model.arch
        names = _features(tree, options, model) if names else [*model.features]
    elif arch is not None:
        from everycore.model.extensions import features_named

        arch = arch.lower()
        names = features_named(arch, names, _known_features(tree, arch))
    chosen = ["--arch", arch, "--features", ",".join(names)] if arch else []
    early = ["--multiplies-early"] if model and model.multiplies_early else []
    return ["--policy", options.policy, *chosen, *early]


def _print(
    context: Context,
    tree: Tree,
    options: ResolveOptions,
    model: CpuModel | None,
    records: Sequence[Record],
) -> None:
    resolved = [r for r in records if isinstance(r, Resolved)]
    modes = [r for r in records if isinstance(r, Mode)]
    have = f"{resolved[0].arch}: {' '.join(resolved[0].features) or 'no features'}"
    named = _title(options.cpu, model) or ("A CPU" if options.arch else "This CPU")
    title = f"{named} ({have})"
    note = f"policy {options.policy}; priority is the order of src/kernels.def"
    context.out.print(selection_tables.modes_table(modes, title, caption=note))
    warnings = [line.warning for line in modes] + [line.warning for line in resolved]
    for warning in dict.fromkeys(filter(None, warnings)):
        context.out.print(f"Slow: {warning}.", style="yellow", soft_wrap=True)
    notes = [line.note for line in resolved if line.note]
    if model and (without := without_aes(tree, model.name)):
        notes.append(f"this CPU is also made without AES instructions: {', '.join(without)}")
    for text in dict.fromkeys(notes):
        context.out.print(f"Note: {text}.", style="yellow", soft_wrap=True)
    if options.why:
        lines = catalog.registry(tree)
        context.out.print(selection_tables.selection_table(lines, resolved, "Why", caption=note))


def _title(cpu: str | None, model: CpuModel | None) -> str:
    """Return a CPU's name: as it was asked for, and as catalog/targets/cpus.toml has it."""
    if cpu is None or model is None:
        return ""
    return model.name if cpu == model.name else f"{cpu.strip()}: {model.name}"


def _known_features(tree: Tree, arch: str) -> list[str]:
    """Return all features of an architecture, which must be known."""
    known = catalog.features(tree)
    if arch not in known:
        raise unknown_name("architecture", arch, known)
    return list(dict.fromkeys([*known[arch], *known["other"]]))


def _list_cpus(context: Context, tree: Tree, json: bool) -> None:
    called: dict[str, list[str]] = {}
    for name, cpu in other_names(tree).items():
        called.setdefault(cpu, []).append(name)
    if json:
        for model in load_cpus(tree).values():
            line = {"type": "cpu", **asdict(model), "also_called": called.get(model.name, [])}
            context.print_raw(dumps(line))
        return
    table = plain_table("Name", "Also called (* and ?: any letters)", "Arch", "Features")
    for model in load_cpus(tree).values():
        others = " ".join(called.get(model.name, []))
        table.add_row(model.name, others, model.arch, " ".join(model.features))
    context.out.print(table)
