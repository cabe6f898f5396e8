"""tritonparse logs: compilations with their texts, however the log was written and whatever became of it."""

from __future__ import annotations

import gzip
import json

import pytest

from irdiff.errors import InputError
from irdiff.sources import load, logs
from sources.source_trees import FakeContext, codes, entry, record


def event(name="k", suffixes=("ttir", "ttgir", "llir", "ptx"), **payload):
    content = {f"{name}.{suffix}": f"{suffix} of {name}" for suffix in suffixes}
    paths = {f"{name}.{suffix}": f"/tmp/x/{name}.{suffix}" for suffix in (*suffixes, "cubin", "json")}
    said = {**record(name), "env": {"A": "1"}}
    return {
        "event_type": "compilation",
        "pid": 1,
        "timestamp": "2026-01-01T00:00:00Z",
        "payload": {"metadata": said, "file_path": paths, "file_content": content, **payload},
    }


def write(path, *events, compress=False):
    lines = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in events]
    path.write_bytes(b"".join(gzip.compress(line) for line in lines) if compress else b"".join(lines))
    return path


def read(path):
    return load(str(path), FakeContext(), {})


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("name", ["a.ndjson", "a.ndjson.gz", "a.bin.ndjson"])
def test_each_compilation_is_a_bundle_of_layout_log(tmp_path, name, compress):
    launch = {"event_type": "launch", "compilation_metadata": {}}
    loaded = read(write(tmp_path / name, event("b"), launch, event("a"), compress=compress))
    first, second = loaded.bundles
    assert (first.name, first.layout, str(first.target), first.release) == ("a", "log", "cuda:90", "3.6.0")
    assert first.path == f"{tmp_path / name}:3"
    assert set(first.artifacts) == {"meta", "ttir", "ttgir", "llir", "ptx"}
    assert first.artifacts["ptx"].read() == b"ptx of a"
    assert json.loads(first.artifacts["meta"].read())["num_warps"] == 4
    assert first.modified > second.modified
    assert codes(loaded) == []


def test_the_json_in_a_log_is_taken_before_the_events_own_metadata(tmp_path):
    recorded = event()
    recorded["payload"]["file_content"]["k.json"] = json.dumps(record(triton_version="3.5.0"))
    (bundle,) = read(write(tmp_path / "a.ndjson", recorded)).bundles
    assert bundle.release == "3.5.0"


def test_the_same_compilation_recorded_twice_counts_once(tmp_path):
    assert len(read(write(tmp_path / "a.ndjson", event(), event(), event("b"))).bundles) == 2


@pytest.mark.parametrize(
    "text",
    [
        "<file too large: 12345678 bytes>",
        "<error reading file: [Errno 2] x>",
        "<nvdisasm failed: exit 1>",
        "<error dumping SASS: x>",
    ],
)
def test_what_tritonparse_left_out_is_an_error_on_its_kernel(tmp_path, text):
    recorded = event()
    recorded["payload"]["file_content"]["k.llir"] = text
    (bundle,) = read(write(tmp_path / "a.ndjson", recorded)).bundles
    assert "llir" not in bundle.artifacts
    assert [(issue.severity, issue.code, issue.stage) for issue in bundle.issues] == [
        ("error", "not-recorded", "llir")
    ]


DAMAGED = {
    "no JSON": b"{nonsense\n",
    "not UTF-8": b'{"event_type": "\xff"}\n',
    "too deep": b"[" * 200_000 + b"\n",
    "no content": json.dumps(event(file_content=None)).encode() + b"\n",
    "a payload that is a list": b'{"event_type": "compilation", "payload": []}\n',
    "no stage known": json.dumps(event(suffixes=("x",), metadata=None)).encode() + b"\n",
    "a number for a text": json.dumps(event("n", file_content={"n.ptx": 3, "n.ttir": "x"})).encode() + b"\n",
}


@pytest.mark.parametrize("what", sorted(DAMAGED))
def test_a_damaged_line_is_an_error_with_its_number_or_text_and_the_rest_is_read(tmp_path, what):
    loaded = read(write(tmp_path / "a.ndjson", event("a"), DAMAGED[what], event("z")))
    assert {"a", "z"} <= {bundle.name for bundle in loaded.bundles}
    (issue,) = loaded.issues
    assert (issue.severity, issue.code, issue.line) == ("error", "bad-log-line", 2)


def test_a_log_full_of_damage_is_not_a_flood_of_issues(tmp_path):
    loaded = read(write(tmp_path / "a.ndjson", event(), *[b"{\n"] * 1000))
    assert len(loaded.issues) == logs.MAX_ISSUES + 1
    assert "980" in loaded.issues[-1].message


def test_a_log_that_is_cut_off_gives_what_came_before(tmp_path):
    path = write(tmp_path / "a.ndjson.gz", event("a"), event("b"), compress=True)
    path.write_bytes(path.read_bytes()[:-30])
    loaded = read(path)
    assert [bundle.name for bundle in loaded.bundles] == ["a"]
    assert [issue.code for issue in loaded.issues] == ["damaged-log"]


def test_a_log_that_explodes_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MAX_TOTAL", 100_000)
    path = write(
        tmp_path / "a.ndjson.gz", event("a"), *[b" " * 50_000 + b"\n"] * 50, event("b"), compress=True
    )
    loaded = read(path)
    assert [bundle.name for bundle in loaded.bundles] == ["a"]
    assert [issue.code for issue in loaded.issues] == ["too-large"]
    monkeypatch.setattr(logs, "MAX_LINE", 10)
    with pytest.raises(InputError, match="no compiled kernel"):
        read(path)


def test_a_log_without_compilations_is_an_input_error(tmp_path):
    for content in (b"", b"\n\n", b'{"event_type": "launch"}\n', b"\x1f\x8b", b"\x28\xb5\x2f\xfd zstd"):
        (tmp_path / "a.ndjson").write_bytes(content)
        with pytest.raises(InputError, match="no compiled kernel"):
            read(tmp_path / "a.ndjson")


def test_logs_in_a_folder_are_read_where_no_kernel_lies_there_else_named(tmp_path):
    (tmp_path / "logs").mkdir()
    write(tmp_path / "logs" / "a.ndjson", event("a"))
    assert [bundle.layout for bundle in read(tmp_path).bundles] == ["log"]
    entry(tmp_path / "cache", name="k")
    loaded = read(tmp_path)
    assert [bundle.layout for bundle in loaded.bundles] == ["cache"]
    assert codes(loaded) == ["log-not-read"]
