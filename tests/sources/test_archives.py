"""Archives: the same kernels as the tree that was packed, and nothing an enemy may gain."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sys
import tarfile
import zipfile

import pytest

import corpus
from irdiff.errors import InputError
from irdiff.sources import archives, load
from sources.source_trees import BASE32, OTHER32, FakeContext, codes, contents, entry


def read(path):
    return load(str(path), FakeContext(), {})


def tar(path, members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content
                archive.addfile(info)
    return path


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def pack(tree, path):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(tree.rglob("*")):
                archive.write(file, file.relative_to(tree.parent))
        return path
    mode = {".gz": "w:gz", ".tgz": "w:gz", ".xz": "w:xz", ".bz2": "w:bz2", ".tar": "w"}[path.suffix]
    with tarfile.open(path, mode) as archive:
        archive.add(tree, tree.name)
    return path


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.xz", "a.tar.bz2", "a.zip"])
def test_an_archive_of_a_tree_holds_the_same_kernels(tmp_path, name):
    tree = tmp_path / "tree"
    entry(tree / BASE32)
    entry(tree / "nested" / "deeper" / OTHER32, name="other", suffixes=("ptx",), said=None, group=False)
    (tree / BASE32 / "k.so").write_bytes(b"\0" * 1000)
    (tree / BASE32 / "k.py").write_bytes(b"x")
    entry(tree / BASE32 / "tmp.pid_1_2", name="unfinished")
    packed = read(pack(tree, tmp_path / name))
    assert contents(packed) == contents(read(tree))
    assert packed.bundles[0].path == f"{tmp_path / name}!tree/{BASE32}"
    assert packed.bundles[0].modified > 0
    assert [issue.code for issue in packed.issues] == []


def test_the_name_of_an_archive_may_lie_about_its_compression(tmp_path):
    entry(tmp_path / "tree" / BASE32)
    packed = pack(tmp_path / "tree", tmp_path / "a.tar.xz").rename(tmp_path / "a.tar.gz")
    assert len(read(packed).bundles) == 1


@pytest.mark.parametrize("prefix", ["home/", ""])
def test_an_override_folder_in_an_archive_is_one_too(tmp_path, prefix):
    path = tar(tmp_path / "a.tar", [(f"{prefix}.triton/override/{BASE32}/k.ttgir", b"x")])
    assert [bundle.layout for bundle in read(path).bundles] == ["file"]


def test_selectors_work_on_archives(tmp_path):
    entry(tmp_path / "tree" / BASE32)
    entry(tmp_path / "tree" / OTHER32, name="other")
    packed = pack(tmp_path / "tree", tmp_path / "a.tar.gz")
    assert [bundle.name for bundle in read(f"{packed}::other").bundles] == ["other"]
    assert [bundle.name for bundle in read(f"{packed}::{BASE32[:8]}").bundles] == ["k"]


def test_the_recorded_h200_archive_holds_the_same_kernels_as_its_tree(h200):
    packed = load(str(corpus.test_data() / "data" / "inductor-h200.tar.xz"), FakeContext(), {})
    assert contents(packed) == contents(read(h200))
    assert len(packed.bundles) == 141


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize(
    "name", ["../k.ptx", "/etc/k.ptx", "a/../../k.ptx", "C:/k.ptx", "..\\..\\k.ptx", "\\\\host\\k.ptx"]
)
def test_members_that_would_lie_outside_are_not_read_and_said(tmp_path, make, name):
    path = make(
        tmp_path / ("a.zip" if make is zipped else "a.tar"), [(name, b"evil"), ("fine/k.ptx", b"fine")]
    )
    loaded = read(path)
    assert [bundle.artifacts["ptx"].read() for bundle in loaded.bundles] == [b"fine"]
    assert [issue.code for issue in loaded.issues] == ["path-escapes"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_an_archive_are_not_followed_and_said(tmp_path, kind):
    members = [("e/k.ttir", b"x"), ("e/k.ptx", (kind, "/etc/passwd")), ("e/notes", (kind, "/etc/passwd"))]
    loaded = read(tar(tmp_path / "a.tar", members))
    assert set(loaded.bundles[0].artifacts) == {"ttir"}
    assert [(issue.severity, issue.code) for issue in loaded.issues] == [
        ("error", "not-a-file"),
        ("warning", "not-a-file"),
    ]


def test_links_in_a_zip_archive_are_not_followed(tmp_path):
    link = zipfile.ZipInfo("e/k.ptx")
    link.external_attr = 0o120777 << 16
    path = zipped(tmp_path / "a.zip", [(link, "/etc/passwd"), ("e/k.ttir", b"x")])
    loaded = read(path)
    assert set(loaded.bundles[0].artifacts) == {"ttir"}
    assert [issue.code for issue in loaded.issues] == ["not-a-file"]


@pytest.mark.parametrize("make", [tar, zipped])
def test_a_member_past_the_limit_is_an_error_on_its_kernel_and_the_rest_is_read(tmp_path, monkeypatch, make):
    monkeypatch.setattr(archives, "MAX_MEMBER", 1000)
    members = [("e/k.ptx", b"\0" * 1001), ("e/k.ttir", b"\0" * 1000)]
    loaded = read(make(tmp_path / ("a.zip" if make is zipped else "a.tar"), members))
    assert set(loaded.bundles[0].artifacts) == {"ttir"}
    assert [(i.code, i.stage) for i in loaded.bundles[0].issues if i.code != "compilation-ended-early"] == [
        ("too-large", "ptx")
    ]


@pytest.mark.parametrize("make", [tar, zipped])
def test_members_past_the_limit_of_the_whole_are_errors(tmp_path, monkeypatch, make):
    monkeypatch.setattr(archives, "MAX_TOTAL", 1500)
    members = [(f"{index}/k{index}.ptx", b"\0" * 1000) for index in range(3)]
    loaded = read(make(tmp_path / ("a.zip" if make is zipped else "a.tar"), members))
    assert [len(bundle.artifacts) for bundle in loaded.bundles] == [1, 0, 0]
    assert codes(loaded).count("too-large") == 2


def test_a_tar_that_explodes_in_members_nobody_wants_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_STREAM", 1 << 20)
    members = [("e/k.ptx", b"x"), ("e/zeros.txt", b"\0" * (8 << 20)), ("f/l.ptx", b"x")]
    path = tar(tmp_path / "a.tar.gz", members, "w:gz")
    assert path.stat().st_size < 20_000
    loaded = read(path)
    assert [bundle.name for bundle in loaded.bundles] == ["k"]
    assert [(issue.severity, issue.code) for issue in loaded.issues] == [("error", "damaged-archive")]


def test_too_many_members_are_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 5)
    members = [(f"{index}/k{index}.ptx", b"x") for index in range(9)]
    for path in (tar(tmp_path / "a.tar", members), zipped(tmp_path / "a.zip", members)):
        loaded = read(path)
        assert len(loaded.bundles) == 5
        assert [issue.code for issue in loaded.issues] == ["damaged-archive"]


def test_a_header_of_an_impossible_size_is_not_allocated(tmp_path):
    fine = tarfile.TarInfo("e/k.ptx")
    fine.size = 1
    huge = tarfile.TarInfo("pax")
    huge.type = tarfile.XHDTYPE
    huge.size = 1 << 33
    path = tmp_path / "a.tar"
    path.write_bytes(fine.tobuf() + b"x".ljust(512, b"\0") + huge.tobuf() + b"\0" * 2048)
    loaded = read(path)
    assert [bundle.name for bundle in loaded.bundles] == ["k"]
    assert [issue.code for issue in loaded.issues] == ["damaged-archive"]


def test_headers_that_nest_without_end_are_stopped(tmp_path):
    name = tarfile.TarInfo("x")
    name.type = tarfile.GNUTYPE_LONGNAME
    name.size = 1
    path = tmp_path / "a.tar"
    path.write_bytes((name.tobuf() + b"y".ljust(512, b"\0")) * 20_000)
    with pytest.raises(InputError):
        read(path)


def test_a_sparse_member_is_not_written_out(tmp_path):
    info = tarfile.TarInfo("e/k.ptx")
    info.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[386:398] = b"00000000000\0"
    header[398:410] = b"00000000000\0"
    header[483:495] = b"77777777777\0"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path = tmp_path / "a.tar"
    path.write_bytes(bytes(header) + tarfile.TarInfo("e/k.ttir").tobuf() + b"\0" * 1024)
    loaded = read(path)
    assert "ptx" not in loaded.bundles[0].artifacts
    assert [issue.code for issue in loaded.issues] == ["not-a-file"]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_a_tar_that_is_cut_off_gives_what_came_before(tmp_path, compress):
    noise = random.Random(1).randbytes
    members = [("e/k.ptx", noise(1000)), ("f/l.ptx", noise(2_000_000))]
    whole = tar(tmp_path / "whole.tar", members).read_bytes()
    path = tmp_path / "a.tar"
    packed = compress(whole)
    path.write_bytes(packed[: len(packed) * 3 // 4])
    loaded = read(path)
    assert [bundle.name for bundle in loaded.bundles] == ["k"]
    assert [issue.code for issue in loaded.issues] == ["damaged-archive"]


def test_a_damaged_member_of_a_zip_is_an_error_on_its_kernel_and_the_rest_is_read(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("e/k.ptx", b"MARK" * 10)
        archive.writestr("e/k.ttir", b"fine")
    path.write_bytes(path.read_bytes().replace(b"MARKMARK", b"MARKMARX", 1))
    loaded = read(path)
    assert set(loaded.bundles[0].artifacts) == {"ttir"}
    assert "damaged-member" in codes(loaded)


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tar.xz", "a.zip", "a.tar.zst"])
@pytest.mark.parametrize("content", [b"", b"text", b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ\0" + b"\0" * 50])
def test_what_is_no_archive_is_an_input_error_with_a_hint(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as raised:
        read(tmp_path / name)
    assert raised.value.hint


def test_an_archive_without_kernels_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no compiled kernel"):
        read(tar(tmp_path / "a.tar", [("notes.txt", b"x")]))


def test_a_python_built_without_lzma_still_loads_trees_and_says_what_it_lacks(tmp_path, monkeypatch):
    entry(tmp_path / "tree" / BASE32)
    packed = pack(tmp_path / "tree", tmp_path / "a.tar.gz")
    monkeypatch.delitem(sys.modules, "irdiff.sources.archives")
    monkeypatch.setitem(sys.modules, "lzma", None)
    assert len(read(tmp_path / "tree").bundles) == 1
    with pytest.raises(InputError, match="lzma"):
        read(packed)
