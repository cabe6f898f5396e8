"""Tables of times: the columns that profilers write, added up by kernel, and errors that name the line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from command import irdiff
from irdiff.errors import InputError
from irdiff.sources.times import read_times


@pytest.mark.parametrize(
    "text",
    [
        "a,3\nb,1\n",
        "kernel,time\na,3\nb,1\n",
        "\ufeffName,Instances,Time (ms)\r\na,7,3\r\nb,7,1\r\n",
        'Time (%),Total Time (ns),Instances,Avg (ns),Name\n75.0,"3,000",2,1500,a\n\n25.0,1000,1,1000,b\n',
        "Start (ns),Duration (ns),Name\n1,1,a\n2,1,b\n3,2,a\n",
        "Name,Self CPU,Self CUDA,CUDA total\na,9us,3.000ms,9ms\nb,9us,1000.000us,9ms\n",
        '"key",self_device_time_total\n"a",3\n"b",1\n',
    ],
)
def test_each_exporters_columns_are_found(text: str) -> None:
    times = read_times(text.encode(), "times.csv")
    assert set(times) == {"a", "b"}
    assert times["a"] == pytest.approx(3 * times["b"])


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("a,1\nb,x\n", "times.csv:2", "no time: 'x'"),
        ("kernel,time\n\na,1\nb\n", "times.csv:4", "1 columns"),
        ("a,b,c\n1,2,3\n", "times.csv:1", "no column of kernels"),
        ("a,1\nb,-1\n", "times.csv:2", "no time"),
        ("a,1\nb,nan\n", "times.csv:2", "no time"),
        ("a,1\n,2\n", "times.csv:2", "no kernel name"),
        ('a,1\n"' + "x" * 200_000 + '",1\n', "times.csv:", "not CSV"),
        ("", "times.csv", "no kernel with a time"),
        ("a,0\n", "times.csv", "no kernel with a time"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, where: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_times(text.encode(), "times.csv")
    assert (caught.value.where or "").startswith(where)


def test_bytes_that_are_no_text_are_named_with_their_line() -> None:
    with pytest.raises(InputError, match="not UTF-8") as caught:
        read_times(b"a,1\nb,\xff\n", "times.csv")
    assert caught.value.where == "times.csv:2"


@given(st.binary(max_size=200) | st.text(alphabet='a1,.\n"-eE \t\0sµ', max_size=80).map(str.encode))
def test_no_file_makes_it_fail_otherwise(data: bytes) -> None:
    try:
        times = read_times(data, "times.csv")
    except InputError:
        return
    assert sum(times.values()) > 0


def test_the_command_ranks_by_the_table_and_names_a_bad_line(tmp_path: Path) -> None:
    pair = [str(corpus.BUNDLES / f"triton-{release}" / "sm_100") for release in ("3.6.0", "3.9.0")]
    table = tmp_path / "times.csv"
    table.write_text("kernel,time\ntma_matmul_kernel,90\nmatmul_kernel,10\n")
    shown = irdiff("compare", *pair, "--weights", str(table), "--top", "1")
    titles = [line for line in shown.out.splitlines() if "of the time" in line or "time unknown" in line]
    assert "tma_matmul_kernel" in titles[0]
    assert "90 % of the time" in titles[0]
    assert "no time of layer_norm_bwd_kernel" in " ".join(shown.out.split())
    table.write_text("kernel,time\ntma_matmul_kernel,ninety\n")
    failed = irdiff("compare", *pair, "--weights", str(table))
    assert failed.code != 0
    assert "times.csv:2" in failed.err
    assert "Traceback" not in failed.err
