# SPDX-License-Identifier: MIT
import hashlib
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

from everycore.compile import catalog
from everycore.environment.errors import EverycoreError
from everycore.estimate import data
from everycore.model import cores, targets
from everycore.model.domain import Board, Tree
from everycore.report.peer_comparison import is_older
from everycore.run.peer_runs import LAYER_MODES, NUMBER_MODES

PI = "description = 'x'\ntransport = 'ssh'\n[board]\n"
WHOLE = "[odd]\npackages = []\nlibraries = []\n"
TREE = catalog.find_tree(PACKAGE)


@pytest.mark.parametrize("name", targets.target_names(TREE))
def test_every_target_file_is_valid(name: str) -> None:
    target = targets.load_target(TREE, name)
    assert target.description
    if target.transport == "qemu":
        assert target.emulator
        assert target.compiler
        assert target.packages


def test_every_cpu_has_known_features_and_a_source() -> None:
    known = catalog.features(TREE)
    for cpu in targets.load_cpus(TREE).values():
        valid = {*known[cpu.arch], *known["other"]}
        assert set(cpu.features) <= valid, cpu.name
        assert len(set(cpu.features)) == len(cpu.features), cpu.name
        assert cpu.source, cpu.name
        assert ("x86-64" in cpu.features) <= ("tune-word64" in cpu.features), cpu.name


def test_cpus_build_on_each_other() -> None:
    assert "aes" in targets.find_cpu(TREE, "westmere").features
    assert "aes" not in targets.find_cpu(TREE, "core2").features
    assert "aes" not in targets.find_cpu(TREE, "raspberrypi3").features
    assert "tune-zmm" not in targets.find_cpu(TREE, "skylake-x").features
    assert "tune-zmm" in targets.find_cpu(TREE, "icelake-server").features
    assert "tune-zmm" in targets.find_cpu(TREE, "zen4").features


def test_tuning_of_arm_is_that_of_the_detection() -> None:
    cores = (TREE.root / "src/cpu/a64_idreg.c").read_text(encoding="utf-8")
    by_name: dict[str, set[str]] = {}
    for bits, name in re.findall(r"\), (EVC_CPU.*?)\},\s+/\* ([\w -]+?)(?:,|:| \*/)", cores):
        tuning = {f"tune-{bit.lower()}" for bit in re.findall(r"TUNE_(\w+)", bits)}
        by_name[name.lower().replace(" ", "-")] = tuning
    assert len(by_name) > 5
    for cpu in targets.load_cpus(TREE).values():
        if cpu.arch == "a64":
            base = cpu.name.removesuffix("-nocrypto")
            boards = {"3": "cortex-a53", "4": "cortex-a72", "5": "cortex-a76"}
            base = boards.get(base.removeprefix("raspberrypi"), base)
            tuning = {f for f in cpu.features if f.startswith("tune-")} - {"tune-word64"}
            assert tuning == by_name.get(base, set()), cpu.name


def test_cores_of_the_detection_have_the_names_of_the_lab() -> None:
    text = (TREE.root / "src/cpu/a64_idreg.c").read_text(encoding="utf-8")
    pattern = r"\{CORE\((0x\w+), (0x\w+)\), .*?/\* ([\w -]+?)(?:,|:| \*/)"
    found = re.findall(pattern, text)
    assert len(found) == text.count("{CORE(") > 5
    for implementer, part, name in found:
        midr = int(implementer, 16) << 24 | int(part, 16) << 4
        assert cores.name(midr) == name.lower().replace(" ", "-")


def test_cores_of_estimates_are_cpus_by_name() -> None:
    cpus = targets.load_cpus(TREE)
    for core in data.load_cores(Path(data.__file__).parent, {}).values():
        cpu = cpus[core.name]
        assert cpu.arch == core.arch
        if core.arch == "a64" and core.model != "hidden":
            assert ("eor3" in core.lacks) == ("sha3" not in cpu.features), core.name


