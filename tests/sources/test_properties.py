"""Whatever lies in a tree or an archive: no exception but InputError, and nothing lost without a word."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from irdiff.errors import InputError
from irdiff.sources import load
from irdiff.sources.names import classify, is_skipped_folder, shown
from irdiff.sources.stage_json import BadJsonError, decode, listed_files
from irdiff.sources.stage_json import record as read_record
from sources.source_trees import BASE32, HEX, OTHER32, FakeContext, contents, entry, record

FOLDERS = st.sampled_from(
    [BASE32, OTHER32, HEX, "a", "tmp.pid_1_2", "lock", "k.ptx", "\n", "é", ".triton", "override"]
)
STEMS = st.sampled_from(
    ["k", "__grp__k", "a.b", "", ".", "é", "\udcff", "k.make_ttgir", "k.autotune", " ", "-", "irdiff"]
)
TAILS = st.sampled_from(
    [
        ".json",
        ".ttir",
        ".ptx",
        ".PTX",
        ".cubin",
        ".sass",
        ".source",
        ".foo",
        ".py",
        "",
        ".repro.mlir",
        ".ndjson",
        ".ptx.tmp.pid_1_2",
        ".ndjson.gz",
    ]
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "target", "backend", "arch", "hash", "child_paths", "num_warps", "k.ptx", "../x.ptx"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
CONTENTS = st.binary(max_size=40) | JSONS.map(lambda value: json.dumps(value).encode())
PATHS = st.tuples(st.lists(FOLDERS, max_size=3), STEMS, TAILS).map(
    lambda parts: "/".join((*parts[0], parts[1] + parts[2]))
)
NODES = st.one_of(
    st.tuples(st.just("file"), CONTENTS),
    st.tuples(
        st.just("link"),
        PATHS | st.sampled_from([".", "..", "../..", "k.ptx", "/nonexistent"]),
    ),
    st.tuples(st.just("pipe"), st.none()),
)


def plant(root, tree):
    """Make the files that can be made: names may collide."""
    for path, (kind, content) in tree.items():
        place = root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if kind == "file":
                place.write_bytes(content)
            elif kind == "link":
                place.symlink_to(content)
            else:
                os.mkfifo(place)
        except OSError:
            continue


def known_files(root, context):
    """Locations of all files whose suffix a stage claims, but for JSON, which may be of something else."""
    found = set()
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not is_skipped_folder(name)]
        for name in files:
            kind = classify(shown(name))
            if kind.role == "stage" and kind.suffix != ".json" and context.stage_of(kind.suffix) is not None:
                found.add(shown(str(Path(folder, name))))
    return found


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(PATHS, NODES, max_size=12))
@example({"k.ptx": ("file", b""), "a/k.ptx": ("link", "/nonexistent"), "a/k.cubin": ("pipe", None)})
@example(
    {
        "k.ptx": ("link", ".."),
        f"{BASE32}/k.json": ("file", b"["),
        "a/k.sass": ("file", b"x"),
        "a/k.cubin": ("file", b"\0"),
    }
)
def test_any_tree_of_junk_is_loaded_or_an_input_error_and_no_stage_is_lost(tree):
    context = FakeContext()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(
            folder, "a", "b", "c"
        )  # links lead up to three folders above the tree, and find nothing there
        root.mkdir(parents=True)
        plant(root, tree)
        expected = known_files(root, context)
        try:
            loaded = load(str(root), context, {})
        except InputError:
            assert not {path for path in expected if os.path.exists(path)}  # noqa: PTH110
            return
        artifacts = [artifact for bundle in loaded.bundles for artifact in bundle.artifacts.values()]
        issues = [*loaded.issues, *(issue for bundle in loaded.bundles for issue in bundle.issues)]
        told = {artifact.location for artifact in artifacts} | {issue.where for issue in issues}
        assert expected <= told
        for artifact in artifacts:
            assert isinstance(artifact.read(), bytes)
        encoded = [
            repr((bundle.name, bundle.path, bundle.metadata, bundle.issues)) for bundle in loaded.bundles
        ]
        "".join(encoded).encode("utf-8")


@settings(max_examples=150, deadline=None)
@given(CONTENTS | st.binary(max_size=200))
def test_any_bytes_are_a_json_object_or_bad_json(data):
    try:
        decoded = decode(data)
    except BadJsonError:
        return
    said = read_record(decoded, "k")
    "".join([said.name or "", said.hash or "", said.release or "", str(said.target), *said.scalars]).encode(
        "utf-8"
    )
    with contextlib.suppress(BadJsonError):
        assert all(isinstance(name, str) for name in listed_files(decoded))


def packed_tree(kind):
    """A small archive of a real-looking tree."""
    with tempfile.TemporaryDirectory() as folder:
        entry(Path(folder) / "tree" / BASE32)
        entry(Path(folder) / "tree" / OTHER32, name="x" * 140, said=record("x" * 160))
        memory = io.BytesIO()
        if kind == "zip":
            with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted((Path(folder) / "tree").rglob("*")):
                    archive.write(file, file.relative_to(folder))
        else:
            with tarfile.open(fileobj=memory, mode=kind) as archive:
                archive.add(Path(folder) / "tree", "tree")
        return memory.getvalue()


ARCHIVES = {
    "zip": packed_tree("zip"),
    "tar": packed_tree("w"),
    "tar.gz": packed_tree("w:gz"),
    "tar.xz": packed_tree("w:xz"),
}


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(ARCHIVES)),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=8),
    st.integers(0, 1 << 16),
)
def test_a_damaged_archive_is_loaded_in_part_or_an_input_error(kind, edits, cut):
    data = bytearray(ARCHIVES[kind])
    for place, value in edits:
        data[place % len(data)] = value
    if cut < len(data):
        del data[cut:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a.{kind}")
        path.write_bytes(data)
        try:
            loaded = load(str(path), FakeContext(), {})
        except InputError:
            return
        for bundle in loaded.bundles:
            for artifact in bundle.artifacts.values():
                artifact.read()


@settings(max_examples=100, deadline=None)
@given(st.lists(CONTENTS, max_size=6), st.booleans())
def test_any_lines_are_a_log_or_an_input_error(lines, compilations):
    wrap = (lambda line: b'{"event_type":"compilation","payload":' + line + b"}") if compilations else bytes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ndjson")
        path.write_bytes(b"\n".join(wrap(line) for line in lines))
        try:
            load(str(path), FakeContext(), {})
        except InputError:
            return


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(PATHS, st.tuples(st.just("file"), CONTENTS), max_size=10))
def test_a_tree_and_its_archive_hold_the_same(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "tree")
        entry(root / BASE32 / "real")
        plant(root, tree)
        archive = shutil.make_archive(str(Path(folder, "packed")), "tar", folder, "tree")
        of_tree, of_archive = load(str(root), FakeContext(), {}), load(archive, FakeContext(), {})
        assert sorted(map(repr, contents(of_tree))) == sorted(map(repr, contents(of_archive)))


NAMES = st.text(st.characters(exclude_characters="/."), max_size=12) | st.sampled_from(
    ["", "k", "[", "*", "::", BASE32]
)


@settings(max_examples=100, deadline=None)
@given(NAMES, NAMES)
def test_any_selector_is_an_answer_or_an_input_error(path, wanted):
    with tempfile.TemporaryDirectory() as folder:
        entry(Path(folder) / BASE32)
        try:
            loaded = load(f"{folder}/{path}::{wanted}", FakeContext(), {})
        except InputError as error:
            str(error).encode("utf-8")
            return
        assert [bundle.name for bundle in loaded.bundles] == ["k"]
