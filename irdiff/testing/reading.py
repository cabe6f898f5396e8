"""StageReading: how the kit reads samples with a stage; what every contract is built on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

from irdiff.errors import ToolError
from irdiff.model.bundle import Artifact
from irdiff.model.facts import Fact, FactSpec
from irdiff.model.kinds import standard_kinds
from irdiff.model.specs import Context, KindSpec, StageSpec
from irdiff.model.summary import Canonical, Summary
from irdiff.model.tools import Tool, Toolbox, ToolResult, ToolSpec
from irdiff.tools.toolbox import LocalToolbox

T = TypeVar("T")


class NoTools:
    """A toolbox that finds nothing: what a stage meets where no tool is installed."""

    def find(self, tool_id: str) -> tuple[Tool, ...]:  # noqa: ARG002  # the protocol's names
        """Nothing."""
        return ()

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:  # noqa: ARG002  # the protocol's names
        """Raises ToolError."""
        raise ToolError(f"{tool.id}: there are no tools here")


def local_tools(*specs: ToolSpec) -> Toolbox:
    """A toolbox that finds the tools of a plugin on this machine, as irdiff does. Fails where one is not found."""
    tools = LocalToolbox({spec.id: spec for spec in specs}, os.environ)
    for spec in specs:
        assert tools.find(spec.id), f"{spec.id} was not found: {spec.hint}"
    return tools


class StageReading:
    """What every contract needs to know: the stage, its samples, and what they are read with."""

    stage: ClassVar[StageSpec]
    samples: ClassVar[Sequence[Path | bytes]]
    """Real artifacts of the stage, files or contents; small ones keep the damaged readings quick."""
    kinds: ClassVar[Sequence[KindSpec]] = ()
    """Kinds of values that the plugin registers."""
    tools: ClassVar[Toolbox] = NoTools()
    seed: ClassVar[int] = 20240
    """Of everything drawn by chance: the same every run."""
    seconds: ClassVar[float] = 5.0
    """Time the reading of one damaged copy may take."""

    def _kinds(self) -> Mapping[str, KindSpec]:
        return standard_kinds() | {kind.id: kind for kind in self.kinds}

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        for number, sample in enumerate(self.samples):
            if isinstance(sample, bytes):
                yield f"sample {number}", sample
            else:
                yield str(sample), sample.read_bytes()

    def _summaries(self) -> Iterator[tuple[str, bytes, Summary]]:
        for name, data in self._contents():
            yield name, data, self._summarize(data, name)

    def _artifact(self, data: bytes, location: str) -> Artifact:
        return Artifact.of_bytes(data, stage=self.stage.id, suffix=self.stage.suffixes[0], location=location)

    def _context(self, data: bytes, switched_off: frozenset[str] = frozenset()) -> Context:
        prepared = None
        if self.stage.prepare is not None:
            artifact = self._artifact(data, "prepared")
            prepared = self.stage.prepare([artifact], self.tools).get(artifact.sha256)
        return Context(tools=self.tools, prepared=prepared, switched_off=switched_off)

    def _summarize(self, data: bytes, location: str) -> Summary:
        return self._checked(
            Summary, self.stage.summarize, self._artifact(data, location), self._context(data)
        )

    def _canonical(
        self, data: bytes, location: str, *, switched_off: frozenset[str] = frozenset()
    ) -> Canonical:
        context = self._context(data, switched_off)
        return self._checked(Canonical, self.stage.canonical, self._artifact(data, location), context)

    @staticmethod
    def _checked(
        kind: type[T], call: Callable[[Artifact, Context], object], artifact: Artifact, context: Context
    ) -> T:
        made = call(artifact, context)
        assert isinstance(made, kind), (
            f"{artifact.location}: returned {type(made).__name__}, not {kind.__name__}"
        )
        return made

    def _spec(self, name: str, fact: Fact) -> FactSpec:
        spec = next((spec for spec in self.stage.facts if spec.id == fact.id), None)
        assert spec is not None, f"{name}: {fact.id} is not declared"
        return spec