def test_every_peer_has_its_file() -> None:
    peers = targets.load_peers(TREE)
    rust = TREE.root / "catalog/peers/rust/src"
    adapters = {*(TREE.root / "catalog/peers").glob("*.c"), *rust.glob("*.rs")}
    adapters |= set((TREE.root / "catalog/peers").glob("*/*.go"))
    assert {TREE.root / p.source for p in peers} == adapters - {rust / "lib.rs", rust / "peer.rs"}
    for peer in peers:
        of_what = [bool(x) for x in (peer.packages, peer.crate, peer.module, peer.vendored)]
        assert sum(of_what) == (0 if peer.name == "linux" else 1), peer
        assert any(of_what) == bool(peer.since) == bool(peer.libraries), peer


def test_the_newest_version_is_later_than_the_one_that_counts() -> None:
    newest = [peer for peer in targets.load_peers(TREE) if peer.newest]
    assert "openssl" in {peer.name for peer in newest}
    for peer in newest:
        assert peer.newest is not None
        assert is_older(peer.since, peer.newest.version), peer.name
        assert re.fullmatch(r"20\d\d-\d\d", peer.newest.date), peer.name
        assert peer.newest.brings, peer.name


def test_versions_that_crates_do_not_tell_are_the_pinned_ones() -> None:
    rust = TREE.root / "catalog/peers/rust"
    manifest = (rust / "Cargo.toml").read_text(encoding="utf-8")
    for crate, file in (
        ("ring", "ring.rs"),
        ("aes", "rustcrypto.rs"),
        ("graviola", "graviola.rs"),
        ("hardware-rust-crypto", "hardware_rust_crypto.rs"),
    ):
        version = re.search(rf'^{crate} = {{ version = "=([0-9.]+)"', manifest, re.MULTILINE)
        assert version, crate
        assert f'c"{version[1]}"' in (rust / "src" / file).read_text(encoding="utf-8")


@reads_all
def test_the_text_that_peers_sign_is_the_one_that_the_harness_has_encoded() -> None:
    rust = (TREE.root / "catalog/peers/rust/src/peer.rs").read_text(encoding="utf-8")
    signed = re.search(r'SIGNED_TEXT: &\[u8\] = b"([a-z]+)"', rust)
    assert signed
    assert f'"{signed[1]}"' in (TREE.root / "catalog/peers/peer.h").read_text(encoding="utf-8")
    text = (TREE.root / "harness/peer_layers.c").read_text(encoding="utf-8")
    array = text[text.index("end[] = {") : text.index("};", text.index("end[] = {"))]
    end = bytes(int(byte, 16) for byte in re.findall(r"0x([0-9a-f]{2})", array))
    digest_info = bytes.fromhex("003031300d060960864801650304020105000420")  # RFC 8017, 9.2
    assert end == digest_info + hashlib.sha256(signed[1].encode()).digest()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[odd]\npackages = []\n", "lacks 'libraries'"),
        ("[odd]\ncolour = 'blue'\n", "unknown key 'colour'"),
        (WHOLE + "[odd.hardware]\navx = {}\n", "unknown key 'avx'"),
        (WHOLE + "[odd.hardware]\nsse = 'x'\n", "'sse' is not a table"),
        (WHOLE + "[odd.hardware.sse]\nX = 1\n", "hardware.sse.: 'X' is not a text"),
        (WHOLE + "[odd.build]\nX = 1\n", "build.: 'X' is not a text"),
        (WHOLE + "[odd.vendored]\ncrate = 'x'\n", "vendored. lacks 'version'"),
        (WHOLE + "[odd.newest]\nversion = '1'\n", "newest. lacks 'date'"),
        (WHOLE + "[odd.newest]\nversion = 1\n", "newest.: 'version' is not a text"),
        (WHOLE + "[odd.vendored]\nplace = 'x'\n", "unknown key 'place'"),
        ("[odd]\npackages = 'x'\nlibraries = []\n", "'packages' is not a list of texts"),
        ("[odd]\npackages = []\nlibraries = [1]\n", "'libraries' is not a list of texts"),
        ("odd = 3\n", "is no table"),
    ],
)
def test_a_bad_table_of_a_peer_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "catalog/peers").mkdir(parents=True)
    (tmp_path / "catalog/peers" / "peers.toml").write_text(text)
    with pytest.raises(EverycoreError, match=complaint) as error:
        targets.load_peers(Tree(tmp_path, True))
    assert "peers.toml: [odd" in error.value.message


