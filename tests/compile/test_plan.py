"""Lists of values expand into jobs; tables and command lines say the same."""

from __future__ import annotations

import msgspec
import pytest

from irdiff.compile.notation import parse_signature, parse_values
from irdiff.compile.plan import Request, expand, lacks_release, lacks_target
from irdiff.compile.tables import find_tables, read_tables
from irdiff.compile.targets import at_least, parse_target, warp_size
from irdiff.errors import InputError, UsageError


@pytest.fixture
def kernel(tmp_path):
    file = tmp_path / "k.py"
    file.write_text("x = 1\n")
    return file


def request(file, **fields):
    return Request(file=file, shown="k.py", targets=(parse_target("cuda:90"),), **fields)


def test_lists_expand_into_every_combination_in_the_order_given(kernel):
    made = request(
        kernel,
        settings={"M": parse_values("64, 128", where=""), "N": parse_values("32", where="")},
        options={"num_warps": parse_values("4,8", where="")},
    )
    made = msgspec.structs.replace(made, targets=(parse_target("cuda:80"), parse_target("cuda:90")))
    found = [(job.specialization, str(job.target)) for job in expand([made])]
    assert found == [
        (f"M={m} N=32 num_warps={warps}", target)
        for m in (64, 128)
        for warps in (4, 8)
        for target in ("cuda:80", "cuda:90")
    ]


def test_a_combination_asked_for_twice_is_compiled_once(kernel):
    made = request(kernel, options={"num_warps": parse_values("4,4", where="")})
    assert len(expand([made, made])) == 1


def test_the_key_follows_content_compiler_and_variables_and_the_slot_does_not(kernel):
    before = expand([request(kernel)])[0]
    key = before.key("build", {})
    assert before.key("other build", {}) != key
    assert before.key("build", {"DISABLE_LLVM_OPT": "1"}) != key
    kernel.write_text("x = 2\n")
    after = expand([request(kernel)])[0]
    assert after.key("build", {}) != key
    assert after.slot == before.slot
    assert (
        expand([request(kernel, options={"num_warps": parse_values("8", where="")})])[0].slot != before.slot
    )


def test_files_that_triton_cannot_compile_are_refused(tmp_path):
    for name, fields in (
        ("k.ptx", {}),
        ("k.ttir", {"kernel": "k"}),
        ("k.ttgir", {"arguments": parse_signature("i32")}),
    ):
        (tmp_path / name).write_text("")
        with pytest.raises(UsageError):
            expand([Request(file=tmp_path / name, shown=name, targets=(parse_target("cuda:90"),), **fields)])
    with pytest.raises(InputError):
        expand([Request(file=tmp_path / "absent.py", shown="absent.py")])


def test_a_table_says_the_same_as_the_command_line(kernel):
    path = kernel.with_name("irdiff.toml")
    path.write_text(
        """
        [[kernel]]
        file = "k.py"
        name = "add"
        signature = "*fp32:16, i32"
        set = { BLOCK = [64, 128], KIND = "fp16" }
        num_warps = [4, 8]
        options = { maxnreg = 128 }
        targets = ["cuda:90"]
        """
    )
    assert find_tables(kernel.parent) == path
    by_hand = request(
        kernel,
        kernel="add",
        arguments=parse_signature("*fp32:16, i32"),
        settings={"BLOCK": parse_values("64,128", where=""), "KIND": parse_values("fp16", where="")},
        options={"num_warps": parse_values("4,8", where=""), "maxnreg": parse_values("128", where="")},
    )
    assert expand(read_tables(path)) == expand([by_hand])


def test_tables_of_pyproject_are_found_from_folders_below(tmp_path, kernel):
    (tmp_path / "pyproject.toml").write_text('[[tool.irdiff.kernel]]\nfile = "k.py"\ntargets = "cuda:90"\n')
    below = tmp_path / "sub" / "folder"
    below.mkdir(parents=True)
    found = find_tables(below)
    assert found == tmp_path / "pyproject.toml"
    assert [job.shown for job in expand(read_tables(found))] == ["k.py"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('fil = "k.py"', "no key is called 'fil'"),
        ("num_warps = 4", "file is missing"),
        ('file = "k.py"\nset = 4', "set is no table"),
        ('file = "k.py"\ntargets = ["gfx942"]', "'gfx942' is no target"),
        ('file = "k.py"\nsignature = "*fp17"', "'fp17' is no type"),
        ('file = "k.py"\nset = { A = [] }', "the list is empty"),
        ('file = "k.py"\nset = { A = 2020-01-01 }', "is no number, string, boolean or list"),
    ],
)
def test_a_wrong_table_is_named_with_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "irdiff.toml"
    path.write_text(f"[[kernel]]\n{text}\n")
    with pytest.raises(UsageError) as raised:
        read_tables(path)
    assert message in raised.value.message
    assert "kernel 1" in raised.value.where


def test_what_is_no_toml_is_an_input_error(tmp_path):
    (tmp_path / "irdiff.toml").write_text("[[kernel")
    with pytest.raises(InputError):
        read_tables(tmp_path / "irdiff.toml")


def test_needs_skip_a_job_with_the_reason(tmp_path, kernel):
    path = tmp_path / "irdiff.toml"
    path.write_text(
        '[[kernel]]\nfile = "k.py"\ntargets = ["cuda:80", "cuda:89", "cuda:100", "hip:gfx942"]\n'
        'needs = "cuda:89"\nneeds_triton = "3.4"\nwhy = "fp8"\n'
    )
    jobs = expand(read_tables(path))
    assert [lacks_target(job) for job in jobs] == ["needs fp8: cuda:89 or newer", None, None, None]
    assert lacks_release(jobs[1], "3.3.1") == "needs Triton 3.4 or newer for fp8; this is 3.3.1"
    assert lacks_release(jobs[1], "3.10.0+git1234") is None


def test_targets_have_the_warp_size_that_triton_gives_them():
    sizes = {"cuda:90": 32, "hip:gfx942": 64, "hip:gfx90a": 64, "hip:gfx1100": 32, "hip:gfx1201": 32}
    assert {name: warp_size(parse_target(name)) for name in sizes} == sizes
    assert at_least(parse_target("cuda:100"), parse_target("cuda:90"))
    assert not at_least(parse_target("hip:gfx942"), parse_target("cuda:90"))


@pytest.mark.parametrize(
    "text", ["", "cuda", "cuda:", "cuda:sm_90", "hip:942", "90", "cuda:90:32", "cuda:9", "CUDA:90"]
)
def test_what_is_no_target_is_refused_with_the_choices(text):
    with pytest.raises(UsageError, match="is no target") as raised:
        parse_target(text)
    assert "cuda:90" in raised.value.hint
