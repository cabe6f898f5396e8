"""Equal code is equal text, other code is other text, and what was taken away is named."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irdiff.api import ParseError
from irdiff_mlir.normalizations import NORMALIZATIONS
from mlir.mlir_samples import canonical_of, file_of, kernel

SAMPLES = {
    "ttgir": file_of("3.6.0", "sm_90", "matmul_kernel", ".ttgir", "w4s2").read_text(),
    "old ttgir": file_of("3.1.0", "sm_90", "vector_add_kernel", ".ttgir").read_text(),
    "while": file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttgir").read_text(),
    "source": file_of("3.6.0", "sm_90", "softmax_kernel", ".source").read_text(),
}
WHOLE = {name: canonical_of(text) for name, text in SAMPLES.items()}
_STRING_OR_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|%[\w$.-]+|\^[\w$.-]+')
_PLACE = re.compile(r'"([^"]*)":(\d+):(\d+)')
every_sample = st.sampled_from(sorted(SAMPLES))
seeds = st.integers(min_value=0, max_value=2**32)
examples = settings(max_examples=60, deadline=None)


def _rename_values(text: str, chance: random.Random) -> str:
    """Other names for values and blocks, by a bijection."""
    names = sorted({match[0] for match in _STRING_OR_VALUE.finditer(text) if match[0][0] in "%^"})
    numbers = chance.sample(range(len(names) * 3), len(names))
    style = chance.choice(["{}", "v_{}", "a.b{}", "c-{}_i32"])
    spelled = [str(n) if style == "{}" else style.format(n) for n in numbers]
    renamed = {
        name: f"^bb{n}" if name[0] == "^" else f"%{new}"
        for name, new, n in zip(names, spelled, numbers, strict=True)
    }
    return _STRING_OR_VALUE.sub(lambda match: renamed.get(match[0], match[0]), text)


def _rename_aliases(text: str, chance: random.Random) -> str:
    """Other names for attribute aliases, defined in another order."""
    lines = text.split("\n")
    at = [number for number, line in enumerate(lines) if re.match(r"#(?!loc)\w+ = ", line)]
    names = [re.match(r"#(\w+)", lines[number])[1] for number in at]  # type: ignore[index]  # matched above
    numbers = chance.sample(range(100), len(names))
    renamed = {name: f"layout{number}" for name, number in zip(names, numbers, strict=True)}
    moved = [lines[number] for number in at]
    if not any(f"#{name}" in line.partition("=")[2] for name in names for line in moved):
        chance.shuffle(moved)
    for number, line in zip(at, moved, strict=True):
        lines[number] = line
    return re.sub(r"#([A-Za-z]\w*)(?![\w.<])", lambda m: f"#{renamed.get(m[1], m[1])}", "\n".join(lines))


def _move_source(text: str, chance: random.Random) -> str:
    """The Python file somewhere else, its lines shifted, locations numbered anew."""
    shift = chance.randrange(1, 1000)
    moved = _PLACE.sub(lambda m: f'"/elsewhere{m[1]}":{int(m[2]) + shift}:{m[3]}', text)
    names = sorted(set(re.findall(r"#loc\d+", moved)))
    renamed = dict(zip(names, chance.sample(names, len(names)), strict=True))
    return re.sub(r"#loc\d+", lambda m: renamed[m[0]], moved)


def _reindent(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    return "\n".join(
        line if line.startswith("#") or not line else " " * chance.randrange(6) + line.lstrip()
        for line in lines
    )


def _comment(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    number = chance.randrange(len(lines))
    lines.insert(number, "// a remark")
    return "\n".join(lines)


SPELLINGS: dict[str, Callable[[str, random.Random], str]] = {
    "ssa-names": _rename_values,
    "attribute-aliases": _rename_aliases,
    "source-lines": _move_source,
    "whitespace": _reindent,
    "comments": _comment,
}


@examples
@given(sample=every_sample, rule=st.sampled_from(sorted(SPELLINGS)), seed=seeds)
def test_code_spelled_differently_has_the_same_canonical_form_and_the_rule_is_named(
    sample: str, rule: str, seed: int
) -> None:
    text = SAMPLES[sample]
    spelled = SPELLINGS[rule](text, random.Random(seed))
    found = canonical_of(spelled)
    assert found.lines == WHOLE[sample].lines
    if spelled != text:
        differing = {
            name
            for name in {*found.erased, *WHOLE[sample].erased}
            if found.erased.get(name) != WHOLE[sample].erased.get(name)
        }
        allowed = {rule} | ({"source-paths", "argument-locations"} if rule == "source-lines" else set())
        assert rule in differing or differing == {"source-paths"}
        assert differing <= allowed


@examples
@given(sample=every_sample, rules=st.permutations(sorted(SPELLINGS)), seed=seeds)
def test_all_spellings_at_once_are_still_the_same_code(sample: str, rules: list[str], seed: int) -> None:
    text = SAMPLES[sample]
    chance = random.Random(seed)
    for rule in rules:
        text = SPELLINGS[rule](text, chance)
    assert canonical_of(text).lines == WHOLE[sample].lines


def _code_lines(lines: list[str], pattern: str) -> list[int]:
    return [at for at, line in enumerate(lines) if line.startswith("  ") and re.search(pattern, line)]


def _edit_constant(lines: list[str], chance: random.Random) -> list[str]:
    at = chance.choice(_code_lines(lines, r"arith\.constant -?\d+ : "))
    lines[at] = re.sub(r"constant (-?\d+)", lambda m: f"constant {int(m[1]) + 1}", lines[at])
    return lines


def _edit_order(lines: list[str], chance: random.Random) -> list[str]:
    at = chance.choice(_code_lines(lines, r"(arith\.\w+|tt\.addptr) (%[\w#.-]+), (?!\2 )%[\w#.-]+ :"))
    lines[at] = re.sub(r"(%[\w#.-]+), (%[\w#.-]+) :", r"\2, \1 :", lines[at])
    return lines


def _edit_type(lines: list[str], chance: random.Random) -> list[str]:
    at = chance.choice(_code_lines(lines, r"xf32|xf16|: i32"))
    swapped = {"xf32": "xf64", "xf16": "xbf16", ": i32": ": i16"}
    lines[at] = re.sub(r"xf32|xf16|: i32", lambda m: swapped[m[0]], lines[at], count=1)
    return lines


def _drop_line(lines: list[str], chance: random.Random) -> list[str]:
    del lines[chance.choice(_code_lines(lines, r"^ +(%[\w, :]+ = )?\w+\.[\w.]+ .*[^{]$"))]
    return lines


def _drop_operand(lines: list[str], chance: random.Random) -> list[str]:
    at = chance.choice(_code_lines(lines, r"(load|store|addptr|select|arith\.\w+) .*, %[\w#.-]+ "))
    lines[at] = re.sub(r", %[\w#.-]+ (?=[:{a-z])", " ", lines[at], count=1)
    return lines


def _swap_lines(lines: list[str], chance: random.Random) -> list[str]:
    name = re.compile(r"^ +%[\w, :]+ = (\w+\.\w+)")
    pairs = [
        at
        for at in range(len(lines) - 1)
        if (one := name.match(lines[at])) and (two := name.match(lines[at + 1])) and one[1] != two[1]
        if not lines[at].endswith("{") and not lines[at + 1].endswith("{")
    ]
    at = chance.choice(pairs)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return lines


EDITS = (_edit_constant, _edit_order, _edit_type, _drop_line, _drop_operand, _swap_lines)


@settings(max_examples=120, deadline=None)
@given(sample=st.sampled_from(["ttgir", "source", "while"]), edit=st.sampled_from(EDITS), seed=seeds)
def test_one_edit_of_meaning_changes_the_canonical_form(
    sample: str, edit: Callable[[list[str], random.Random], list[str]], seed: int
) -> None:
    lines = SAMPLES[sample].split("\n")
    edited = edit(list(lines), random.Random(seed))
    if edited != lines:
        assert canonical_of("\n".join(edited)).lines != WHOLE[sample].lines


def test_a_layout_changed_behind_its_alias_changes_the_canonical_form() -> None:
    text = SAMPLES["ttgir"]
    edited = text.replace("sizePerThread = [1, 8]", "sizePerThread = [1, 4]", 1)
    assert canonical_of(edited).lines != WHOLE["ttgir"].lines


@settings(max_examples=100, deadline=None)
@given(sample=every_sample, data=st.data())
def test_bytes_that_differ_with_equal_code_have_a_digest_that_differs(
    sample: str, data: st.DataObject
) -> None:
    text = SAMPLES[sample]
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 40))
    put = data.draw(st.sampled_from(["", " ", "\n", "// x\n", "1", "#loc"]))
    edited = text[:at] + put + text[at + length :]
    try:
        found = canonical_of(edited)
    except ParseError:
        return
    if edited != text and found.lines == WHOLE[sample].lines:
        assert found.erased != WHOLE[sample].erased


def test_places_name_the_line_each_canonical_line_comes_from() -> None:
    text = SAMPLES["ttgir"]
    lines = text.split("\n")
    found = canonical_of(text)
    assert len(found.places) == len(found.lines)
    for line, place in zip(found.lines, found.places, strict=True):
        word = re.search(r"\b(?:arith|tt|ttg|ttng|scf)\.[\w.]+", line)
        if word and not line.lstrip().startswith("}"):
            assert word[0] in lines[place - 1]


def test_every_normalisation_is_documented_and_switching_it_off_keeps_what_it_dropped() -> None:
    assert all(rule.doc and rule.title for rule in NORMALIZATIONS)
    changed = {
        "ssa-names": "ttgir",
        "attribute-aliases": "ttgir",
        "dialect-renames": "old ttgir",
        "source-paths": "ttgir",
        "source-lines": "ttgir",
        "argument-locations": "ttgir",
        "whitespace": "ttgir",
        "constant-order": "ttgir",
        "function-names": "source",
    }
    for rule, sample in changed.items():
        assert canonical_of(SAMPLES[sample], rule).lines != WHOLE[sample].lines, rule
    commented = _comment(SAMPLES["ttgir"], random.Random(1))
    assert canonical_of(commented, "comments").lines != WHOLE["ttgir"].lines
    unsorted = kernel("%x = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>")
    ordered = kernel("%x = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>")
    assert canonical_of(unsorted).lines == canonical_of(ordered).lines
    assert canonical_of(unsorted, "attribute-order").lines != canonical_of(ordered, "attribute-order").lines
    assert {rule.id for rule in NORMALIZATIONS} == {*changed, "comments", "attribute-order"}


@pytest.mark.parametrize(
    ("kernel_name", "specialization", "target", "suffix", "before", "after"),
    [
        ("vector_add_kernel", "n16", "sm_90", ".ttir", "3.1.0", "3.3.1"),
        ("vector_add_kernel", "n16", "sm_90", ".ttgir", "3.1.0", "3.3.1"),
        ("vector_add_kernel", "n16", "sm_90", ".ttgir", "3.3.1", "3.6.0"),
        ("vector_add_kernel", "n16", "sm_90", ".ttgir", "3.6.0", "3.9.0"),
        ("vector_add_kernel", "n16", "gfx942", ".ttgir", "3.6.0", "3.9.0"),
        ("matmul_kernel", "w4s2", "sm_90", ".ttir", "3.6.0", "3.9.0"),
        ("tma_matmul_kernel", "host", "sm_100", ".ttir", "3.6.0", "3.9.0"),
        ("tma_matmul_kernel", "host", "sm_100", ".ttgir", "3.6.0", "3.9.0"),
        ("layer_norm_bwd_kernel", "bwd", "sm_100", ".ttgir", "3.6.0", "3.9.0"),
    ],
)
def test_releases_that_emit_the_same_code_have_the_same_canonical_form(
    kernel_name: str, specialization: str, target: str, suffix: str, before: str, after: str
) -> None:
    first, second = (
        canonical_of(file_of(release, target, kernel_name, suffix, specialization).read_bytes())
        for release in (before, after)
    )
    assert first.lines == second.lines


def test_old_spellings_of_an_operation_are_folded() -> None:
    policy = "#tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>"
    pairs = [
        ("gpu.barrier", "ttg.barrier all"),
        ("%t = ttg.async_commit_group tokens %n", "%t = ttg.async_commit_group %n"),
        (
            "%x = tt.load %p evictionPolicy = evict_last : !tt.ptr<f32>",
            f"%x = tt.load %p {{cachePolicy = {policy}}} : !tt.ptr<f32>",
        ),
        (
            "%x = tt.descriptor_load %p[%n] : !tt.tensordesc<tensor<64xf16>> -> tensor<64xf16>",
            "%x = tt.descriptor_load %p[%n] : !tt.tensordesc<64xf16> -> tensor<64xf16>",
        ),
    ]
    for older, newer in pairs:
        assert canonical_of(kernel(older)).lines == canonical_of(kernel(newer)).lines
        assert canonical_of(kernel(older), "dialect-renames").lines != canonical_of(kernel(newer)).lines
