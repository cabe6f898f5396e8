"""The formats that irdiff brings beside the terminal's and JSON: each a pure function of a report."""

from __future__ import annotations

from irdiff.model.specs import RendererSpec
from irdiff.present.github import github
from irdiff.present.junit import junit
from irdiff.present.markdown import markdown
from irdiff.present.sarif import sarif

RENDERERS: tuple[RendererSpec, ...] = (
    RendererSpec(id="markdown", title="a comment on a pull request", render=markdown),
    RendererSpec(id="sarif", title="SARIF 2.1.0, for code scanning", render=sarif),
    RendererSpec(id="junit", title="JUnit XML, for test reports of CI", render=junit),
    RendererSpec(id="github", title="annotations of GitHub Actions", render=github),
)
"""In the order in which they are offered."""
