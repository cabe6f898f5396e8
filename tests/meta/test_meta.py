"""The stage ``meta`` on the JSON of four Triton releases, and on what is no such JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from irdiff.api import Artifact, Canonical, Context, EntryInfo, ParseError, Summary
from irdiff.testing import DeterminismContract, NoTools, StageContract, TruncationContract
from irdiff_meta.defaults import COMPUTED, DEFAULTS
from irdiff_meta.keys import IDENTITY, PROVENANCE
from irdiff_meta.plugin import irdiff_stages
from irdiff_meta.reading import read

(META,) = irdiff_stages()
RELEASES = ("3.1.0", "3.3.1", "3.6.0", "3.9.0")
TARGETS = ("sm_80", "sm_90", "gfx942")


def metadata_files(root: Path) -> list[Path]:
    """The stage JSONs below a folder."""
    found = sorted(root.rglob("*.json"))
    return [path for path in found if not path.name.startswith("__grp__") and path.name != "manifest.json"]


def fixture(release: str, target: str, kernel: str = "matmul_kernel", case: str | None = "w4s2") -> bytes:
    return (corpus.entry(release, target, kernel, case) / f"{kernel}.json").read_bytes()


def summary_of(data: bytes) -> Summary:
    return META.summarize(Artifact.of_bytes(data), Context(tools=NoTools()))


def facts_of(data: bytes) -> dict[str, object]:
    return {fact.id: fact.value for fact in summary_of(data).facts}


def canonical_of(data: bytes, *switched_off: str) -> Canonical:
    context = Context(tools=NoTools(), switched_off=frozenset(switched_off))
    return META.canonical(Artifact.of_bytes(data), context)


def with_fields(data: bytes, **fields: object) -> bytes:
    return json.dumps({**json.loads(data), **fields}).encode()


def without_fields(data: bytes, *keys: str) -> bytes:
    return json.dumps({key: value for key, value in json.loads(data).items() if key not in keys}).encode()


MATMUL = fixture("3.6.0", "sm_90")
TRITON_2_1 = json.dumps(
    {
        "num_warps": 4,
        "num_stages": 3,
        "constants": {"3": 1, "10": 64, "9": None},
        "debug": False,
        "arch": 80,
        "shared": 512,
        "name": "k_0d1d",
        "device_type": "cuda",
    }
).encode()
"""As ``compile()`` of Triton 2.1 writes it (triton/compiler/compiler.py)."""
TRITON_2_2 = json.dumps(
    {
        "num_warps": 4,
        "num_ctas": 1,
        "num_stages": 3,
        "enable_warp_specialization": False,
        "enable_persistent": False,
        "constants": {},
        "debug": False,
        "target": {"capability": 90, "num_warps": 4, "enable_fp_fusion": True},
        "DISABLE_PTXAS_OPT": "true",
        "device_type": "cuda",
        "shared": 0,
        "name": "k",
        "clusterDims": [1, 1, 1],
    }
).encode()
"""As ``compile()`` of Triton 2.2 writes it."""


class TestMetaContract(StageContract, TruncationContract, DeterminismContract):
    stage = META
    plugin = "irdiff_meta.plugin"
    samples = (
        *(fixture(release, target) for release in RELEASES for target in TARGETS),
        TRITON_2_1,
        TRITON_2_2,
    )


def test_the_reference_matmul_reads_as_published() -> None:
    facts = facts_of(fixture("3.6.0", "sm_121"))
    assert facts["meta.target"] == "cuda:121"
    assert facts["meta.num_warps"] == 4
    assert facts["meta.num_ctas"] == 1
    assert facts["meta.num_stages"] == 2
    assert facts["meta.shared"] == 8192
    assert facts["meta.tmem"] == 0
    assert facts["meta.scratch"] == 0
    assert facts["meta.environment"] == {}
    assert facts["meta.triton"] == "3.6.0"
    assert "meta.specialization" not in facts


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_release_gives_the_same_figures(release: str, target: str) -> None:
    data = fixture(release, target)
    written = json.loads(data)
    facts = facts_of(data)
    summary = summary_of(data)
    assert summary.coverage.ratio == 1
    assert summary.issues == ()
    assert facts["meta.shared"] == written["shared"]
    assert facts["meta.num_warps"] == written["num_warps"]
    assert facts.get("meta.triton") == written.get("triton_version")
    assert facts["meta.target"] == f"{written['target']['backend']}:{written['target']['arch']}"


@pytest.mark.parametrize("path", metadata_files(corpus.BUNDLES), ids=lambda path: path.stem)
def test_every_option_is_in_the_record_and_no_result_is(path: Path) -> None:
    written = json.loads(path.read_bytes())
    options = facts_of(path.read_bytes())["meta.options"]
    assert isinstance(options, dict)
    expected = {key: value for key, value in written.items() if key not in IDENTITY | PROVENANCE}
    for result in ("shared", "tmem_size", "tensordesc_meta"):
        expected.pop(result, None)
    expected = {key: value for key, value in expected.items() if "_scratch_" not in key}
    assert options.keys() == expected.keys()
    for key, value in expected.items():
        if key == "extern_libs":
            assert "/" not in str(options[key])
        elif isinstance(value, (list, dict)):
            assert json.loads(str(options[key])) == value
        else:
            assert options[key] == value
            assert type(options[key]) is type(value)


def test_the_evidence_is_the_byte_where_the_key_stands() -> None:
    for fact in summary_of(MATMUL).facts:
        for place in fact.evidence.get("", ()):
            assert MATMUL[place : place + 1] == b'"'
    (shared,) = [fact for fact in summary_of(MATMUL).facts if fact.id == "meta.shared"]
    assert MATMUL[shared.evidence[""][0] :].startswith(b'"shared"')


def test_evidence_counts_bytes_where_names_are_not_ascii() -> None:
    data = json.dumps({"name": "größe", "shared": 1}, ensure_ascii=False).encode()
    (fact,) = [fact for fact in summary_of(data).facts if fact.id == "meta.shared"]
    assert data[fact.evidence[""][0] :].startswith(b'"shared"')


def test_canonical_places_are_the_keys() -> None:
    form = canonical_of(MATMUL)
    for line, place in zip(form.lines, form.places, strict=True):
        assert MATMUL[place:].startswith(b'"' + line.split(" =")[0].encode() + b'"')


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_the_same_options_in_four_releases_are_the_same(target: str) -> None:
    assert len({canonical_of(fixture(release, target)).lines for release in RELEASES}) == 1


def test_the_table_of_defaults_covers_every_key_that_is_not_in_every_release() -> None:
    for backend in ("cuda", "hip"):
        seen: dict[str, set[str]] = {}
        for path in metadata_files(corpus.BUNDLES):
            written = json.loads(path.read_bytes())
            if written["target"]["backend"] == backend:
                seen.setdefault(path.parents[2].name, set()).update(written)
        assert len(seen) == len(RELEASES)
        everywhere = set.intersection(*seen.values())
        come_and_go = set.union(*seen.values()) - everywhere - PROVENANCE
        assert come_and_go <= DEFAULTS.keys() | COMPUTED.keys()
        assert {"num_warps", "shared", "enable_fp_fusion", "extern_libs"} <= everywhere


NOT_DEFAULT = {
    "arch": "sm80",
    "clc": True,
    "cluster_dims": [2, 1, 1],
    "enable_reflect_ftz": False,
    "global_scratch_size": 384,
    "instrumentation_mode": "gsan",
    "launch_pdl": True,
    "maxnreg": 128,
    "ptx_options": "--maxrregcount=64",
    "sanitize_overflow": False,
    "sched4reg": True,
    "schedule_hint": "attention",
    "tmem_size": 64,
    "warp_size": 64,
    "num_warps": 16,
    "shared": 1,
    "debug": True,
    "an_option_of_a_later_release": False,
}


@pytest.mark.parametrize("key", NOT_DEFAULT)
def test_a_value_that_is_not_the_default_is_a_difference_that_a_fact_shows(key: str) -> None:
    changed = with_fields(MATMUL, **{key: NOT_DEFAULT[key]})
    assert canonical_of(changed).lines != canonical_of(MATMUL).lines
    assert facts_of(changed) != facts_of(MATMUL)


ERASED = {
    "dump-variables": {"MLIR_ENABLE_DUMP": "true"},
    "hash": {"hash": "0"},
    "kernel-name": {"name": "matmul_kernel_2"},
    "library-paths": {"extern_libs": [["libdevice", "/elsewhere/libdevice.10.bc"]]},
    "release-defaults": {"an_option": None, "sched4reg": False},
    "tool-versions": {"triton_version": "3.6.1"},
}


@pytest.mark.parametrize("rule", ERASED)
def test_a_normalisation_says_what_it_took_away(rule: str) -> None:
    fields = {key: value for key, value in ERASED[rule].items() if key != "an_option"}
    changed = with_fields(MATMUL, **fields)
    before, after = canonical_of(MATMUL), canonical_of(changed)
    assert before.lines == after.lines
    assert {name for name in after.erased if before.erased.get(name) != after.erased[name]} == {rule}
    off = canonical_of(changed, rule)
    assert rule not in off.erased
    assert off.lines != canonical_of(MATMUL, rule).lines


def test_the_order_of_keys_is_a_normalisation() -> None:
    turned = json.dumps(dict(reversed(json.loads(MATMUL).items()))).encode()
    before, after = canonical_of(MATMUL), canonical_of(turned)
    assert before.lines == after.lines
    assert before.erased["key-order"] != after.erased["key-order"]
    assert canonical_of(MATMUL, "key-order").lines != canonical_of(turned, "key-order").lines


def test_other_libraries_are_a_difference() -> None:
    changed = with_fields(MATMUL, extern_libs=[["libdevice", "/elsewhere/mine.bc"]])
    assert canonical_of(changed).lines != canonical_of(MATMUL).lines


def test_environment_variables_are_a_record_of_their_own() -> None:
    changed = with_fields(MATMUL, DISABLE_PTXAS_OPT="true")
    assert facts_of(changed)["meta.environment"] == {"DISABLE_PTXAS_OPT": "true"}
    assert facts_of(changed)["meta.options"] == facts_of(MATMUL)["meta.options"]
    assert canonical_of(changed).lines != canonical_of(MATMUL).lines


def test_triton_2_records_constants_and_the_target_elsewhere() -> None:
    facts = facts_of(TRITON_2_1)
    assert facts["meta.target"] == "cuda:80"
    assert facts["meta.specialization"] == {"argument 3": 1, "argument 9": None, "argument 10": 64}
    assert "meta.environment" not in facts  # 2.1 does not record it
    assert "meta.target" not in facts_of(b'{"num_warps": 4, "arch": "sm90"}')  # what compiled it is not said
    newer = facts_of(TRITON_2_2)
    assert newer["meta.target"] == "cuda:90"
    assert newer["meta.environment"] == {"DISABLE_PTXAS_OPT": "true"}


def test_tensor_descriptors_are_listed() -> None:
    data = fixture("3.9.0", "sm_90", "tma_matmul_kernel", None)
    descriptors = facts_of(data)["meta.descriptors"]
    assert isinstance(descriptors, tuple)
    assert len(descriptors) == 3
    assert descriptors[0] == "block_size [64,64], elem_size 2, elem_type 6, fp4_padded False, swizzle 3"


def test_unknown_keys_are_options_and_lower_the_coverage() -> None:
    summary = summary_of(with_fields(MATMUL, turbo=[1, 2]))
    options = next(fact.value for fact in summary.facts if fact.id == "meta.options")
    assert isinstance(options, dict)
    assert options["turbo"] == "[1,2]"
    assert summary.coverage.total - summary.coverage.understood == 1
    assert [text for _, text in summary.coverage.unknown] == ["turbo: [1,2]"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("num_warps", "4"),
        ("num_warps", True),
        ("shared", -1),
        ("shared", 1.5),
        ("target", None),
        ("target", []),
        ("name", 1),
    ],
)
def test_a_field_of_the_wrong_type_is_an_issue_and_no_fact(key: str, value: object) -> None:
    summary = summary_of(with_fields(MATMUL, **{key: value}))
    assert [issue.code for issue in summary.issues] == ["bad-field"]
    assert f"meta.{key}" not in {fact.id for fact in summary.facts}
    assert summary.coverage.ratio < 1


def test_a_repeated_key_is_said_and_the_last_one_counts() -> None:
    summary = summary_of(b'{"num_warps": 4, "num_warps": 8}')
    assert [issue.code for issue in summary.issues] == ["repeated-key"]
    assert [fact.value for fact in summary.facts if fact.id == "meta.num_warps"] == [8]


NOT_METADATA = {
    "nothing": b"",
    "spaces": b"  \n",
    "list": b"[1, 2]",
    "text": b'"x"',
    "number": b"1",
    "no JSON": b"not json",
    "cut": MATMUL[:200],
    "something behind it": MATMUL + b"x",
    "two objects": MATMUL + MATMUL,
    "not UTF-8": b'{"name": "\xff"}',
    "UTF-16": MATMUL.decode().encode("utf-16"),
    "deep lists": b'{"num_warps": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"num_warps": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
    "huge integer": b'{"num_warps": ' + b"9" * 100_000 + b"}",
    "integer over 64 bits": b'{"num_warps": 9223372036854775808}',
    "negative integer over 64 bits": b'{"num_warps": -9223372036854775809}',
    "huge float": b'{"num_warps": 1e999}',
    "long float": b'{"num_warps": 0.' + b"1" * 100_000 + b"}",
    "NaN": b'{"num_warps": NaN}',
    "Infinity": b'{"num_warps": -Infinity}',
    "half a surrogate": b'{"name": "\\ud800"}',
    "half a surrogate as a key": b'{"num_warps": 1, "\\udfff": 1}',
    "half a surrogate inside": b'{"num_warps": 1, "x": [{"\\ud800": 1}]}',
    "raw control character": b'{"name": "\x00"}',
    "foreign object": b'{"version": 3}',
    "empty object": b"{}",
    "comma at the end": b'{"num_warps": 4,}',
    "no colon": b'{"num_warps" 4}',
    "key that is no text": b"{4: 4}",
}


@pytest.mark.parametrize("what", NOT_METADATA)
def test_what_is_no_metadata_is_a_parse_error(what: str) -> None:
    for call in (META.summarize, META.canonical):
        with pytest.raises(ParseError) as caught:
            call(Artifact.of_bytes(NOT_METADATA[what]), Context(tools=NoTools()))
        assert "\n" not in caught.value.message


def test_the_largest_numbers_that_fit_are_read() -> None:
    for number in (2**63 - 1, -(2**63)):
        assert read(json.dumps({"num_warps": number}).encode()).value("num_warps") == number


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=8), st.sampled_from([None, 1, 2]))
def test_every_object_reads_as_the_standard_library_reads_it(
    fields: dict[str, object], indent: int | None
) -> None:
    fields = {**fields, "num_warps": 4}
    for ascii_only in (True, False):
        text = json.dumps(fields, ensure_ascii=ascii_only, indent=indent)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            continue
        try:
            got = read(data)
        except ParseError:
            with pytest.raises(UnicodeEncodeError):
                json.dumps(fields, ensure_ascii=False).encode()
            continue
        assert {key: field.value for key, field in got.fields.items()} == fields
        for field in got.fields.values():
            assert json.loads(field.text) == fields[field.key]
            assert data[field.offset : field.offset + 1] == b'"'


@pytest.mark.parametrize(
    ("layout", "wanted"),
    [("cache", True), ("binary-only", True), ("dump", False), ("failed", False), ("file", False)],
)
def test_the_json_is_expected_where_triton_writes_one(layout: str, wanted: bool) -> None:
    entry = EntryInfo(layout=layout, backend="cuda", release=(3, 6), suffixes=frozenset())
    assert META.expected(entry) is wanted


def test_all_141_recorded_kernels_are_read_in_full(h200: Path) -> None:
    paths = metadata_files(h200)
    assert len(paths) == 141
    for path in paths:
        summary = summary_of(path.read_bytes())
        assert summary.coverage.ratio == 1, path
        assert summary.issues == (), path
