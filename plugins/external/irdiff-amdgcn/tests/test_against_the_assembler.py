"""Facts equal what LLVM itself says: the metadata of the text, the note of the ELF, comments, and what loops it marks.

The oracles are read here by other means than the plugin's: expressions over the text, and pyelftools with MessagePack.
"""

from __future__ import annotations

import io
import re
from collections import Counter

import msgspec
import pytest
from elftools.elf.elffile import ELFFile

from amd_fixtures import RELEASES, TARGETS, Entry, artifact, context, corpus, summary, values
from irdiff_amdgcn import hsaco
from irdiff_amdgcn.control import control_flow
from irdiff_amdgcn.occupancy import GPUS, occupancy
from irdiff_amdgcn.reader import read

FACTS = {
    "registers": "vgpr_count",
    "agprs": "agpr_count",
    "sgprs": "sgpr_count",
    "vgpr_spills": "vgpr_spill_count",
    "sgpr_spills": "sgpr_spill_count",
    "private_segment": "private_segment_fixed_size",
    "static_lds": "group_segment_fixed_size",
    "kernarg_bytes": "kernarg_segment_size",
}


@pytest.fixture(scope="module", params=corpus(), ids=lambda each: each.id)
def compiled(request: pytest.FixtureRequest) -> Entry:
    """Every entry in turn: pytest runs all claims on one before it goes on to the next."""
    entry: Entry = request.param
    return entry


def test_every_release_and_target_is_there() -> None:
    kernels = Counter((each.release, each.target) for each in corpus() if not each.name.startswith("case-"))
    assert set(kernels) == {(release, target) for release in RELEASES for target in TARGETS}
    assert {count for (_, target), count in kernels.items() if target.startswith("gfx9")} == {5}
    assert {count for (_, target), count in kernels.items() if target.startswith("gfx1")} == {6}


def number(compiled: Entry, key: str) -> int | None:
    """A number of the text's metadata."""
    found = re.search(rf"^\s+(?:- )?\.{key}:\s+(\d+)$", compiled.text, re.MULTILINE)
    return int(found[1]) if found else None


def note(compiled: Entry) -> dict[str, object]:
    """The first kernel of the note, read by pyelftools."""
    elf = ELFFile(io.BytesIO(compiled.files[".hsaco"]))
    for section in elf.iter_sections("SHT_NOTE"):
        for each in section.iter_notes():
            if each["n_name"] == "AMDGPU":
                payload = each["n_descdata"]
                data = payload if isinstance(payload, bytes) else payload.encode("latin-1")
                return dict(msgspec.msgpack.decode(data)["amdhsa.kernels"][0])
    raise AssertionError("no note")


def test_resources_equal_the_metadata_of_the_text_and_of_the_code_object(compiled: Entry) -> None:
    of_text = values(summary(compiled.files[".amdgcn"]))
    of_object = {
        fact.id: fact.value
        for fact in hsaco.summarize(artifact(compiled.files[".hsaco"], ".hsaco"), context()).facts
    }
    said = note(compiled)
    for fact, key in FACTS.items():
        expected = number(compiled, key)
        assert of_text.get(f"amdgcn.{fact}") == expected, fact
        assert of_object.get(f"hsaco.{fact}") == said.get(f".{key}") == expected, fact
    assert of_text["amdgcn.target"] == of_object["hsaco.target"] == f"hip:{compiled.target}"
    assert of_text["amdgcn.launch"] == of_object["hsaco.launch"]
    assert of_text["amdgcn.parameters"] == of_object["hsaco.parameters"]
    arguments = said[".args"]
    assert isinstance(arguments, list)
    assert len(arguments) == len(of_object["hsaco.parameters"])


def test_code_bytes_equal_the_symbol_and_the_comment_is_near(compiled: Entry) -> None:
    said = re.search(r"^; codeLenInByte = (\d+)$", compiled.text, re.MULTILINE)
    assert said is not None
    assert values(summary(compiled.files[".amdgcn"]))["amdgcn.code_bytes"] == int(said[1])
    elf = ELFFile(io.BytesIO(compiled.files[".hsaco"]))
    table = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    sizes = [each["st_size"] for each in table.iter_symbols() if each["st_info"]["type"] == "STT_FUNC"]
    made = hsaco.summarize(artifact(compiled.files[".hsaco"], ".hsaco"), context())
    assert sum(sizes) == values(made)["hsaco.code_bytes"]
    assert abs(sum(sizes) - int(said[1])) <= 64


def test_the_instructions_that_spill_add_up_to_the_recorded_number(compiled: Entry) -> None:
    made = summary(compiled.files[".amdgcn"])
    spills = next(fact for fact in made.facts if fact.id == "amdgcn.vgpr_spills" and not fact.scope)
    assert spills.value == number(compiled, "vgpr_spill_count")
    assert spills.exactness is None
    lines = compiled.text.splitlines()
    sites = [lines[place - 1] for place in spills.evidence.get("", ()) if spills.value]
    marked = [line for line in sites if "Folded Spill" in line or "Reload Reuse" in line]
    assert all(line.split()[0].startswith(("scratch_store", "v_accvgpr_write", "s_clause")) for line in sites)
    assert len(marked) == len(sites) or (compiled.release in ("3.3.1", "3.6.0") and "gfx1" in compiled.target)


def test_the_model_of_occupancy_equals_the_compilers_comment(compiled: Entry) -> None:
    said = re.search(r"^; Occupancy: (\d+)$", compiled.text, re.MULTILINE)
    assert said is not None
    made = values(summary(compiled.files[".amdgcn"]))
    assert made["amdgcn.compiler_occupancy"] == int(said[1])
    found = occupancy(
        GPUS[compiled.target],
        waves=1,  # LLVM counts waves, and not whether whole workgroups fit
        registers=int(str(made["amdgcn.registers"])),
        scalars=int(str(made["amdgcn.sgprs"])),
        lds=0,
        pair=True,
    )
    assert found.waves == int(said[1])


def test_loops_are_those_that_llvm_marks(compiled: Entry) -> None:
    marked = [int(depth) for depth in re.findall(r"Loop Header: Depth=(\d+)", compiled.text)]
    scopes = summary(compiled.files[".amdgcn"]).scopes
    assert sorted(scope.id.count("/") + 1 for scope in scopes) == sorted(marked)


def test_everything_is_understood_and_counted_once(compiled: Entry) -> None:
    made = summary(compiled.files[".amdgcn"])
    assert made.coverage.ratio == 1.0, made.coverage.unknown
    assert not [issue for issue in made.issues if issue.severity != "note"]
    classes = values(made)["amdgcn.classes"]
    assert isinstance(classes, dict)
    assert "unclassified" not in classes
    body = compiled.text.partition("\t.section\t.rodata")[0]
    statements = [line for line in body.splitlines() if re.match(r"\t[a-z]", line)]
    assert sum(classes.values()) == len(statements)
    flow = control_flow(read(compiled.files[".amdgcn"]).items)
    assert sum(end - start for start, end in flow.blocks) == len(statements)
