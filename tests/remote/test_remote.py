"""Inputs behind URLs: what a tree says does not depend on where it lies."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import corpus
from command import irdiff
from irdiff.cli.exit_codes import Exit
from irdiff.errors import InputError
from irdiff.plugins import load_plugins
from irdiff.sources import Loaded, load, remote
from irdiff.sources.urls import is_url, split_url, without_user

TREE = corpus.PAIRS / "divisibility/before"
OTHER = corpus.PAIRS / "divisibility/after"
REGISTRY = load_plugins(external=False)
BUCKET = "compiled"


def files_of(tree: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()
    }


def read(source: str | Path) -> Loaded:
    return load(str(source), REGISTRY, {})


def said(loaded: Loaded, root: str) -> list[Any]:
    """Everything but where it lies: names, targets, contents by stage, and the issues."""
    return [
        (
            bundle.name,
            bundle.path.replace(root, ""),
            bundle.entry,
            bundle.layout,
            bundle.target,
            bundle.metadata,
            {stage: artifact.read() for stage, artifact in bundle.artifacts.items()},
            [(issue.code, issue.message) for issue in bundle.issues],
        )
        for bundle in loaded.bundles
    ]


@pytest.fixture
def memory() -> Iterator[Any]:
    import fsspec

    files = fsspec.filesystem("memory")
    for name, data in files_of(TREE).items():
        files.pipe_file(f"/caches/before/{name}", data)
    yield files
    files.rm("/caches", recursive=True)


@pytest.fixture(scope="module")
def s3() -> Iterator[Mapping[str, str]]:
    """The environment under which an S3 server on this machine is found; both trees are in a bucket of it."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        environment = {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "reader",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }
        client = boto3.client(
            "s3",
            endpoint_url=environment["AWS_ENDPOINT_URL"],
            region_name="us-east-1",
            aws_access_key_id="reader",
            aws_secret_access_key="secret",
        )
        client.create_bucket(Bucket=BUCKET)
        for side, tree in (("before", TREE), ("after", OTHER)):
            for name, data in files_of(tree).items():
                client.put_object(Bucket=BUCKET, Key=f"{side}/{name}", Body=data)
        yield environment
    finally:
        server.stop()


def test_a_tree_in_memory_says_what_the_one_on_disk_says(memory: Any) -> None:
    found = read("memory://caches/before")
    assert said(found, "memory://caches/before") == said(read(TREE), str(TREE))
    assert all(bundle.path.startswith("memory://caches/before/") for bundle in found.bundles)


