# SPDX-License-Identifier: MIT
"""Compressed drivers: the codec in its process, its limits, and streams that are no drivers."""

import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from firmware.pe_images import make_pe
from world import Lab

from everycore.binary.malformed import MalformedError
from everycore.environment.context import Completed, Context, SystemRunner
from everycore.environment.errors import MissingPackagesError
from everycore.firmware import codec, oprom

pytest.importorskip("uefi_firmware")
from uefi_firmware import efi_compressor


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Lab(SystemRunner(), tmp_path, {}).context()


class Ends:
    """A runner whose processes end in one way."""

    def __init__(self, *ends: Completed | type[TimeoutError]) -> None:
        self.ends = list(ends)

    def run(self, argv: Sequence[str], **options: object) -> Completed:
        del argv, options
        end = self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]
        if not isinstance(end, Completed):
            raise end
        return end


def test_a_driver_survives_compression_and_another_algorithm_is_named(context: Context) -> None:
    driver = make_pe(trailing=bytes(range(256)) * 9)
    stream = codec.compress(context, driver)
    assert len(stream) < len(driver)
    assert oprom.compressed_sizes(stream) == (len(stream) - 8, len(driver))
    assert codec.decompress(context, stream) == driver
    tiano = efi_compressor.TianoCompress(driver, len(driver))
    assert tiano != stream
    with pytest.raises(MalformedError, match="Tiano algorithm"):
        codec.decompress(context, tiano)


def test_a_stream_that_gives_no_pe_image_is_refused(context: Context) -> None:
    with pytest.raises(MalformedError, match="no PE image"):
        codec.decompress(context, codec.compress(context, b"some text, not a driver"))


def test_a_damaged_stream_is_refused_in_one_line(context: Context) -> None:
    stream = codec.compress(context, make_pe())
    for at in (8, len(stream) // 2):
        damaged = stream[:at] + bytes(40) + stream[at + 40 :]
        with pytest.raises(MalformedError) as caught:
            codec.decompress(context, damaged[: len(stream)])
        assert "\n" not in caught.value.message


def test_a_bomb_is_refused_by_its_size(context: Context) -> None:
    size = 1 << 20
    bomb = codec.compress(context, b"MZ" + bytes(size - 2))
    assert len(bomb) < size // 100
    assert len(codec.decompress_raw(context, bomb)) == size  # within the limits
    lying = bomb[:4] + struct.pack("<I", oprom.MOST_DRIVER_BYTES + 1) + bomb[8:]
    with pytest.raises(MalformedError, match="decompressed size"):
        codec.decompress(context, lying)


FAKE = """import resource
def EfiDecompress(data, size):
    assert resource.getrlimit(resource.RLIMIT_CPU) == (10, 10)
    return {result}
EfiCompress = TianoDecompress = EfiDecompress
"""


@pytest.mark.parametrize(
    ("result", "words"),
    [("bytes(128 << 20)", "memory"), ("bytes(1 << 20)", ""), ("b'' + None", "refuses")],
)
def test_the_codec_runs_within_limits(
    context: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: str, words: str
) -> None:
    package = tmp_path / "uefi_firmware"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "efi_compressor.py").write_text(FAKE.format(result=result))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    if not words:
        assert codec.decompress_raw(context, bytes(16)) == bytes(1 << 20)
        return
    with pytest.raises(MalformedError, match=words):
        codec.decompress_raw(context, bytes(16))


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (TimeoutError, "longer than"),
        (Completed(-24), "CPU time"),
        (Completed(-9), "CPU time"),
        (Completed(-11), "signal 11"),
        (Completed(1, "", "Traceback\nMemoryError"), "memory"),
        (Completed(3), "refuses"),
    ],
)
def test_however_the_process_ends_the_error_says_so(
    tmp_path: Path, end: Completed | type[TimeoutError], words: str
) -> None:
    context = Lab(Ends(end), tmp_path, {}).context()
    with pytest.raises(MalformedError, match=words):
        codec.decompress(context, struct.pack("<II", 8, 64) + bytes(8))


def test_without_its_package_the_error_names_what_to_install(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uefi_firmware", None)
    with pytest.raises(MissingPackagesError) as caught:
        codec.compress(context, make_pe())
    assert caught.value.hint
