"""False alarms: artifacts spelled differently mean the same, at least 200 examples a stage."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from irdiff.api import Artifact, Canonical, Context, StageSpec
from irdiff.plugins import load_plugins
from irdiff.tools import LocalToolbox
from irdiff_sass.cubin import read_cubin
from irdiff_sass.decoded import Listing
from irdiff_sass.instructions import Instruction
from llir import llir_edits
from mlir import test_mlir_canonical as mlir_edits
from ptx import ptx_edits

Spelling = Callable[[str, random.Random], str]
REGISTRY = load_plugins(external=False)
TOOLS = LocalToolbox({tool.id: tool for tool in REGISTRY.tools}, os.environ)
KERNELS = ("vector_add_kernel", "softmax_kernel", "locked_sum_kernel", "histogram_kernel")
EXAMPLES = settings(max_examples=200, deadline=None)


def stage(name: str) -> StageSpec:
    (found,) = (each for each in REGISTRY.stages if each.id == name)
    return found


def canonical(name: str, data: bytes, suffix: str | None = None) -> Canonical:
    spec = stage(name)
    artifact = Artifact.of_bytes(data, stage=name, suffix=suffix or spec.suffixes[0])
    return spec.canonical(artifact, Context(tools=LocalToolbox({}, {})))


def samples(suffix: str) -> list[bytes]:
    """Small kernels of the fixtures, and a matmul."""
    folders = [corpus.entry("3.6.0", "sm_90", kernel) for kernel in KERNELS]
    folders.append(corpus.entry("3.6.0", "sm_80", "matmul_kernel"))
    return [path.read_bytes() for folder in folders for path in folder.glob(f"*{suffix}")]


def reordered_attributes(text: str, chance: random.Random) -> str:
    """The attributes of operations, arguments and the module in another order."""

    def shuffled(found: re.Match[str]) -> str:
        parts = found[1].split(", ")
        chance.shuffle(parts)
        return "{" + ", ".join(parts) + "}"

    return re.sub(r"(?<= )\{((?:\"?[\w.-]+\"? = [\w\". :]+(?:, )?)+)\}", shuffled, text)


def reordered_aliases(text: str, chance: random.Random) -> str:
    """The definitions of layouts that use no other in another order."""
    lines = text.split("\n")
    at = [
        number
        for number, line in enumerate(lines)
        if re.match(r"#(?!loc)\w+ = [^#]*#ttg?\.\w+<?[^#]*$", line)
    ]
    moved = [lines[number] for number in at]
    chance.shuffle(moved)
    for number, line in zip(at, moved, strict=True):
        lines[number] = line
    return "\n".join(lines)


def reordered_group(text: str, chance: random.Random) -> str:
    """The words of an attribute group of LLVM IR in another order."""

    def shuffled(found: re.Match[str]) -> str:
        words = re.findall(r"\w+\([^)]*\)|\S+", found[2])
        chance.shuffle(words)
        return f"{found[1]}{{ {' '.join(words)} }}"

    return re.sub(r"(?m)^(attributes #\d+ = )\{ (.*) \}$", shuffled, text)


def rendered(instructions: list[Instruction]) -> list[str]:
    """Decoded machine code as the text of a dump folder, its labels in place."""
    targets = sorted({each.target for each in instructions if each.target is not None})
    lines = ["Function:k"]
    for each in instructions:
        if each.address in targets:
            lines.append(f"LBB{targets.index(each.address)}:")
        operands = list(each.operands)
        if each.target is not None:
            head, space, _ = operands[-1].rpartition(" ")
            operands[-1] = f"{head}{space}LBB{targets.index(each.target)}"
        guard = f"{each.predicate} " if each.predicate else ""
        lines.append(f"--:-:-:-:{each.stall:x}\t{guard}{each.opcode} {', '.join(operands)};")
    return lines


def machine_code() -> list[str]:
    """The text of small kernels' machine code."""
    sass = stage("sass")
    artifacts = [Artifact.of_bytes(data, stage="sass", suffix=".cubin") for data in samples(".cubin")]
    assert sass.prepare is not None
    found: Mapping[str, object] = sass.prepare(artifacts, TOOLS)
    texts = []
    for artifact in artifacts:
        listing = found[artifact.sha256]
        assert isinstance(listing, Listing), listing
        texts.append("\n".join(rendered(list(listing.codes[0].instructions))) + "\n")
    return texts