@pytest.mark.parametrize(
    ("cpu", "names"),
    [
        ("raspberrypi4", "rpi4|Raspberry Pi 4|Pi 4B|raspberry_pi-4|BCM2711|Raspberry Pi 400"),
        (
            "raspberrypi4",
            "RPI CM4|Raspberry Pi 4 Model B Rev 1.4|Raspberry Pi Compute Module 4 Rev 1.0",
        ),
        ("raspberrypi3", "rpi3|rpi3b+|Raspberry Pi 3 Model B Plus Rev 1.3|Pi Zero 2 W"),
        ("raspberrypi5", "rpi5|Raspberry Pi 5 Model B Rev 1.0|BCM2712"),
        ("raspberrypi1", "Raspberry Pi Zero W|pi zero|rpi1"),
        ("cortex-a72", "RK3399|Cortex A72|ARM Cortex-A72|graviton|NanoPi R4S"),
        ("cortex-a76", "rk3588|RK3588S|Orange Pi 5 Plus|Rock 5B"),
        ("cortex-a73", "ODROID-N2+|Khadas VIM3|A311D"),
        ("cortex-a55", "RK3568|Odroid HC4|S905X3"),
        ("cortex-a53", "NanoPi R2S|Rock64|Allwinner H616|Orange Pi Zero 3|S905X"),
        ("cortex-a53-nocrypto", "S905|ODROID-C2|Snapdragon 410"),
        ("neoverse-n1", "graviton2|AWS Graviton2|Ampere Altra|altra max|Neoverse-N1"),
        ("neoverse-v1", "graviton3|Graviton 3E"),
        ("neoverse-v2", "graviton4|NVIDIA Grace"),
        ("neoverse-v2", "neoverse-v3|Cobalt 200|Graviton5"),
        ("neoverse-n2", "Cortex-X925|C1-Ultra|Cortex-A725"),
        ("cortex-a510", "C1-Nano|Cortex-A320"),
        ("thunderx", "thunderxt88|ThunderX"),
        ("ampereone", "AmpereOne|ampere1|ampere1a"),
        ("apple-m1", "Apple M1|m1|m2|M3 Max|Apple M4 Pro"),
        ("gracemont", "n100|N95|Intel(R) N100|Intel(R) Core(TM) i3-N305|Gracemont|Alder Lake-N"),
        (
            "lunarlake",
            "Arrow Lake-S|Clearwater Forest|Intel(R) Core(TM) Ultra 9 288V|pantherlake"
            "|Intel(R) Core(TM) Ultra 9 285K|lion cove",
        ),
        (
            "sierraforest",
            "Xeon 6780E|Grand Ridge|Arrow Lake-H|Intel(R) Core(TM) Ultra 7 255H|crestmont",
        ),
        (
            "alderlake",
            "Raptor Lake-S|bartlettlake|Arrow Lake-U|Intel(R) Core(TM) Ultra 5 125H|G7400"
            "|Intel(R) Core(TM) Ultra 7 265U|Intel(R) Xeon(R) 6369P|i7-12700k|i5-1340P"
            "|13th Gen Intel(R) Core(TM) i9-13900K|Intel(R) Core(TM) i9-14900KS",
        ),
        ("diamondrapids", "Diamond Rapids-AP|novalake|Nova Lake-S"),
        ("goldmont", "J4125|Intel(R) Celeron(R) J4125 CPU @ 2.00GHz|N4020"),
        ("silvermont-noaes", "Intel(R) Celeron(R) CPU J1900 @ 1.99GHz"),
        ("silvermont", "Intel(R) Atom(TM) CPU E3827 @ 1.74GHz"),
        ("tremont", "Celeron N5105|jasperlake|Intel Atom(R) x6425RE Processor @ 1.90GHz"),
        ("skylake", "Intel(R) Xeon(R) E-2288G CPU @ 3.70GHz|Comet Lake-S"),
        ("skylake-noavx", "Intel(R) Pentium(R) CPU G4560 @ 3.50GHz|Pentium Gold G5400"),
        (
            "skylake-x",
            "cascadelake|Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz|Cascade Lake-SP"
            "|Intel(R) Xeon(R) Platinum 8380H CPU @ 2.90GHz|Intel(R) Xeon(R) W-2104 CPU @ 3.20GHz",
        ),
        ("knightslanding", "KNL|Xeon Phi 7210|knightsmill"),
        (
            "icelake-client",
            "tigerlake|Rocket Lake|Tiger Lake-H|Intel(R) Xeon(R) E-2356G CPU|i7-1165G7"
            "|11th Gen Intel(R) Core(TM) i7-11800H @ 2.30GHz",
        ),
        (
            "icelake-server",
            "icelake-server|Ice Lake SP|Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"
            "|Intel(R) Xeon(R) Gold 6336Y CPU @ 2.40GHz|Intel(R) Xeon(R) D-1718T CPU @ 2.60GHz",
        ),
        (
            "sapphirerapids",
            "Emerald Rapids|INTEL(R) XEON(R) PLATINUM 8592+|graniterapids|graniterapids-d|xeon 6"
            "|Xeon 6 6980P|Intel(R) Xeon(R) 6975P-C|Intel(R) Xeon(R) 658X|Xeon(R) w7-2475X",
        ),
        ("broadwell", "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz|Broadwell-EP"),
        ("sandybridge", "E5-2670|Sandy Bridge-EP"),
        (
            "westmere",
            "gulftown|Westmere-EP|Intel(R) Xeon(R) CPU E7- 4870 @ 2.40GHz"
            "|Intel(R) Xeon(R) CPU X5667",
        ),
        ("penryn", "wolfdale|harpertown|Intel(R) Xeon(R) CPU E5462 @ 2.80GHz"),
        ("core2", "conroe|Merom"),
        ("k8", "opteron|Athlon 64"),
        ("k10", "deneb|barcelona|Phenom II X6"),
        ("bulldozer", "vishera|AMD Kaveri"),
        ("zen1", "naples|zen|AMD EPYC 7571|Ryzen Threadripper 2990WX"),
        (
            "zen2",
            "rome|AMD EPYC 7502P 32-Core Processor|AMD EPYC 7R32|Ryzen 5 3600X 6-Core Processor"
            "|AMD Ryzen 3 7320U with Radeon Graphics",
        ),
        (
            "zen3",
            "milan|znver3|AMD EPYC 7763 64-Core Processor|AMD EPYC 7R13 Processor|Ryzen 7 5800X3D"
            "|AMD Ryzen 7 7735HS with Radeon Graphics",
        ),
        (
            "zen4",
            "Zen 4|genoa|EPYC 9654|EPYC 9754|AMD EPYC 9R14|AMD Ryzen 5 7600X 6-Core Processor"
            "|Ryzen 7 7840U|Ryzen 7 8845HS",
        ),
        (
            "zen5",
            "turin|znver5|zen5c|epyc 9755|AMD Ryzen 9 9950X 16-Core Processor|strixpoint"
            "|AMD Ryzen AI 9 HX 370 w/ Radeon 890M",
        ),
        ("hygon-dhyana", "dhyana|Hygon C86 3185 8-core Processor"),
        ("zhaoxin-kx5000", "ZHAOXIN KaiXian KX-6640MA@2.2+GHz|KX-6000"),
        ("zhaoxin-kx7000", "ZHAOXIN KaiXian KX-7000|KH-40000"),
        ("power8", "power9|POWER10|IBM POWER11"),
        ("s390x", "z9-109|z990"),
        ("z10", "z10-ec|IBM z10"),
        ("z196", "zEC12|IBM zEC12|zbc12|z114"),
        ("z13", "z13s|2964|IBM LinuxONE Emperor"),
        ("z14", "IBM z14|z14 ZR1|z15|z16|IBM z16|IBM z17"),
        ("riscv64", "VisionFive 2|JH7110"),
    ],
)
def test_a_cpu_is_found_by_what_people_call_it(cpu: str, names: str) -> None:
    for name in names.split("|"):
        assert targets.find_cpu(TREE, name).name == cpu, name


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("rpi6", ["rpi5", "rpi4", "rpi3"]),
        ("zen6", ["zen", "zen5", "zen4"]),
        ("altrax", ["altra", "altramax"]),
        ("rk3688", ["rk3588", "rk3568"]),
        ("cortex-a54", ["cortex-a53", "cortex-a55", "cortex-a57"]),
        ("foobar", []),
        ("Intel m3", []),  # a Core m3, and no Apple M3
        ("i7-8700k", []),  # the number tells a generation only to whoever knows the exceptions
        ("m5", []),
        ("486", []),
        ("?", []),
        ("*", []),
    ],
)
def test_an_unknown_cpu_comes_with_near_names_or_none(name: str, near: list[str]) -> None:
    with pytest.raises(EverycoreError, match="unknown CPU") as error:
        targets.find_cpu(TREE, name)
    said = error.value.hint.partition("nearest: ")[2].partition(";")[0]
    assert said == ", ".join(near)
    assert "resolve --cpus" in error.value.hint


