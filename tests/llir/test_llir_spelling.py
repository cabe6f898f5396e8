"""LLVM releases spell some things in other words; each fold is certain, and nothing else is folded."""

from __future__ import annotations

import pytest

from irdiff_llir.spelling import by_stride, without_implied
from llir.llir_samples import canonical_of, kernel


def address(text: str) -> str:
    return kernel(f"  %4 = getelementptr {text}\n  store float %2, ptr addrspace(1) %4")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("float, ptr addrspace(1) %0, i32 %1", "[4 x i8], ptr addrspace(1) %0, i32 %1"),
        ("bfloat, ptr addrspace(1) %0, i32 %1", "[2 x i8], ptr addrspace(1) %0, i32 %1"),
        (
            "inbounds nuw double, ptr addrspace(1) %0, i32 %1",
            "inbounds nuw [8 x i8], ptr addrspace(1) %0, i32 %1",
        ),
        ("i1, ptr addrspace(1) %0, i32 %1", "i8, ptr addrspace(1) %0, i32 %1"),
        ("float, ptr addrspace(1) %0, i64 4", "i8, ptr addrspace(1) %0, i64 16"),
        ("half, ptr addrspace(1) %0, i64 -3", "i8, ptr addrspace(1) %0, i64 -6"),
    ],
)
def test_addresses_of_one_stride_have_one_form(older: str, newer: str) -> None:
    one, other = canonical_of(address(older)), canonical_of(address(newer))
    assert one.lines == other.lines
    assert one.erased.get("dialect-spelling") != other.erased.get("dialect-spelling")
    assert canonical_of(address(older), "dialect-spelling").lines != one.lines


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("float, ptr addrspace(1) %0, i32 %1", "double, ptr addrspace(1) %0, i32 %1"),
        ("float, ptr addrspace(1) %0, i32 %1", "inbounds float, ptr addrspace(1) %0, i32 %1"),
        ("float, ptr addrspace(1) %0, i64 4", "float, ptr addrspace(1) %0, i64 8"),
        ("float, ptr addrspace(1) %0, i64 4", "float, ptr addrspace(1) %0, i32 4"),
        ("[4 x i8], ptr addrspace(1) %0, i32 %1", "[4 x i16], ptr addrspace(1) %0, i32 %1"),
        ("<2 x float>, ptr addrspace(1) %0, i32 %1", "<2 x double>, ptr addrspace(1) %0, i32 %1"),
        (
            "[8 x float], ptr addrspace(1) %0, i32 0, i32 %1",
            "[8 x float], ptr addrspace(1) %0, i32 1, i32 %1",
        ),
    ],
)
def test_other_addresses_have_another_form(one: str, other: str) -> None:
    assert canonical_of(address(one)).lines != canonical_of(address(other)).lines


def test_what_is_no_address_of_one_index_stays_as_it_is() -> None:
    for text in (
        "%4 = getelementptr [8 x i64], ptr %0, i64 0, i64 %1",
        "%4 = getelementptr %struct.a, ptr %0, i64 %1",
        "%4 = getelementptr <2 x float>, ptr %0, i64 %1",
        "%4 = load float, ptr getelementptr (i8, ptr @a, i64 4)",
        '%4 = call i32 asm "getelementptr float, ptr %0, i64 4", "=r"()',
    ):
        assert by_stride(text) == (text, [])


def test_nofree_goes_only_where_it_is_implied() -> None:
    assert without_implied("define void @k(ptr nofree readnone captures(none) %0)") == (
        "define void @k(ptr readnone captures(none) %0)"
    )
    assert without_implied("define void @k(ptr nofree captures(none) readonly %0)") == (
        "define void @k(ptr captures(none) readonly %0)"
    )
    for text in ("define void @k(ptr nofree %0, ptr readonly %1)", "define void @k(ptr nofree writeonly %0)"):
        assert without_implied(text) == text
