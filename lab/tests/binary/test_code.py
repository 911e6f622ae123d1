# SPDX-License-Identifier: MIT
"""Code that compilers made of small functions, for every architecture whose compiler is
installed."""

import subprocess
from pathlib import Path

import pytest
from compiled import COMPILERS, made

from everycore.binary.code import Examined, OwnFunctions, examine
from everycore.binary.digest import digest
from everycore.binary.frames import read_usage
from everycore.binary.objects import NoCodeError, Object
from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.installed import installed
from everycore.environment.context import SystemRunner, system_context
from everycore.environment.errors import EverycoreError
from everycore.matrix.code_differences import differences

SOURCE = """
typedef unsigned int word;
extern const word table[256];
extern void elsewhere(void *);

static __attribute__((noinline)) word mixed(word x, const word *k, int rounds)
{
    for (int i = 0; i < rounds; i++)
        for (int j = 0; j < 16; j++)
            x = table[x & 255] ^ table[x >> 8 & 255] ^ table[x >> 24] ^ k[i + j];
    return x;
}

word twice(word x, const word *k, int rounds)
{
    return mixed(x, k, rounds) + mixed(x + 1, k, rounds);
}

word tail(word x, const word *k) { return mixed(x, k, 14); }

int large(int i)
{
    char room[2000];
    elsewhere(room);
    return room[i];
}

int alone(int i) { return i + 1; }

struct slots { word (*one)(word, const word *, int); int (*other)(int); };
int another(int i) { return i + 2; }
const struct slots slots[] = {{twice, alone}, {twice, another}};
word through(int i) { return slots[i].other(3); }
"""


def compiled(folder: Path, command: tuple[str, ...], *flags: str, **how: str) -> Path:
    return made(folder, command, *flags, **{"source": SOURCE, **how})


def names(examined: Examined) -> set[str]:
    return {function.plain_name for function in examined.functions}


@pytest.mark.parametrize(("machine", "command"), COMPILERS)
def test_an_entry_is_counted_with_all_that_it_calls(
    tmp_path: Path, machine: str, command: tuple[str, ...]
) -> None:
    path = compiled(tmp_path, command)
    assert Object(path).machine == machine
    examined = examine([path], ["twice"])
    assert names(examined) - {"__x86"} == {"twice", "mixed"}
    twice = examined.functions[0]
    called = [goes.file.function_at(goes.place) for _, goes in twice.calls if goes and goes.file]
    assert [s.name.split(".")[0] for s in called if s and "thunk" not in s.name] == ["mixed"] * 2
    mixed = next(f for f in examined.functions if f.plain_name == "mixed")
    assert examined.code.hot == mixed.name
    assert examined.code.instructions == sum(len(f.code) for f in examined.functions)
    assert all(
        instruction.mnemonic != ".insn" for f in examined.functions for instruction in f.code
    )
    assert max(mixed.graph.depth.values()) == 2


@pytest.mark.parametrize(("machine", "command"), COMPILERS)
def test_a_jump_at_the_end_is_a_call(
    tmp_path: Path, machine: str, command: tuple[str, ...]
) -> None:
    examined = examine([compiled(tmp_path, command)], ["tail"])
    assert names(examined) >= {"tail", "mixed"}
    tail = examined.functions[0]
    assert any(goes and goes.file for _, goes in tail.calls)
    assert machine


@pytest.mark.parametrize(("machine", "command"), COMPILERS)
def test_functions_in_tables_are_reached(
    tmp_path: Path, machine: str, command: tuple[str, ...]
) -> None:
    path = compiled(tmp_path, command)
    assert names(examine([path], ["slots"])) - {"__x86"} == {"twice", "mixed", "alone", "another"}
    assert names(examine([path], ["through"])) >= {"through", "alone", "another"}
    assert machine


@pytest.mark.parametrize(("machine", "command"), COMPILERS)
def test_frames_out_of_the_code_are_those_that_compilers_say(
    tmp_path: Path, machine: str, command: tuple[str, ...]
) -> None:
    path = compiled(tmp_path, command, "-fstack-usage", "-fno-omit-frame-pointer")
    usage = read_usage(path.with_suffix(".su"), machine)
    if not usage:
        pytest.skip(f"{command[0]} says nothing of its frames")
    examined = examine([path])
    assert examined.code.frame_source == "stack-usage"
    found = {f.plain_name: f.frame_bytes for f in examined.functions}
    assert {name: found[name] for name in usage} == usage
    assert 2000 < examined.frame(next(f for f in examined.functions if f.name == "large"))[0] < 2300