def test_near_names_are_of_one_architecture_whatever_is_asked() -> None:
    """Known names with one sign changed, which nobody has checked by hand: one in seven."""
    words = [*targets.load_cpus(TREE), *targets.other_names(TREE)][::7]
    for word in words:
        for wrong in (f"{word}q", word[:-1] + "q", word[1:]):
            try:
                targets.find_cpu(TREE, wrong)
            except EverycoreError as error:
                near = error.hint.partition("nearest: ")[2].partition(";")[0].split(", ")
                arches = {targets.find_cpu(TREE, name).arch for name in near if name}
                assert len(arches) <= 1, (wrong, near)
                assert len(near) <= 3, (wrong, near)


def test_every_other_name_stands_once_and_is_of_a_cpu_that_is_there() -> None:
    cpus, others = targets.load_cpus(TREE), targets.other_names(TREE)
    text = (TREE.root / "catalog/targets" / targets.CPU_FILE).read_text(encoding="utf-8")
    assert len(others) == len(text.partition("[names]")[2].split('\n"')) - 1
    spelled = {targets.spelled(name): name for name in cpus}
    assert len(spelled) == len(cpus)
    for form, cpu in others.items():
        assert cpu in cpus, form
        plain = re.sub(r"\[(.)[^]]*\]|[?*]", lambda match: match[1] or "0", form)
        matching = {other for other in others if fnmatchcase(plain, other)}
        assert form not in spelled, form
        assert not [name for name in spelled if fnmatchcase(name, form)], form
        assert all(others[name] == cpu for name in matching), (form, matching)


