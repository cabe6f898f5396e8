"""The canonical form: what means the same is the same text, and one changed thing is another text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest

from amd_fixtures import Entry, entry, form, summary
from irdiff_amdgcn.canonical import NORMALIZATIONS
from irdiff_amdgcn.renaming import NAMES

RANGE = re.compile(r"(?<![\w.$@])([vsa])(?:(\d+)|\[(\d+):(\d+)\])(?![\w\[])")
SOME = [
    entry("3.3.1", "gfx90a", "flash_attention_fwd_kernel-d64"),
    entry("3.6.0", "gfx942", "matmul"),
    entry("3.7.1", "gfx950", "softmax"),
    entry("3.8.0", "gfx1100", "layer_norm"),
    entry("3.9.0", "gfx1201", "matmul"),
]
SMALL = [each for each in SOME if len(each.text) < 40_000]
SAMPLES = pytest.mark.parametrize("compiled", SOME, ids=lambda each: each.id)


def code_lines(text: str) -> list[int]:
    """Indices of the lines that are instructions."""
    lines = text.partition("\t.section\t.rodata")[0].splitlines()
    return [index for index, line in enumerate(lines) if re.match(r"\t[a-z]", line)]


def rewritten(text: str, change: Callable[[str], str]) -> str:
    """The text with the operands of its instructions changed."""
    lines = text.splitlines()
    for index in code_lines(text):
        statement, mark, comment = lines[index].partition(";")
        _, opcode, operands = re.match(r"(\t)(\S+)(.*)", statement, re.DOTALL).groups()  # type: ignore[union-attr]
        lines[index] = f"\t{opcode}{change(operands)}{mark}{comment}"
    return "\n".join([*lines, ""])


def another_naming(text: str, chance: random.Random) -> str:
    """The registers under other numbers: those that an operand names together stay together.

    Registers that the hardware fills before the kernel starts keep theirs, and so does what is tied to them.
    """
    user = int(re.search(r"amdhsa_user_sgpr_count (\d+)", text)[1])  # type: ignore[index]
    kept = {"s": user + 5, "v": 3, "a": 0}
    lines = text.splitlines()
    code = "\n".join(lines[index].partition(";")[0] for index in code_lines(text))
    places: dict[str, dict[int, int]] = {}
    for kind, least in kept.items():
        joined: set[int] = set()
        named: set[int] = set()
        for found in RANGE.finditer(code):
            if found[1] == kind:
                first = int(found[2] or found[3])
                last = int(found[2] or found[4])
                named |= set(range(first, last + 1))
                joined |= set(range(first, last))  # register n and n + 1 belong together
        groups: list[list[int]] = []
        for register in sorted(named):
            if groups and groups[-1][-1] == register - 1 and register - 1 in joined:
                groups[-1].append(register)
            else:
                groups.append([register])
        free = [group for group in groups if group[0] >= least]
        fixed = [group for group in groups if group[0] < least]
        chance.shuffle(free)
        place = max((group[-1] + 1 for group in fixed), default=0)
        moved = {register: register for group in fixed for register in group}
        for group in free:
            for register in group:
                moved[register] = place
                place += 1
        places[kind] = moved

    def name(found: re.Match[str]) -> str:
        moved = places[found[1]]
        if found[2]:
            return f"{found[1]}{moved[int(found[2])]}"
        return f"{found[1]}[{moved[int(found[3])]}:{moved[int(found[4])]}]"

    return rewritten(text, lambda operands: RANGE.sub(name, operands))


@SAMPLES
def test_renaming_registers_changes_neither_form_nor_fact(compiled: Entry) -> None:
    for seed in range(2):
        other = another_naming(compiled.text, random.Random(seed))
        assert other != compiled.text
        assert form(other).lines == form(compiled.text).lines
        assert summary(other).facts == summary(compiled.text).facts


@SAMPLES
def test_names_comments_lines_and_padding_change_nothing(compiled: Entry) -> None:
    text = compiled.text
    for how, other in {
        "labels": re.sub(r"\.LBB0_(\d+)", lambda found: f".LBB7_{int(found[1]) + 40}", text),
        "line numbers": re.sub(r"(\.loc\t\d+) (\d+)", lambda found: f"{found[1]} {int(found[2]) + 9}", text),
        "paths": text.replace("/tmp/", "/home/user/"),
        "comments": re.sub(r"; %bb\.(\d+):", r"; another %bb.\1:", text),
        "spacing": re.sub(r", (?=[vs]\d)", ",  ", text),
        "symbols": re.sub(r"^\t\.set .*\n", "", text, flags=re.MULTILINE),
        "padding": re.sub(r"^\t\.fill .*\n", "", text, flags=re.MULTILINE),
        "target": re.sub(r"amdgcn-amd-amdhsa--(?=gfx)|amdgpu[\d.]+-amd-amdhsa-unknown-(?=gfx)", "any-", text),
        "version": text.replace("code_object_version 5", "code_object_version 4"),
        "defaults": text.replace("\t\t.amdhsa_exception_fp_ieee_inexact 0\n", ""),
    }.items():
        assert form(other).lines == form(text).lines, how
        if how in ("line numbers", "paths"):  # 3.3 writes no padding, the softmax has no label
            assert form(other).erased != form(text).erased, how


@SAMPLES
def test_every_rule_has_something_to_do_or_leaves_all_as_it_is(compiled: Entry) -> None:
    whole = form(compiled.text)
    for rule in NORMALIZATIONS:
        less = form(compiled.text, without=rule.id)
        assert rule.id not in less.erased
        assert (less.lines != whole.lines) == (rule.id in whole.erased), rule.id


def test_every_rule_has_something_to_do_somewhere() -> None:
    used = {rule for compiled in SOME for rule in form(compiled.text).erased}
    # spacing is as LLVM writes it, everywhere
    assert used >= {rule.id for rule in NORMALIZATIONS} - {"spacing"}


def edits(compiled: Entry, chance: random.Random) -> Iterator[tuple[str, str]]:
    """(what was done, the text with one thing changed that matters)."""
    lines = compiled.text.splitlines()
    places = code_lines(compiled.text)

    def edited(index: int, line: str | None) -> str:
        return "\n".join([*lines[:index], *([] if line is None else [line]), *lines[index + 1 :], ""])

    for index in chance.sample(places, min(15, len(places))):
        line = lines[index].partition(";")[0].rstrip()
        yield f"without {line}", edited(index, None)
        yield f"twice {line}", edited(index, f"{line}\n{line}")
        for pattern, other in (
            (r"\b0x([0-9a-f]+)\b", lambda found: f"0x{int(found[1], 16) ^ 1:x}"),
            (r"offset:(\d+)", lambda found: f"offset:{int(found[1]) + 16}"),
            (r"cnt\((\d+)\)", lambda found: f"cnt({int(found[1]) + 1})"),
            (r"s_cbranch_scc0", lambda _: "s_cbranch_scc1"),
            (r"s_cbranch_execz", lambda _: "s_cbranch_execnz"),
            (r"_f32", lambda _: "_f16"),
            (r"v_add_", lambda _: "v_sub_"),
            (r"v_or_", lambda _: "v_xor_"),
            (r"dwordx4", lambda _: "dwordx2"),
            (r"b128", lambda _: "b64"),
            (r"(?<= )(v\d+), (v\d+)\Z", lambda found: f"{found[2]}, {found[1]}"),
            (r"(?<=, )v(\d+)\Z", lambda found: f"v{int(found[1]) + 1}"),
            (r"(?<=, )(v\d+)\Z", r"-\1"),
        ):
            changed = re.sub(pattern, other, line, count=1)
            if changed != line and not re.search(r" (v\d+), \1\Z", line):
                yield f"{line} -> {changed}", edited(index, changed)


@pytest.mark.parametrize("compiled", SMALL, ids=lambda each: each.id)
def test_one_edit_is_another_form(compiled: Entry) -> None:
    before = form(compiled.text).lines
    missed = []
    count = 0
    for what, text in edits(compiled, random.Random(7)):
        count += 1
        if form(text).lines == before:
            missed.append(what)
    assert count > 25
    assert not missed


def test_one_edit_of_an_opcode_moves_a_fact() -> None:
    compiled = SOME[1]
    before = summary(compiled.text).facts
    for what, text in edits(compiled, random.Random(11)):
        if "->" in what and what.split()[0] != what.partition("-> ")[2].split()[0]:
            assert summary(text).facts != before, what


def test_a_register_of_the_entry_is_no_name() -> None:
    """`s2` holds what the launch put there, and `s3` something else: the same code on the other one differs."""
    compiled = entry("3.6.0", "gfx942", "softmax")
    swapped = rewritten(
        compiled.text,
        lambda operands: re.sub(r"\bs([23])\b", lambda found: f"s{5 - int(found[1])}", operands),
    )
    if swapped != compiled.text:
        assert form(swapped).lines != form(compiled.text).lines
    assert any(line.startswith("entry s0 = ") for line in form(compiled.text).lines)


@pytest.mark.parametrize(
    "opcode", ["v_movrels_b32_e32 v1, v2", "s_swappc_b64 s[30:31], s[4:5]", "v_frobnicate v1, v2"]
)
def test_numbers_are_kept_where_they_mean_more(opcode: str) -> None:
    compiled = entry("3.6.0", "gfx942", "softmax")
    text = compiled.text.replace("\ts_endpgm", f"\t{opcode}\n\ts_endpgm")
    other = another_naming(text, random.Random(1))
    assert form(other).lines != form(text).lines


@SAMPLES
def test_names_of_canonical_lines_are_those_of_the_artifact_one_for_one(compiled: Entry) -> None:
    written = compiled.text.splitlines()
    canonical = form(compiled.text)
    for line, place in zip(canonical.lines, canonical.places, strict=True):
        if re.match(r"[a-z]+_", line):
            there = written[place - 1].partition(";")[0]
            assert len(re.findall(NAMES, line)) == len(re.findall(NAMES, there)), (line, there)
