"""Selectors, the default places, and the newest compilations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from irdiff.errors import InputError
from irdiff.sources import load
from irdiff.sources.defaults import candidate_locations, default_locations
from irdiff.sources.load import load_defaults
from irdiff.sources.recent import recent, two_newest
from sources.source_trees import BASE32, HEX, OTHER32, FakeContext, entry, record


def names(text):
    return [bundle.name for bundle in load(str(text), FakeContext(), {}).bundles]


@pytest.fixture
def tree(tmp_path):
    entry(tmp_path / BASE32, name="matmul_kernel", said=record("matmul_kernel"))
    entry(tmp_path / OTHER32, name="matmul_kernel_2", said=record("matmul_kernel_2", hash="ab" * 32))
    entry(tmp_path / HEX, name="softmax", said=record("softmax", hash="cd" * 32))
    return tmp_path


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("matmul_kernel", ["matmul_kernel"]),
        ("matmul*", ["matmul_kernel", "matmul_kernel_2"]),
        ("*max", ["softmax"]),
        ("s[aeiou]ftm?x", ["softmax"]),
        (BASE32[:6], ["matmul_kernel"]),
        (BASE32.lower()[:9], ["matmul_kernel"]),
        (OTHER32, ["matmul_kernel_2"]),
        ("abab", ["matmul_kernel_2"]),
        (HEX[:8], ["matmul_kernel", "softmax"]),
    ],
)
def test_a_selector_is_a_name_a_hash_or_a_glob(tree, wanted, found):
    assert names(f"{tree}::{wanted}") == found


def test_an_exact_name_wins_over_hashes_and_globs(tree):
    entry(tree / "plain", name=BASE32[:6], said=record(BASE32[:6], hash="ef" * 32))
    assert names(f"{tree}::{BASE32[:6]}") == [BASE32[:6]]


def test_a_hash_that_is_too_short_is_said_to_be_one(tree):
    with pytest.raises(InputError) as caught:
        names(f"{tree}::{BASE32[:3]}")
    assert "4 characters" in caught.value.hint


def test_fewer_than_four_characters_are_no_hash(tree):
    with pytest.raises(InputError):
        names(f"{tree}::{BASE32[:3]}")


def test_a_name_that_is_not_there_lists_the_nearest(tree):
    with pytest.raises(InputError) as raised:
        names(f"{tree}::matmul_kernl")
    assert "matmul_kernel" in raised.value.hint
    assert "softmax" not in raised.value.hint
    with pytest.raises(InputError) as raised:
        names(f"{tree}::zzzzzzzz")
    assert "matmul_kernel, matmul_kernel_2, softmax" in raised.value.hint


@pytest.mark.parametrize("text", ["::k", "x::", "::"])
def test_half_a_selector_is_an_input_error(text):
    with pytest.raises(InputError) as raised:
        names(text)
    assert "::" in raised.value.hint


def test_a_folder_with_two_colons_in_its_name_is_a_folder(tmp_path):
    entry(tmp_path / "a::b" / BASE32)
    assert names(tmp_path / "a::b") == ["k"]
    assert names(f"{tmp_path / 'a::b'}::k") == ["k"]


def test_the_input_is_described_as_the_user_named_it(tree):
    assert load(f"{tree}::softmax", FakeContext(), {}).described == f"{tree}::softmax"


# The default places -------------------------------------------------------------------------------------------------


@pytest.fixture
def environment(tmp_path):
    return {
        "TRITON_CACHE_DIR": str(tmp_path / "one"),
        "TRITON_HOME": str(tmp_path / "two"),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "three"),
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
        "USER": "DOM\\me",
    }


def test_the_default_places_are_looked_at_in_order(tmp_path, environment):
    assert [location.path for location in candidate_locations(environment)] == [
        str(tmp_path / part)
        for part in (
            "one",
            "two/.triton/cache",
            "three/triton",
            "home/.triton/cache",
            "tmp/torchinductor_DOM_me/triton",
        )
    ]


def test_only_what_is_there_counts_and_each_folder_once(tmp_path, environment):
    (tmp_path / "two" / ".triton" / "cache").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "two")
    (tmp_path / "three" / "triton").mkdir(parents=True)
    found = [location.path for location in default_locations(environment)]
    assert found == [str(tmp_path / "two/.triton/cache"), str(tmp_path / "three/triton")]


def test_no_cache_at_all_says_where_it_looked(environment):
    with pytest.raises(InputError) as raised:
        default_locations(environment)
    for location in candidate_locations(environment):
        assert location.path in str(raised.value)
    assert raised.value.hint


def test_the_caches_of_the_user_are_loaded_as_one(tmp_path, environment):
    entry(tmp_path / "one" / BASE32)
    entry(tmp_path / "three" / "triton" / "0" / OTHER32, name="i")
    (tmp_path / "home" / ".triton" / "cache").mkdir(parents=True)
    loaded = load_defaults(FakeContext(), environment)
    assert [bundle.name for bundle in loaded.bundles] == ["i", "k"]
    assert [issue.code for issue in loaded.issues] == ["empty-cache"]
    assert [bundle.name for bundle in load_defaults(FakeContext(), environment, "i").bundles] == ["i"]


def test_a_cache_within_another_is_not_loaded_twice(tmp_path, environment):
    entry(tmp_path / "three" / "triton" / "0" / OTHER32)
    environment["TRITON_CACHE_DIR"] = str(tmp_path / "three" / "triton" / "0")
    assert len(load_defaults(FakeContext(), environment).bundles) == 1


def test_caches_without_a_kernel_are_an_input_error(tmp_path, environment):
    (tmp_path / "one").mkdir()
    with pytest.raises(InputError) as raised:
        load_defaults(FakeContext(), environment)
    assert str(tmp_path / "one") in str(raised.value)


# The newest ---------------------------------------------------------------------------------------------------------


def aged(tree, ages):
    """Entries whose newest file has that age: (folder, kernel, time, arch)."""
    for folder, kernel, time, arch in ages:
        entry(tree / folder, name=kernel, said=record(kernel, target={"backend": "cuda", "arch": arch}))
        for index, file in enumerate(sorted((tree / folder).iterdir())):
            os.utime(file, (time, time if index == 0 else time - 100))
    return load(str(tree), FakeContext(), {}).bundles


def test_recent_lists_the_newest_first_by_the_newest_file_of_each(tmp_path):
    bundles = aged(tmp_path, [("a", "x", 1000, 90), ("b", "y", 3000, 90), ("c", "x", 2000, 90)])
    order = [(bundle.name, Path(bundle.path).name) for bundle in recent(bundles)]
    assert order == [("y", "b"), ("x", "c"), ("x", "a")]
    assert [bundle.name for bundle in recent(bundles, limit=1)] == ["y"]
    assert [bundle.name for bundle in recent(bundles, "x")] == ["x", "x"]


def test_the_two_newest_compilations_of_a_kernel_are_older_first_and_of_one_target(tmp_path):
    ages = [("a", "x", 1000, 90), ("b", "x", 2000, 80), ("c", "x", 3000, 90), ("d", "y", 4000, 90)]
    before, after = two_newest(aged(tmp_path, ages), "x")
    assert [Path(bundle.path).name for bundle in (before, after)] == ["a", "c"]


def test_another_target_is_better_than_nothing(tmp_path):
    before, after = two_newest(aged(tmp_path, [("a", "x", 1000, 90), ("b", "x", 2000, 80)]), "x")
    assert (str(before.target), str(after.target)) == ("cuda:90", "cuda:80")


def test_one_compilation_is_too_few_and_says_what_to_do(tmp_path):
    bundles = aged(tmp_path, [("a", "x", 1000, 90), ("b", "xy", 2000, 90)])
    with pytest.raises(InputError, match="only one") as raised:
        two_newest(bundles, "x")
    assert raised.value.hint
    with pytest.raises(InputError) as raised:
        two_newest(bundles, "xz")
    assert "xy" in raised.value.hint