def test_unknown_names_come_with_the_nearest() -> None:
    with pytest.raises(EverycoreError) as error:
        targets.find_cpu(TREE, "cortex-a54")
    assert "cortex-a53" in error.value.hint
    with pytest.raises(EverycoreError) as error:
        targets.load_target(TREE, "qemu-s309x")
    assert "qemu-s390x" in error.value.hint
    with pytest.raises(EverycoreError) as error:
        targets.find_peer(TREE, "opnssl")
    assert "openssl" in error.value.hint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("transport = 'carrier pigeon'\ndescription = 'x'\n", "unknown transport"),
        ("colour = 'blue'\n", "unknown key 'colour'"),
        ("transport = \n", "cannot read"),
        ("transport = 'local'\n", "lacks 'description'"),
        ("description = 3\n", "'description' is not a text"),
        ("description = 'x'\nemulator = 'qemu'\n", "'emulator' is not a list of texts"),
        ("description = 'x'\ntransport = 'qemu'\n", "lacks 'emulator'"),
        ("description = 'x'\ntransport = 'ssh'\n", "belong together"),
        ("description = 'x'\n[board]\nhost = 'pi'\n", "belong together"),
        (PI + "user = 'pi'\n", "lacks 'host'"),
        (PI + "host = '-oProxyCommand=x'\n", "'-oProxyCommand=x' is no host"),
        (PI + "host = 'pi'\nport = '22'\n", "'port' is not a number"),
        (PI + "host = 'pi'\nport = true\n", "'port' is not a number"),
        (PI + "host = 'pi'\nkeep = 1\n", "'keep' is not true or false"),
        (PI + "host = 'pi'\nport = 70000\n", "want numbers"),
        (PI + "host = 'pi'\nbuild = 'elsewhere'\n", "unknown build 'elsewhere'"),
        (PI + "host = 'pi'\nidentity = 'my key'\n", "a word of identity has spaces"),
        (PI + "host = 'pi'\noptions = ['-o ProxyJump=x']\n", "a word of options has spaces"),
        (PI + "host = 'pi'\ncolour = 'blue'\n", "unknown key 'colour'"),
        ("description = 'x'\ntransport = 'bochs'\n", "'cpu_model' and transport = \"bochs\""),
        ("description = 'x'\ntransport = 'hercules'\n", "'cpu_model' and transport = \"bochs\""),
        ("description = 'x'\ncpu_model = 'ryzen'\n", "'cpu_model' and transport = \"bochs\""),
    ],
)
def test_a_bad_target_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "catalog/targets").mkdir(parents=True)
    (tmp_path / "catalog/targets" / "odd.toml").write_text(text)
    with pytest.raises(EverycoreError, match=complaint) as error:
        targets.load_target(Tree(tmp_path, True), "odd")
    assert "odd.toml" in error.value.message
    with pytest.raises(EverycoreError, match=complaint):
        targets.load_target(TREE, str(tmp_path / "catalog/targets" / "odd.toml"))


