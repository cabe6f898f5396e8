"""A cluster of two workers on loopback says what this process says, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from irdiff.errors import InputError
from irdiff.pool.dask import DaskCluster
from pooled import report_with

CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_cluster_says_what_this_process_says(tmp_path: Path) -> None:
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as cluster:
        assert cluster.stdin is not None
        assert cluster.stdout is not None
        try:
            address = cluster.stdout.readline().strip()
            with closing(DaskCluster(address)) as pool:
                assert pool.workers == 2
                assert report_with(pool) == report_with(None)
        finally:
            cluster.stdin.close()
            cluster.wait(30)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_scheduler_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irdiff.pool.dask.TIMEOUT", 0.3)
    with pytest.raises(InputError, match="cannot be reached"):
        DaskCluster("tcp://127.0.0.1:9")