def renamed_groups(text: str, chance: random.Random) -> str:
    """Aligned groups of eight registers exchanged: what one operand spans stays together."""
    groups = {kind: list(range(31 if kind == "R" else 7)) for kind in ("R", "UR")}
    for numbers in groups.values():
        chance.shuffle(numbers)

    def renamed(found: re.Match[str]) -> str:
        number = int(found[2])
        return f"{found[1]}{groups[found[1]][number // 8] * 8 + number % 8}"

    return re.sub(r"(?<![\w.])(R|UR)(\d+)(?!\w)", renamed, text)


def renamed_predicates(text: str, chance: random.Random) -> str:
    """Predicates exchanged, where no mask names them by number."""
    if re.search(r"\bU?PR\b", text):
        return text
    numbers = list(range(7))
    chance.shuffle(numbers)
    return re.sub(r"(?<![\w.])P(\d)(?!\w)", lambda found: f"P{numbers[int(found[1])]}", text)


def renamed_labels(text: str, chance: random.Random) -> str:
    """Other numbers of labels."""
    shift = chance.randrange(1, 500)
    return re.sub(r"\bLBB(\d+)", lambda found: f"LBB{int(found[1]) + shift}", text)


def padded(text: str, chance: random.Random) -> str:
    """More NOPs at the end."""
    return text + "--:-:-:-:0\tNOP;\n" * chance.randrange(1, 9)


def without_reuse(text: str, chance: random.Random) -> str:
    """Some operands are not kept for the next instruction."""
    return re.sub(r"\.reuse", lambda _: chance.choice(("", ".reuse")), text)


MLIR: tuple[Spelling, ...] = (*mlir_edits.SPELLINGS.values(), reordered_attributes, reordered_aliases)
SPELLINGS: dict[str, tuple[Spelling, ...]] = {
    "source": MLIR,
    "ttir": MLIR,
    "ttgir": MLIR,
    "llir": (*llir_edits.HARMLESS, reordered_group),
    "ptx": ptx_edits.HARMLESS,
    "sass": (renamed_groups, renamed_predicates, renamed_labels, padded, without_reuse),
}
TEXTS = {name: [data.decode() for data in samples(f".{name}")] for name in SPELLINGS if name != "sass"}
TEXTS["sass"] = machine_code()
SUFFIX = {"sass": ".sass"}
FORMS = {
    (name, text): canonical(name, text.encode(), SUFFIX.get(name)).lines
    for name, texts in TEXTS.items()
    for text in texts
}


@pytest.mark.parametrize("name", sorted(SPELLINGS))
def test_an_artifact_spelled_differently_is_the_same(name: str) -> None:
    @EXAMPLES
    @given(
        st.integers(0, len(TEXTS[name]) - 1),
        st.lists(st.sampled_from(SPELLINGS[name]), min_size=1, max_size=4, unique=True),
        st.integers(0, 2**32),
    )
    def holds(sample: int, spellings: list[Spelling], seed: int) -> None:
        chance = random.Random(seed)
        spelled = text = TEXTS[name][sample]
        for spelling in spellings:
            spelled = spelling(spelled, chance)
        assert canonical(name, spelled.encode(), SUFFIX.get(name)).lines == FORMS[name, text]

    holds()


@pytest.mark.parametrize("name", sorted(SPELLINGS))
def test_every_spelling_changes_the_text_somewhere(name: str) -> None:
    for spelling in SPELLINGS[name]:
        assert any(
            spelling(text, random.Random(seed)) != text for text in TEXTS[name] for seed in range(3)
        ) or (
            spelling in (reordered_aliases, mlir_edits.SPELLINGS["attribute-aliases"]) and name != "ttgir"
        ), spelling


@EXAMPLES
@given(st.sampled_from(samples(".cubin")), st.randoms(use_true_random=False))
def test_debug_sections_of_a_cubin_mean_nothing(data: bytes, chance: random.Random) -> None:
    edited = bytearray(data)
    for section in read_cubin(data).elf.sections:
        if section.name.startswith((".debug", ".nv_debug")) and section.size:
            for _ in range(5):
                edited[section.offset + chance.randrange(section.size)] = chance.randrange(256)
    assert canonical("sass", bytes(edited)).lines == canonical("sass", data).lines