def test_without_the_compilers_word_the_frame_is_that_of_the_code(tmp_path: Path) -> None:
    said = examine([compiled(tmp_path / "said", ("gcc",), "-fstack-usage")], ["large"]).code
    unsaid = examine([compiled(tmp_path / "unsaid", ("gcc",))], ["large"]).code
    assert (said.frame_bytes, said.frame_source) == (unsaid.frame_bytes, "stack-usage")
    assert unsaid.frame_source == "prologue"


def digest_of(paths: list[Path], entries: list[str]) -> str:
    return digest(examine(paths, entries).functions)


@pytest.mark.parametrize(("machine", "command"), COMPILERS)
def test_equal_code_has_the_same_digest_wherever_it_was_compiled(
    tmp_path: Path, machine: str, command: tuple[str, ...]
) -> None:
    before = "const char *const other[] = {__FILE__}; int first(int i) { return *other[i]; }\n"
    first = compiled(tmp_path / "one", command)
    second = compiled(tmp_path / "another", command, source=before + SOURCE, name="file.c")
    less = compiled(tmp_path / "less", command, "-O0")
    for entry in ("twice", "large", "slots"):
        assert digest_of([first], [entry]) == digest_of([second], [entry])
    assert digest_of([first], ["twice"]) != digest_of([less], ["twice"])
    assert digest_of([first], ["twice"]) != digest_of([first], ["tail"])
    assert machine


def test_a_constant_that_changes_changes_the_digest(tmp_path: Path) -> None:
    source = "static const int t[] = {1, 2, 3}; int f(int i) { return t[i]; }\n"
    first = compiled(tmp_path / "one", ("gcc",), source=source)
    second = compiled(tmp_path / "two", ("gcc",), source=source.replace("3}", "4}"))
    assert digest_of([first], ["f"]) != digest_of([second], ["f"])


