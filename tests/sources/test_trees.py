"""Cache, dump, override and reproducer trees of every release, as they are and as accidents leave them."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from pathlib import Path

import pytest

import corpus
from irdiff.errors import InputError
from irdiff.sources import load
from sources.source_trees import BASE32, HEX, OTHER32, FakeContext, codes, contents, entry, record

ALL = {"meta", "source", "ttir", "ttgir", "llir", "ptx", "sass"}


def read(path, context=None, environment=None):
    return load(str(path), context or FakeContext(), environment or {})


def only(path, **more):
    (bundle,) = read(path, **more).bundles
    return bundle


def test_a_cache_tree_gives_each_kernel_with_what_its_json_says(tmp_path):
    entry(tmp_path / BASE32)
    bundle = only(tmp_path)
    assert bundle.name == "k"
    assert bundle.entry == BASE32
    assert bundle.path == str(tmp_path / BASE32)
    assert bundle.layout == "cache"
    assert str(bundle.target) == "cuda:90"
    assert bundle.release == "3.6.0"
    assert bundle.hash == HEX
    assert set(bundle.artifacts) == ALL
    assert bundle.artifacts["ptx"].read() == b"ptx of k"
    assert bundle.metadata["num_warps"] == 4
    assert bundle.metadata["maxnreg"] is None
    assert "supported_fp8_dtypes" not in bundle.metadata
    assert bundle.issues == ()


def test_dangling_paths_in_the_group_file_of_a_moved_cache_do_not_matter(tmp_path):
    entry(tmp_path / BASE32)
    assert codes(read(tmp_path)) == []


def test_one_entry_folder_loads_as_the_same_kernel(tmp_path):
    entry(tmp_path / BASE32)
    assert contents(read(tmp_path)) == contents(read(tmp_path / BASE32))


def test_a_renamed_entry_folder_is_no_cache_key(tmp_path):
    entry(tmp_path / "before")
    assert only(tmp_path).entry == ""
    assert only(tmp_path).hash == HEX


@pytest.mark.parametrize("folder", [HEX, HEX[:32], BASE32, BASE32[:26]])
def test_entry_folders_of_every_release_are_cache_keys(tmp_path, folder):
    entry(tmp_path / folder)
    assert only(tmp_path).entry == folder


@pytest.mark.parametrize(
    ("said", "target"),
    [
        ({"target": {"backend": "hip", "arch": "gfx942", "warp_size": 64}}, "hip:gfx942"),
        ({"target": ["cuda", 80]}, "cuda:80"),
        ({"target": ["cuda", 80, 32]}, "cuda:80"),
        ({"target": {"capability": 80, "num_warps": 4, "enable_fp_fusion": True}}, "cuda:80"),
        ({"device_type": "cuda"}, "None"),
    ],
)
def test_the_target_of_every_release_is_read(tmp_path, said, target):
    entry(tmp_path / BASE32, said={"name": "k", "num_warps": 4, **said})
    bundle = only(tmp_path)
    assert str(bundle.target) == target
    assert bundle.release is None
    assert bundle.issues == ()


def test_the_specialization_in_names_of_triton_2_is_no_part_of_the_kernels_name(tmp_path):
    entry(tmp_path / HEX, said={"name": "k_0d1d2c", "num_warps": 4})
    assert only(tmp_path).name == "k"


def test_a_name_that_triton_cut_at_150_characters_is_whole_again(tmp_path):
    name = "triton_poi_fused_" + "x" * 200
    entry(tmp_path / BASE32, name=name[:150], said=record(name))
    assert only(tmp_path).name == name


def test_a_binary_only_entry_is_told_from_a_damaged_one(tmp_path):
    entry(tmp_path / "kept" / BASE32, suffixes=("source", "cubin"))
    assert only(tmp_path / "kept").layout == "binary-only"
    listed = ["k.ttir", "k.cubin", "k.json"]
    entry(tmp_path / "lost" / BASE32, suffixes=("cubin",), listed=listed)
    lost = only(tmp_path / "lost")
    assert lost.layout == "cache"
    (issue,) = lost.issues
    assert (issue.severity, issue.code) == ("error", "missing-file")
    assert "k.ttir" in issue.message


def test_a_remote_caches_group_file_lists_names_alone(tmp_path):
    folder = entry(tmp_path / BASE32, suffixes=("ptx", "cubin"))
    (folder / "__grp__k.json").write_text(json.dumps({"child_paths": ["k.cubin", "k.llir", "k.ptx"]}))
    assert [issue.message.split()[0] for issue in only(tmp_path).issues] == ["k.llir"]


def test_a_dump_folder_has_no_json_and_its_sass_text_gives_way_to_the_cubin(tmp_path):
    entry(
        tmp_path / BASE32, suffixes=("ttir", "ttgir", "llir", "ptx", "cubin", "sass"), said=None, group=False
    )
    bundle = only(tmp_path)
    assert bundle.layout == "dump"
    assert bundle.artifacts["sass"].suffix == ".cubin"
    assert codes(read(tmp_path)) == ["second-file"]


def test_sass_text_alone_is_machine_code_of_a_dump(tmp_path):
    entry(tmp_path / BASE32, suffixes=("ttir", "sass"), said=None, group=False)
    assert only(tmp_path).layout == "dump"
    assert only(tmp_path).artifacts["sass"].suffix == ".sass"


def test_a_failed_compilation_is_one_and_says_so(tmp_path):
    entry(tmp_path / HEX, suffixes=("ttir", "ttgir"), said=None, group=False)
    bundle = only(tmp_path)
    assert bundle.layout == "failed"
    assert codes(read(tmp_path)) == ["compilation-ended-early"]


def test_amd_binaries_are_machine_code_without_a_plugin(tmp_path):
    entry(tmp_path / "a" / BASE32, suffixes=("ttir", "amdgcn", "hsaco"), said=None, group=False)
    assert only(tmp_path / "a").layout == "dump"
    entry(tmp_path / "b" / BASE32, suffixes=("hsaco",))
    assert only(tmp_path / "b").layout == "binary-only"
    entry(tmp_path / "c" / BASE32, suffixes=("amdgcn", "hsaco"))
    assert only(tmp_path / "c").layout == "cache"
    assert set(only(tmp_path / "c").artifacts) == {"amdgcn", "hsaco", "meta"}


def test_nothing_else_is_expected_in_an_override_folder(tmp_path):
    entry(tmp_path / ".triton" / "override" / BASE32, suffixes=("ttgir",), said=None, group=False)
    assert only(tmp_path).layout == "file"
    entry(tmp_path / "mine" / BASE32, suffixes=("ttgir",), said=None, group=False)
    assert only(tmp_path / "mine").layout == "failed"
    environment = {"TRITON_OVERRIDE_DIR": str(tmp_path / "mine")}
    assert only(tmp_path / "mine", environment=environment).layout == "file"


def test_reproducers_are_the_input_of_their_passes_without_the_pipeline(tmp_path):
    module = b"module {\n  tt.func public @real_name(%arg0: i32) {\n  }\n}\n"
    (tmp_path / "p.make_ttgir.repro.mlir").write_bytes(module + b"\n{-#\n  external_resources: {\n  }\n#-}\n")
    (tmp_path / "p.make_llir.repro.mlir").write_bytes(module)
    (tmp_path / "p.make_unheard.repro.mlir").write_bytes(module)
    loaded = read(tmp_path)
    (bundle,) = loaded.bundles
    assert (bundle.name, bundle.layout) == ("real_name", "file")
    assert set(bundle.artifacts) == {"ttir", "ttgir"}
    assert bundle.artifacts["ttir"].read() == module + b"\n"
    assert codes(loaded) == ["unknown-reproducer"]


def test_several_kernels_in_one_folder_are_told_apart_by_their_names(tmp_path):
    entry(tmp_path, name="one")
    entry(tmp_path, name="two", said=None, group=False, suffixes=("ptx",))
    first, second = read(tmp_path).bundles
    assert (first.name, len(first.artifacts), first.layout) == ("one", 7, "cache")
    assert (second.name, len(second.artifacts), second.layout) == ("two", 1, "failed")


def test_nested_trees_of_inductor_and_vllm_are_read_and_their_own_files_ignored(tmp_path):
    top = tmp_path / "torchinductor_user"
    entry(top / "triton" / "0" / BASE32)
    entry(tmp_path / "vllm" / "torch_compile_cache" / "abc" / "rank_0_0" / "triton_cache" / OTHER32, name="v")
    for foreign in (
        "ab/cabcd.py",
        "ab/x.best_config",
        "fxgraph/q/w/entry",
        "triton/0/notes.json",
        "aotautograd/z.txt",
    ):
        (top / foreign).parent.mkdir(parents=True, exist_ok=True)
        (top / foreign).write_text('{"a": 1}')
    loaded = read(tmp_path)
    assert [bundle.name for bundle in loaded.bundles] == ["k", "v"]
    assert codes(loaded) == []


def test_launcher_stubs_locks_and_unfinished_files_are_skipped(tmp_path):
    folder = entry(tmp_path / BASE32)
    for name in (
        "lock",
        "k.ptx.tmp.pid_12_345",
        "k.autotune.json",
        "__triton_launcher.so",
        "k.lock",
        "k.py",
        "._k.ptx",
    ):
        (folder / name).write_text("{}")
    (tmp_path / OTHER32).mkdir()
    (tmp_path / OTHER32 / "cuda_utils.cpython-311-x86_64-linux-gnu.so").write_text("x")
    entry(folder / "tmp.pid_1_8e51", name="unfinished")
    loaded = read(tmp_path)
    assert [set(bundle.artifacts) for bundle in loaded.bundles] == [ALL]
    assert codes(loaded) == []


def test_a_forks_own_stage_is_kept_under_its_bare_suffix(tmp_path):
    folder = entry(tmp_path / BASE32)
    (folder / "k.FooIR").write_text("mine")
    (folder / "other.fooir").write_text("of no kernel")
    bundle = only(tmp_path)
    assert set(bundle.artifacts) == {*ALL, "fooir"}
    assert bundle.artifacts["fooir"].read() == b"mine"


def test_irdiff_json_is_kept_as_a_path_and_is_no_kernel(tmp_path):
    folder = entry(tmp_path / BASE32)
    (folder / "irdiff.json").write_text('{"num_warps": 1, "num_stages": 1}')
    assert only(tmp_path).metadata["irdiff.json"] == str(folder / "irdiff.json")


def test_a_json_of_something_else_is_no_kernel(tmp_path):
    entry(tmp_path / BASE32)
    manifest = {"entries": [{"options": {"num_warps": 4, "num_stages": 2}}]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert len(read(tmp_path).bundles) == 1
    (tmp_path / "lone.json").write_text(json.dumps(record("lone")))
    assert [bundle.name for bundle in read(tmp_path).bundles] == ["k", "lone"]


def test_an_empty_entry_folder_is_said(tmp_path):
    entry(tmp_path / BASE32)
    (tmp_path / OTHER32).mkdir()
    assert codes(read(tmp_path)) == ["empty-entry"]


def test_a_json_nobody_can_read_is_a_note_beside_kernels_and_a_kernel_where_it_is_all_there_is(tmp_path):
    (tmp_path / "alone.json").write_text('{"a": ')
    loaded = read(tmp_path)
    assert [bundle.name for bundle in loaded.bundles] == ["alone"]
    assert [issue.code for issue in loaded.bundles[0].issues] == ["bad-json"]
    entry(tmp_path / BASE32)
    loaded = read(tmp_path)
    assert [bundle.name for bundle in loaded.bundles] == ["k"]
    assert [(issue.severity, issue.code) for issue in loaded.issues] == [("note", "bad-json")]


# Damage -------------------------------------------------------------------------------------------------------------

DAMAGED_JSON = {
    "cut": b'{"name": "k", "num_w',
    "a list": b"[1, 2]",
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "UTF-16": json.dumps(record()).encode("utf-16"),
    "nested too deeply": b"[" * 200_000,
    "a nested object": b'{"a":' * 100_000,
    "a number": b"12",
    "NUL bytes": b"\0" * 64,
}


@pytest.mark.parametrize("what", sorted(DAMAGED_JSON))
def test_a_damaged_json_is_an_error_on_its_kernel_and_the_rest_is_loaded(tmp_path, what):
    folder = entry(tmp_path / BASE32)
    (folder / "k.json").write_bytes(DAMAGED_JSON[what])
    entry(tmp_path / OTHER32, name="fine")
    fine, damaged = read(tmp_path).bundles
    assert fine.issues == ()
    (issue,) = damaged.issues
    assert (issue.severity, issue.code, issue.where) == ("error", "bad-json", str(folder / "k.json"))
    assert issue.hint
    assert damaged.name == "k"
    assert damaged.layout == "cache"
    assert set(damaged.artifacts) == ALL


def test_an_empty_file_is_an_error_on_its_kernel(tmp_path):
    folder = entry(tmp_path / BASE32)
    (folder / "k.llir").write_bytes(b"")
    (folder / "k.json").write_bytes(b"")
    issues = only(tmp_path).issues
    assert [(issue.code, issue.stage) for issue in issues] == [("empty-file", "meta"), ("empty-file", "llir")]


def test_numbers_no_machine_holds_are_a_warning_and_kept_as_text(tmp_path):
    said = json.dumps(record())[:-1] + f', "huge": {"9" * 100_000}, "inf": Infinity, "far": 1e999}}'
    entry(tmp_path / BASE32)
    (tmp_path / BASE32 / "k.json").write_text(said)
    bundle = only(tmp_path)
    assert [(issue.severity, issue.code) for issue in bundle.issues] == [("warning", "odd-json")]
    assert bundle.metadata["huge"] == "9" * 40
    assert bundle.metadata["inf"] == "Infinity"
    assert str(bundle.target) == "cuda:90"


def test_text_that_no_encoding_can_write_is_spelled_out(tmp_path):
    entry(tmp_path / BASE32)
    (tmp_path / BASE32 / "k.json").write_text('{"name": "\\ud800k", "\\udfff": "\\ud801"}')
    bundle = only(tmp_path)
    json.dumps([bundle.name, bundle.metadata], ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("content", [b"[]", b"{", b"{}", b'{"child_paths": 3}', b"\xff"])
def test_a_damaged_group_file_is_a_warning_for_the_files_were_read(tmp_path, content):
    folder = entry(tmp_path / BASE32)
    (folder / "__grp__k.json").write_bytes(content)
    bundle = only(tmp_path)
    assert [(issue.severity, issue.code) for issue in bundle.issues] == [("warning", "bad-group")]
    assert set(bundle.artifacts) == ALL


def test_no_file_outside_an_entry_is_opened_because_a_json_names_it(tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = entry(tmp_path / "cache" / BASE32, suffixes=("ptx",), said=record("../../secret"))
    paths = {"k.cubin": str(secret), "../../secret": str(secret), "k.ptx": str(secret)}
    (folder / "__grp__k.json").write_text(json.dumps({"child_paths": paths}))
    opened = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest, **more: opened.append(path) or real(path, *rest, **more)
    )
    bundle = only(tmp_path / "cache")
    assert {artifact.read() for artifact in bundle.artifacts.values()} > {b"ptx of k"}
    assert all(str(path).startswith(str(folder)) for path in opened)


def test_a_file_that_may_not_be_read_is_an_error_on_its_kernel(tmp_path, monkeypatch):
    for file in entry(tmp_path / BASE32).glob("*.ptx"):
        file.chmod(0o600)  # one that everybody may read is not asked for
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith(".ptx") and real(path, mode))
    (issue,) = only(tmp_path).issues
    assert (issue.severity, issue.code, issue.stage) == ("error", "unreadable-file", "ptx")


def test_a_json_that_cannot_be_opened_is_an_error_on_its_kernel(tmp_path, monkeypatch):
    entry(tmp_path / BASE32)
    real = os.open

    def refuse(path, *rest, **more):
        if str(path).endswith("k.json"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    assert {issue.code for issue in only(tmp_path).issues} == {"unreadable-file"}


def test_a_folder_that_may_not_be_read_is_an_error_and_the_rest_is_loaded(tmp_path, monkeypatch):
    entry(tmp_path / BASE32)
    entry(tmp_path / OTHER32, name="closed")
    real = os.scandir

    def refuse(path):
        if str(path).endswith(OTHER32):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    loaded = read(tmp_path)
    assert [bundle.name for bundle in loaded.bundles] == ["k"]
    (issue,) = loaded.issues
    assert (issue.severity, issue.code, issue.where) == (
        "error",
        "unreadable-folder",
        str(tmp_path / OTHER32),
    )


def test_links_that_close_a_loop_are_said_and_followed_once(tmp_path):
    entry(tmp_path / "a" / BASE32)
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self").symlink_to("self")
    loaded = read(tmp_path)
    assert [bundle.path for bundle in loaded.bundles] == [str(tmp_path / "a" / BASE32)]
    assert codes(loaded) == ["symlink-loop", "symlink-loop"]


def test_a_linked_entry_folder_is_read_and_a_second_name_of_it_is_not_read_again(tmp_path):
    entry(tmp_path / "store" / BASE32)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / BASE32).symlink_to(tmp_path / "store" / BASE32, target_is_directory=True)
    assert only(tmp_path / "cache").entry == BASE32
    assert only(tmp_path).path == str(tmp_path / "store" / BASE32)
    assert codes(read(tmp_path)) == []


def test_links_that_lead_nowhere_are_errors_on_their_kernel(tmp_path):
    folder = entry(tmp_path / BASE32)
    (folder / "k.ptx").unlink()
    (folder / "k.ptx").symlink_to("/nonexistent/k.ptx")
    bundle = only(tmp_path)
    assert [(issue.severity, issue.code, issue.stage) for issue in bundle.issues] == [
        ("error", "dangling-link", "ptx")
    ]
    assert "ptx" not in bundle.artifacts


def test_a_pipe_in_the_place_of_a_stage_is_never_waited_for(tmp_path):
    folder = entry(tmp_path / BASE32)
    (folder / "k.ptx").unlink()
    os.mkfifo(folder / "k.ptx")
    (folder / "k.json").unlink()
    os.mkfifo(folder / "k.json")
    assert codes(read(tmp_path)) == ["not-a-file", "not-a-file"]


def test_a_file_that_becomes_a_pipe_after_the_scan_is_an_os_error(tmp_path):
    folder = entry(tmp_path / BASE32)
    artifact = only(tmp_path).artifacts["ptx"]
    (folder / "k.ptx").unlink()
    os.mkfifo(folder / "k.ptx")
    with pytest.raises(OSError, match="regular"):
        artifact.read()


def test_a_file_larger_than_any_stage_is_an_error_and_not_read(tmp_path):
    folder = entry(tmp_path / BASE32)
    with (folder / "k.llir").open("wb") as file:
        file.truncate(1 << 40)
    bundle = only(tmp_path)
    assert [(issue.code, issue.stage) for issue in bundle.issues] == [("too-large", "llir")]
    assert "llir" not in bundle.artifacts


def test_names_that_are_not_utf_8_are_spelled_out(tmp_path):
    entry(tmp_path / BASE32)
    (tmp_path / BASE32 / os.fsdecode(b"\xffz.ptx")).write_bytes(b"x")
    names = [bundle.name for bundle in read(tmp_path).bundles]
    assert names == ["\\xffz", "k"]


def test_artifacts_are_read_only_when_asked_for(tmp_path, monkeypatch):
    entry(tmp_path / BASE32)
    opened = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest, **more: opened.append(path) or real(path, *rest, **more)
    )
    bundle = only(tmp_path)
    assert {Path(path).suffix for path in opened} == {".json"}
    bundle.artifacts["ttir"].read()
    assert opened[-1].endswith("k.ttir")


def test_the_order_in_which_the_file_system_lists_names_changes_nothing(tmp_path, monkeypatch):
    for index in range(12):
        entry(tmp_path / str(index % 3) / f"{BASE32[:-2]}{'ABCDEFGHIJKL'[index]}A", name=f"k{index % 5}")
        (tmp_path / f"link{index}").symlink_to(tmp_path / str(index % 3))
    expected = read(tmp_path)
    real = os.scandir

    class Shuffled:
        def __init__(self, path):
            with real(path) as entries:
                self.entries = list(entries)
            chance.shuffle(self.entries)

        def __enter__(self):
            return iter(self.entries)

        def __exit__(self, *error):
            return None

    monkeypatch.setattr(os, "scandir", Shuffled)
    for seed in range(5):
        chance = random.Random(seed)
        found = read(tmp_path)
        assert [(b.name, b.path, b.issues) for b in found.bundles] == [
            (b.name, b.path, b.issues) for b in expected.bundles
        ]
        assert contents(found) == contents(expected)
        assert found.issues == expected.issues


def test_bundles_are_sorted_by_name_target_and_path(tmp_path):
    entry(tmp_path / BASE32, name="b")
    entry(tmp_path / OTHER32, name="b", said=record("b", target={"backend": "cuda", "arch": 80}))
    entry(tmp_path / HEX, name="a")
    keys = [(bundle.name, str(bundle.target), bundle.path) for bundle in read(tmp_path).bundles]
    assert keys == sorted(keys)
    assert [key[1] for key in keys] == ["cuda:90", "cuda:80", "cuda:90"]


# Paths that hold nothing ---------------------------------------------------------------------------------------------


def test_a_path_that_is_not_there_names_the_nearest_one(tmp_path):
    entry(tmp_path / "triton-cache" / BASE32)
    with pytest.raises(InputError) as raised:
        read(tmp_path / "triton-cahce")
    assert "triton-cache" in raised.value.hint
    with pytest.raises(InputError) as raised:
        read(tmp_path / "triton-cahce" / "deeper" / "still")
    assert "triton-cache" in raised.value.hint


def test_a_folder_without_kernels_says_what_to_name(tmp_path):
    with pytest.raises(InputError) as raised:
        read(tmp_path)
    assert raised.value.hint
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="no compiled kernel"):
        read(tmp_path)


def test_a_folder_that_may_not_be_read_is_an_input_error(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000])
def test_a_path_that_can_be_none_is_an_input_error(path):
    with pytest.raises(InputError):
        load(path, FakeContext(), {})


# Real entries --------------------------------------------------------------------------------------------------------


def test_every_fixture_bundle_is_loaded_as_its_manifest_says():
    for manifest in sorted(corpus.BUNDLES.glob("*/*/manifest.json")):
        entries = json.loads(manifest.read_text())["entries"]
        loaded = read(manifest.parent)
        assert {bundle.entry for bundle in loaded.bundles} == {item["folder"] for item in entries}
        by_entry = {bundle.entry: bundle for bundle in loaded.bundles}
        for item in entries:
            bundle = by_entry[item["folder"]]
            assert bundle.name == item["kernel"]
            if item["status"] == "failed":
                assert bundle.layout == "failed"
                continue
            assert bundle.layout == "cache"
            assert bundle.issues == ()
            backend, arch = (
                ("cuda", item["target"][3:]) if item["target"].startswith("sm_") else ("hip", item["target"])
            )
            assert str(bundle.target) == f"{backend}:{arch}"
            assert bundle.release == (None if item["triton"] == "3.1.0" else item["triton"])
            digests = {artifact.sha256 for artifact in bundle.artifacts.values()}
            files = {
                name: file["sha256"] for name, file in item["files"].items() if not name.startswith("__grp__")
            }
            assert digests == set(files.values())


@pytest.mark.parametrize(
    ("folder", "layout"), [("binary-only", "binary-only"), ("dumps", "dump"), ("reproducer", "file")]
)
def test_the_other_fixture_trees_have_their_layouts(folder, layout):
    bundle = only(corpus.FIXTURES / folder)
    assert (bundle.name, bundle.layout) == ("vector_add_kernel", layout)


def test_damaged_and_hostile_fixtures_are_loaded_or_said_to_be_empty():
    for folder in ("broken", "hostile"):
        for case in sorted((corpus.FIXTURES / folder).iterdir()):
            if not case.is_dir() or case.name == "empty-entry":
                continue
            loaded = read(case)
            assert len(loaded.bundles) == 1, case


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("broken/json-cut", "bad-json"),
        ("broken/json-list", "bad-json"),
        ("broken/json-empty", "empty-file"),
        ("broken/json-null-fields", "odd-json"),
        ("broken/cubin-empty", "empty-file"),
        ("broken/ttir-empty", "empty-file"),
        ("broken/grp-list", "bad-group"),
        ("hostile/json-deep", "bad-json"),
        ("hostile/json-huge-numbers", "odd-json"),
        ("hostile/json-wrong-types", "odd-json"),
    ],
)
def test_what_is_wrong_with_a_fixture_is_said(case, code):
    assert code in codes(read(corpus.FIXTURES / case))


def test_the_h200_cache_is_loaded_whole(h200):
    loaded = read(h200)
    assert len(loaded.bundles) == 141
    assert codes(loaded) == []
    assert all(set(bundle.artifacts) == ALL for bundle in loaded.bundles)
    assert all(bundle.layout == "cache" and str(bundle.target) == "cuda:90" for bundle in loaded.bundles)


def test_two_trees_in_one_are_loaded_together(tmp_path):
    entry(tmp_path / "cache" / BASE32)
    shutil.copytree(corpus.FIXTURES / "dumps", tmp_path / "dump")
    assert [bundle.layout for bundle in read(tmp_path).bundles] == ["cache", "dump"]


@pytest.mark.parametrize("target", ["..", "../..", "/"])
def test_a_link_to_what_lies_around_the_tree_is_not_followed(tmp_path, target):
    entry(tmp_path / "outside" / OTHER32, name="outside")
    entry(tmp_path / "tree" / BASE32)
    (tmp_path / "tree" / "up").symlink_to(target)
    loaded = read(tmp_path / "tree")
    assert [bundle.name for bundle in loaded.bundles] == ["k"]
    assert codes(loaded) == ["symlink-loop"]