def test_nothing_is_read_before_it_is_asked_for(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    cat_file = type(memory).cat_file

    def noted(self: Any, path: str, *arguments: Any, **named: Any) -> bytes:
        asked.append(path)
        return cat_file(self, path, *arguments, **named)

    monkeypatch.setattr(type(memory), "cat_file", noted)
    (bundle,) = read("memory://caches/before").bundles
    assert {path.rpartition(".")[2] for path in asked} <= {"json"}
    bundle.artifacts["ptx"].read()
    bundle.artifacts["ptx"].read()
    assert [path for path in asked if path.endswith(".ptx")] == [asked[-1]]


def test_a_selector_behind_a_url_picks_kernels(memory: Any) -> None:
    (bundle,) = read(TREE).bundles
    assert len(read(f"memory://caches/before::{bundle.name}").bundles) == 1
    assert len(read(f"memory://caches/before::{bundle.entry[:8]}").bundles) == 1
    with pytest.raises(InputError, match="no kernel nobody"):
        read("memory://caches/before::nobody")


def test_one_file_and_the_json_beside_it(memory: Any) -> None:
    (path,) = TREE.rglob("*.ptx")
    url = f"memory://caches/before/{path.relative_to(TREE)}"
    (found,), (local,) = read(url).bundles, read(path).bundles
    assert (found.path, found.layout, found.name, found.target) == (url, "file", local.name, local.target)
    assert found.artifacts["ptx"].read() == path.read_bytes()


def test_an_archive_behind_a_url(memory: Any, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(TREE, arcname="tree")
    memory.pipe_file("/caches/packed.tar.gz", packed.getvalue())
    (tmp_path / "packed.tar.gz").write_bytes(packed.getvalue())
    url = "memory://caches/packed.tar.gz"
    assert said(read(url), url) == said(read(tmp_path / "packed.tar.gz"), str(tmp_path / "packed.tar.gz"))


def test_a_zip_file_by_its_url(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "tree.zip", "w") as archive:
        for name, data in files_of(TREE).items():
            archive.writestr(f"tree/{name}", data)
    url = f"zip://tree::{tmp_path / 'tree.zip'}"
    found = read(url)
    (bundle,) = found.bundles
    assert said(found, f"{url}!") == [
        (name, path.lstrip("/"), *rest) for name, path, *rest in said(read(TREE), str(TREE))
    ]
    assert bundle.path == f"{url}!{bundle.entry}"
    assert read(f"{url}::{bundle.name}").bundles[0].name == bundle.name


def test_a_file_over_the_limit_is_named_and_not_read(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_MEMBER", 4000)
    (bundle,) = read("memory://caches/before").bundles
    local = read(TREE).bundles[0]
    large = {stage for stage, artifact in local.artifacts.items() if len(artifact.read()) > 4000}
    assert large
    assert large <= {issue.stage for issue in bundle.issues if issue.code == "too-large"}
    assert not large & bundle.artifacts.keys()


def test_more_files_than_are_read_are_said(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_MEMBERS", 3)
    assert "too-many-files" in {issue.code for issue in read("memory://caches/before").issues}


def test_a_file_that_goes_away_is_an_unreadable_stage(memory: Any) -> None:
    (bundle,) = read("memory://caches/before").bundles
    (path,) = (name for name in memory.find("/caches/before") if name.endswith(".ptx"))
    memory.rm(path)
    with pytest.raises(OSError, match="ptx"):
        bundle.artifacts["ptx"].read()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/cache", ("s3://bucket/cache", None)),
        ("s3://bucket/cache::matmul_kernel", ("s3://bucket/cache", "matmul_kernel")),
        ("zip://::s3://bucket/cache.zip", ("zip://::s3://bucket/cache.zip", None)),
        ("zip://tree::cache.zip::matmul", ("zip://tree::cache.zip", "matmul")),
        ("simplecache::s3://bucket/cache::a*", ("simplecache::s3://bucket/cache", "a*")),
        ("zip://a::simplecache::s3://b/c.zip::k", ("zip://a::simplecache::s3://b/c.zip", "k")),
    ],
)
def test_where_a_url_ends_and_its_selector_begins(text: str, expected: tuple[str, str | None]) -> None:
    assert is_url(text)
    assert split_url(text) == expected


@pytest.mark.parametrize(
    "text", ["cache", "C:\\cache", "cache::kernel", "/tmp/a::b", "a/b://c", "zip::kernel"[3:]]
)
def test_a_path_is_no_url(text: str) -> None:
    assert not is_url(text)


def test_names_and_passwords_are_not_shown() -> None:
    assert without_user("ftp://me:secret@host/x") == "ftp://host/x"
    with pytest.raises(InputError) as caught:
        read("nosuch://me:secret@host/x")
    assert "secret" not in str(caught.value)


def test_without_fsspec_a_url_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InputError, match=r"irdiff\[remote\]"):
        read("s3://bucket/cache")


def test_an_unknown_protocol_and_a_missing_backend_are_told() -> None:
    with pytest.raises(InputError, match="nosuch"):
        read("nosuch://bucket/cache")
    with pytest.raises(InputError, match="is not there"):
        read("memory://nothing/here")


def test_show_and_compare_read_a_bucket_as_they_read_a_folder(s3: Mapping[str, str]) -> None:
    local = irdiff("compare", TREE, OTHER, "--format", "json")
    there = irdiff("compare", f"s3://{BUCKET}/before", f"s3://{BUCKET}/after", "--format", "json", env=s3)
    assert there.code == local.code, there.err
    assert (
        there.out.replace(f"s3://{BUCKET}/before", str(TREE)).replace(f"s3://{BUCKET}/after", str(OTHER))
        == local.out
    )
    (name,) = (bundle.name for bundle in read(TREE).bundles)
    shown = irdiff("show", f"s3://{BUCKET}/before::{name}", "--format", "json", env=s3)
    assert [kernel["name"] for kernel in json.loads(shown.out)["kernels"]] == [name]


def test_a_bucket_that_is_not_there_and_one_without_credentials(s3: Mapping[str, str]) -> None:
    missing = irdiff("show", "s3://nobodys/cache", env=s3)
    assert missing.code == Exit.UNSURE
    assert "s3://nobodys/cache: is not there" in missing.err
    nobody = {name: value for name, value in s3.items() if "KEY" not in name}
    refused = irdiff("show", f"s3://{BUCKET}/before", env={**nobody, "HOME": "/nonexistent"})
    assert refused.code == Exit.UNSURE
    assert "credentials" in refused.err.lower()
    assert "Traceback" not in missing.err + refused.err