@pytest.mark.parametrize(("machine", "command"), COMPILERS)
@pytest.mark.parametrize("flags", [("-fno-pie",), ("-fPIC",)])
def test_a_nameless_constant_that_changes_changes_the_digest(
    tmp_path: Path, machine: str, command: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    cases = "".join(f"case {i}: return {i * i * 7001 + 1};" for i in range(9))
    source = f"int f(int i) {{ switch (i) {{ {cases} default: return 3; }} }}"
    first = compiled(tmp_path / "one", command, *flags, source=source)
    second = compiled(tmp_path / "two", command, *flags, source=source.replace("343050", "343051"))
    assert first.read_bytes() != second.read_bytes()
    assert digest_of([first], ["f"]) != digest_of([second], ["f"])
    assert machine


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_handlers_of_the_sanitizer_are_counted_apart(tmp_path: Path, compiler: str) -> None:
    plain = examine([compiled(tmp_path / "plain", (compiler,))], ["twice"]).code
    checked = compiled(tmp_path / "checked", (compiler,), "-fsanitize=undefined")
    again = compiled(tmp_path / "at-another-place", (compiler,), "-fsanitize=undefined")
    code = examine([checked], ["twice"]).code
    assert plain.sanitizer_calls == 0
    assert code.sanitizer_calls >= 4
    assert code.calls == plain.calls
    assert code.instructions > plain.instructions
    assert digest_of([checked], ["twice"]) == digest_of([again], ["twice"])


def test_what_the_compiler_renamed_is_found_by_its_name_in_the_source(tmp_path: Path) -> None:
    source = """
    extern int use(const int *);
    static __attribute__((noinline)) int inner(const int *p, int n)
    {
        int s = 0;
        for (int i = 0; i < n; i++)
            s += use(p + i) * p[i];
        return s;
    }
    int outer(const int *p) { return inner(p, 8) + inner(p + 8, 8); }
    """
    path = compiled(tmp_path, ("gcc",), source=source)
    assert any(s.name.startswith("inner.constprop") for s in Object(path).functions)
    assert names(examine([path], ["inner"])) == {"inner"}


def test_the_seldom_executed_part_belongs_to_its_function(tmp_path: Path) -> None:
    source = """
    extern void seldom(int) __attribute__((cold));
    int f(int *p, int i) { if (p[i] < 0) { seldom(i); seldom(p[0]); } return p[i] + 1; }
    """
    examined = examine([compiled(tmp_path, ("gcc",), source=source)], ["f"])
    (function,) = examined.functions
    assert len(function.parts) == 2
    assert examined.code.calls == 2


ASSEMBLY = """
    .text
    .globl entry
    .type entry, @function
entry:
    kxnorw %k1, %k1, %k1
    vpgatherdd (%rdi,%zmm1,4), %zmm2{%k1}
    vpgatherdd (%rdi,%ymm1,4), %ymm2{%k1}
    vpcmpeqd %xmm0, %xmm0, %xmm0
    vpgatherdd %xmm0, (%rdi,%xmm1,4), %xmm2
    vpaddd 64(%rdi){1to16}, %zmm1, %zmm3
    mov 8(%rdi), %rax
    kmovw %k1, %eax
    ret
    .size entry, . - entry
"""


def test_gathers_and_vectors_are_counted(tmp_path: Path) -> None:
    code = examine([compiled(tmp_path, ("gcc",), source=ASSEMBLY, name="unit.s")], ["entry"]).code
    assert (code.instructions, code.gathers, code.vector, code.calls) == (9, 3, 5, 0)
    assert code.mnemonics is not None
    assert code.mnemonics["vpgatherdd"] == 3


def test_a_linked_program_is_read_like_its_objects(tmp_path: Path) -> None:
    path = compiled(tmp_path, ("gcc",), "-ffreestanding")
    rest = "const unsigned table[256]; void elsewhere(void *p) {} int main(void) { return 0; }"
    other = compiled(tmp_path, ("gcc",), source=rest, name="rest.c")
    program = tmp_path / "program"
    subprocess.run(["gcc", str(path), str(other), "-o", str(program)], check=True)
    objects, linked = examine([path, other], ["twice"]), examine([program], ["twice"])
    assert linked.code == objects.code


def test_what_is_ours_is_followed_and_not_counted(tmp_path: Path) -> None:
    glue = """
    extern unsigned twice(unsigned, const unsigned *, int);
    __attribute__((section("subject_glue"), noinline)) void adapter(unsigned *to)
    { for (int i = 0; i < 9; i++) to[i] = twice(to[i], to, 9); }
    """
    theirs = compiled(tmp_path, ("gcc",))
    ours = compiled(tmp_path, ("gcc",), source=glue, name="glue.c")
    through = examine([ours, theirs], ["adapter"])
    assert through.code == examine([theirs], ["twice"]).code
    assert [function.name for function in through.glue] == ["adapter"]


def test_counts_of_a_trace_decide_what_is_hot(tmp_path: Path) -> None:
    path = compiled(tmp_path, ("gcc",))
    examined = examine([path], ["slots"], executed={"alone": 1000, "twice": 10})
    assert examined.code.hot == "alone"


@pytest.mark.parametrize("flags", [("gcc", "-flto"), ("clang", "-flto")])
def test_objects_without_machine_code_say_so(tmp_path: Path, flags: tuple[str, ...]) -> None:
    path = compiled(tmp_path, flags[:1], *flags[1:])
    with pytest.raises(NoCodeError, match=r"no machine code|no ELF"):
        examine([path], ["twice"])


def test_of_a_linked_program_what_is_not_its_own_is_not_followed(tmp_path: Path) -> None:
    alike = "__attribute__((noinline)) static int inner(int x) { return x %s; }\n"
    theirs = (
        alike % "* 3" + "extern void stop(int);\nint outer(int x) { stop(x); return inner(x); }"
    )
    others = alike % "/ 7 + x % 5" + (
        'void stop(int x) { __asm__ volatile("" : : "r"(inner(x))); }\n'
        "int outer(int);\nint main(int n, char **v) { (void)v; return outer(n); }"
    )
    for name, text in (("theirs.c", theirs), ("others.c", others)):
        (tmp_path / name).write_text(text)
    run = SystemRunner().run
    for folder, first, second in (("a", "theirs", "others"), ("b", "others", "theirs")):
        (tmp_path / folder).mkdir()
        parts = [str(tmp_path / f"{name}.c") for name in (first, second)]
        out = tmp_path / folder / "program"
        run(["gcc", "-O2", "-static", "-no-pie", *parts, "-o", str(out)])
        run(
            ["gcc", "-O2", "-fno-pie", "-c", parts[0 if first == "others" else 1], "-o", f"{out}.o"]
        )
        size = {(function.name, function.size) for function in Object(Path(f"{out}.o")).functions}
        found = examine(
            [out], ["outer"], own=OwnFunctions(frozenset({"outer", "inner"}), frozenset(size))
        )
        names = sorted(function.name for function in found.functions)
        assert names == ["inner", "outer"]
        assert not size & {
            (function.symbol.name, function.symbol.size) for function in found.functions
        }
        assert found.code.instructions < 20


def test_bad_files_and_names_give_clear_errors(tmp_path: Path) -> None:
    path = compiled(tmp_path, ("gcc",))
    with pytest.raises(EverycoreError, match="twise") as error:
        examine([path], ["twise"])
    assert "twice" in error.value.hint
    cut = tmp_path / "cut.o"
    cut.write_bytes(path.read_bytes()[:200])
    with pytest.raises(NoCodeError, match=r"cut\.o"):
        examine([cut])
    with pytest.raises(EverycoreError, match="cannot read"):
        examine([tmp_path / "absent.o"])


def test_a_machine_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = compiled(tmp_path, ("hppa-linux-gnu-gcc",))
    with pytest.raises(NoCodeError, match="PA-RISC"):
        examine([path])


# ---- What is known of compilers, by those that `everycore toolchain add` has fetched ----

LOOK_UPS = """
extern const unsigned T[4][256];
static inline unsigned column(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return T[0][a & 255] ^ T[1][b >> 8 & 255] ^ T[2][c >> 16 & 255] ^ T[3][d >> 24];
}
void rounds(unsigned *restrict s, const unsigned *restrict k, int n)
{
    unsigned a = s[0], b = s[1], c = s[2], d = s[3];
    for (int i = 0; i < n; i++, k += 4) {
        unsigned e = column(a, b, c, d) ^ k[0], f = column(b, c, d, a) ^ k[1];
        unsigned g = column(c, d, a, b) ^ k[2];
        d = column(d, a, b, c) ^ k[3];
        a = e, b = f, c = g;
    }
    s[0] = a, s[1] = b, s[2] = c, s[3] = d;
}
"""


def fetched(first: int, last: int) -> list[tuple[str, ...]]:
    """Commands of the clangs of these versions that are here; a visible skip without any."""
    context = system_context()
    found = [
        (*compiler.command, "--target=x86_64-linux-gnu")
        for toolchain in installed(context, find_tree(context.package))
        if toolchain.family == "clang" and first <= toolchain.version[0] <= last
        if (compiler := toolchain.compiler("host"))
    ]
    if not found:
        pytest.skip(f"no clang from {first} to {last}: everycore toolchain add clang-{last}")
    return found


def test_gathers_that_clang_makes_of_look_ups_since_version_22(tmp_path: Path) -> None:
    wide = ("-march=x86-64-v4",)
    for command in fetched(22, 24):
        path = compiled(tmp_path, command, *wide, source=LOOK_UPS)
        code = examine([path], ["rounds"]).code
        assert code.gathers >= 8, command
        path = compiled(tmp_path, command, *wide, "-fno-slp-vectorize", source=LOOK_UPS)
        repaired = examine([path], ["rounds"]).code
        assert repaired.gathers == 0, command
        assert differences(code, repaired)[0] == f"{code.gathers} vpgatherdd appear"


def test_calls_that_clang_left_at_the_first_level_up_to_version_12(tmp_path: Path) -> None:
    for command in fetched(9, 12):
        path = compiled(tmp_path, command, "-O1", source=LOOK_UPS)
        code = examine([path], ["rounds"]).code
        assert code.calls >= 4, command
        inlined = examine([compiled(tmp_path, command, source=LOOK_UPS)], ["rounds"]).code
        assert differences(code, inlined)[0] == f"{code.calls} calls appear"