def test_a_target_file_is_text(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(EverycoreError, match=r"cannot read .*odd\.toml: it is no text in UTF-8"):
        targets.load_target(TREE, str(tmp_path / "odd.toml"))


def test_the_example_of_a_board_is_a_target(tmp_path: Path) -> None:
    example = (TREE.root / "catalog/targets" / "raspberrypi.toml.example").read_text(
        encoding="utf-8"
    )
    path = tmp_path / "pi.toml"
    path.write_text(example)
    target = targets.load_target(TREE, str(path))
    assert target.name == "pi"
    assert target.board == Board("raspberrypi.local", user="pi")
    # With what it keeps as comments.
    path.write_text(re.sub(r"^# (?=\w+ = )", "", example, flags=re.MULTILINE))
    board = targets.load_target(TREE, str(path)).board
    assert board is not None
    assert (board.build, board.python, board.port) == ("there", "", 22)


def test_a_target_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EverycoreError, match=r"no target file .*/pi.toml"):
        targets.load_target(TREE, str(tmp_path / "pi.toml"))
    with pytest.raises(EverycoreError) as error:
        targets.load_target(TREE, "pi")
    assert "./pi.toml" in error.value.hint


def test_peers_have_big_numbers_where_their_adapters_open_them() -> None:
    for peer in targets.load_peers(TREE):
        text = (TREE.root / peer.source).read_text(encoding="utf-8")
        for primitive, modes in {"bn": NUMBER_MODES, **LAYER_MODES}.items():
            has_modes = any(f'"{mode}"' in text for mode in modes)
            assert (primitive in peer.primitives) == has_modes, (peer.name, primitive)


def test_cpus_that_are_also_made_without_aes_are_known_from_the_data() -> None:
    assert targets.without_aes(TREE, "cortex-a72") == ["cortex-a72-nocrypto", "raspberrypi4"]
    assert targets.without_aes(TREE, "cortex-a53") == ["cortex-a53-nocrypto", "raspberrypi3"]
    assert targets.without_aes(TREE, "raspberrypi4") == []
    assert targets.without_aes(TREE, "cortex-a57") == []
