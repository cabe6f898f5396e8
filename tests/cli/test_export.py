"""``irdiff facts PATH -o FILE``: the same table in three formats, and nothing of it lost."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import corpus
from command import irdiff, irdiff_json
from irdiff.cli import export
from irdiff.cli.exit_codes import Exit
from irdiff.cli.work import Work
from irdiff.errors import UsageError
from irdiff.model.table import COLUMNS, UNKNOWABLE
from irdiff.plugins import load_plugins

TREE = corpus.PAIRS / "mma_fallback"
NUMBERS = ("value_number", "evidence")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tables")
    for form in export.FORMATS:
        done = irdiff("facts", TREE, "-o", folder / f"facts.{form}")
        assert (done.code, done.out) == (Exit.OK, ""), done.err
    return {form: folder / f"facts.{form}" for form in export.FORMATS}


def from_csv(path: Path) -> list[dict[str, Any]]:
    def typed(name: str, text: str) -> Any:
        if name in NUMBERS:
            return float(text) if text else None
        return None if not text and name in UNKNOWABLE else text

    with path.open(newline="") as file:
        return [{name: typed(name, text) for name, text in row.items()} for row in csv.DictReader(file)]


def from_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_all_formats_hold_the_same_rows(tables: dict[str, Path]) -> None:
    found = from_jsonl(tables["jsonl"])
    assert len(found) > 200
    assert list(found[0]) == list(COLUMNS)
    assert from_csv(tables["csv"]) == found
    assert pyarrow.parquet.read_table(tables["parquet"]).to_pylist() == found


def test_every_fact_that_show_knows_is_a_row_with_its_value_in_full(tables: dict[str, Path]) -> None:
    shown = irdiff_json("show", TREE)
    expected = {
        (kernel["path"], scope, fact): value
        for kernel in shown["kernels"]
        for scope, facts in (("", kernel["facts"]), *kernel["scopes"].items())
        for fact, value in facts.items()
    }
    found = from_jsonl(tables["jsonl"])
    assert {
        (row["path"], row["scope"], row["fact"]): json.loads(row["value_json"]) for row in found
    } == expected
    assert len(found) == len(expected)


def test_numbers_and_texts_are_those_of_the_values(tables: dict[str, Path]) -> None:
    specs = load_plugins(external=False).facts
    kinds = set()
    for row in from_jsonl(tables["jsonl"]):
        value, spec = json.loads(row["value_json"]), specs[row["fact"]]
        kinds.add(row["kind"])
        number = (
            sum(value.values())
            if row["kind"] == "tally"
            else value
            if isinstance(value, (int, float))
            else None
        )
        assert row["value_number"] == number
        text = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else None
        assert row["value_text"] == text
        assert (row["kind"], row["unit"] or "", row["better"], row["role"]) == (
            spec.kind, spec.unit, spec.better, spec.role,
        )  # fmt: skip
    assert {"count", "quantity", "token", "tally", "record", "sequence"} <= kinds


def test_rows_of_loops_name_their_scope_and_estimates_say_so(tables: dict[str, Path]) -> None:
    found = from_jsonl(tables["jsonl"])
    assert {"", "loop0"} <= {row["scope"] for row in found}
    assert {row["exactness"] for row in found} <= {"exact", "estimate"}
    assert {row["entry"] for row in found} == {Path(row["path"]).name for row in found}


def test_the_table_is_the_same_in_parts_and_has_a_row_group_for_each(
    tables: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PART", 1)
    for form in export.FORMATS:
        written = tmp_path / f"facts.{form}"
        work = Work(jobs=1, store=False)
        code = export.run_export(
            str(TREE), form="terminal", output=written, wanted=frozenset(), work=work, external=False
        )
        assert code == Exit.OK
        if form == "parquet":
            assert pyarrow.parquet.ParquetFile(written).num_row_groups == 2
            assert pyarrow.parquet.read_table(written).equals(pyarrow.parquet.read_table(tables[form]))
        else:
            assert written.read_bytes() == tables[form].read_bytes()


def test_standard_output_takes_csv_and_json_lines(tables: dict[str, Path]) -> None:
    for form in ("csv", "jsonl"):
        done = irdiff("facts", TREE, "-f", form)
        assert done.code == Exit.OK
        assert done.out == tables[form].read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((str(TREE),), ".parquet, .csv, .jsonl"),
        ((str(TREE), "-o", "facts.xlsx"), "xlsx"),
        ((str(TREE), "-f", "parquet"), "files only"),
        ((str(TREE), "-f", "html"), "no file is named"),
    ],
)
def test_a_format_that_is_none_is_refused_with_those_there_are(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = irdiff("facts", *arguments, cwd=tmp_path)
    assert done.code == Exit.USAGE
    assert said in done.err
    assert not list(tmp_path.iterdir())


def test_without_pyarrow_parquet_says_what_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    work = Work(jobs=1, store=False)
    with pytest.raises(UsageError, match=r"irdiff\[parquet\]"):
        export.run_export(
            str(TREE),
            form="terminal",
            output=tmp_path / "facts.parquet",
            wanted=frozenset(),
            work=work,
            external=False,
        )
    assert not list(tmp_path.iterdir())


def test_a_kernel_that_is_not_read_whole_is_exported_and_told(tmp_path: Path) -> None:
    source = next((TREE / "before").rglob("*.ptx")).parent
    entry = tmp_path / "tree" / source.name
    entry.mkdir(parents=True)
    for file in source.iterdir():
        (entry / file.name).write_bytes(b"" if file.suffix == ".ptx" else file.read_bytes())
    done = irdiff("facts", tmp_path / "tree", "-o", tmp_path / "facts.csv")
    assert done.code == Exit.UNSURE
    assert "1 of 1 kernels" in done.err
    stages = {row["stage"] for row in from_csv(tmp_path / "facts.csv")}
    assert "sass" in stages
    assert "ptx" not in stages


def test_a_table_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    done = irdiff("facts", TREE, "-o", tmp_path / "nowhere" / "facts.csv")
    assert done.code == Exit.UNSURE
    assert "cannot be written" in done.err
    assert not list(tmp_path.iterdir())


def test_a_name_of_a_fact_is_still_described(tmp_path: Path) -> None:
    assert "lower is better" in irdiff("facts", "sass.registers", cwd=tmp_path).out
