"""What a plugin registers beside rules and tools: stages, derived facts, sources, kinds and renderers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.facts import Fact, FactSpec, Value
from irdiff.model.issues import Issue
from irdiff.model.summary import Canonical, Summary
from irdiff.model.tools import Toolbox

if TYPE_CHECKING:
    from irdiff.model.report import Report

T = TypeVar("T")


class Context:
    """What a stage is given beside an artifact; one for each distinct content."""

    def __init__(
        self,
        *,
        tools: Toolbox,
        prepared: object | None = None,
        switched_off: frozenset[str] = frozenset(),
        wanted: frozenset[str] = frozenset(),
    ) -> None:
        self.tools = tools
        self.prepared = prepared
        """What the stage's ``prepare`` returned for this content."""
        self._switched_off = switched_off
        self._wanted = wanted
        self._once: dict[str, object] = {}

    def normalizes(self, name: str) -> bool:
        """Whether the normalisation of that id is on (``--no-normalize`` switches one off)."""
        return name not in self._switched_off

    def wants(self, fact_id: str) -> bool:
        """Whether a fact that is made only where asked for is asked for (``--with``)."""
        return fact_id in self._wanted

    def once(self, key: str, make: Callable[[], T]) -> T:
        """``make()``, remembered for this content: ``summarize`` and ``canonical`` parse only once."""
        if key not in self._once:
            self._once[key] = make()
        return self._once[key]  # type: ignore[return-value]


class Normalization(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of a stage's canonical form."""

    id: str
    """Kebab case, unique in its stage: ``source-paths``."""
    title: str
    """What differs when only this differs, as in "bytes differ by ...": ``source paths``."""
    doc: str = ""


ACTIONS = ("copy", "fragment load", "dot", "layout conversion", "reduction", "store")
"""What a tile program does, whatever the stage calls it: global memory to shared memory or registers, shared memory to
the operands of a dot, products, values to other threads, sums over threads, registers to global memory."""


class Carrier(msgspec.Struct, frozen=True, kw_only=True):
    """An operation that carries an action."""

    actions: tuple[str, ...]
    """Of ACTIONS; several where the operation alone does not say which, the likeliest first: then the user's line and
    what the stages before do decide."""
    operation: str
    """As it is shown: ``LDGSTS.E.128``."""
    sure: bool = True
    """False where it may be none of them, even if there is only one."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What a file that speaks of several kernels says of one of them."""

    kernel: str
    arch: str | None
    """As ``Target.arch``; None where the file does not say."""
    data: bytes
    """The content of an artifact of its own."""


class EntryInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What decides which stages an entry is expected to hold."""

    layout: str
    backend: str | None
    release: tuple[int, int] | None
    """Triton's (major, minor), where recorded."""
    suffixes: frozenset[str]
    """Suffixes of the files that are there."""


def never_expected(entry: EntryInfo) -> bool:
    """A stage that is read when present and not missed when absent."""
    return False


class StageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of the compiler: how to read its artifacts and what can be said of them."""

    id: str
    title: str
    suffixes: tuple[str, ...]
    """File suffixes with their dot, the preferred one first."""
    facts: tuple[FactSpec, ...]
    summarize: Callable[[Artifact, Context], Summary]
    """Raises ParseError alone."""
    canonical: Callable[[Artifact, Context], Canonical]
    """Raises ParseError alone."""
    after: tuple[str, ...] = ()
    """Stages that come before it in the compiler."""
    produced_by: str = ""
    """The part of the compiler that writes it: the cause where this stage is the first to differ."""
    version_facts: tuple[str, ...] = ()
    """Provenance facts that name the version of that part, tried in order: ``("sass.ptxas",)``."""
    normalizations: tuple[Normalization, ...] = ()
    expected: Callable[[EntryInfo], bool] = never_expected
    minimum_coverage: float = 0.95
    """Share understood under which the stage counts as not compared."""
    reported_as: str | None = None
    """The stage named where a difference begins here, if another one."""
    dialect: str | None = None
    """Stages of the same dialect can read each other's artifacts: ``compare k.source k.ttir`` shows what the
    passes between them did, in the facts of the later stage. ``None``: its artifacts compare with its own alone."""
    pipeline: bool = True
    """False for a stage that describes a compilation and is no step of it: a divergence never begins there."""
    machine_code: bool = False
    """True where the artifact is what the GPU executes."""
    road: Callable[[str, str], Carrier | None] | None = None
    """What a key of a tally (fact id, key) does on the road of a kernel through the stages; None for nothing of it."""
    parts: Callable[[bytes], Sequence[Part]] | None = None
    """For a file that speaks of several kernels (the log of an assembler): what it says of each."""
    source_lines: Callable[[Artifact, Context], Mapping[int, str]] | None = None
    """What ``Summary.source_lines`` would hold, where it costs too much to make it for every artifact: asked for where
    a change of this stage is shown. Raises ParseError alone."""
    names: str = r"%[\w$.-]+|\^\w+"
    """Regular expression of the names in a canonical line that are only numbers given in order, or chosen by a
    compiler: two lines are aligned without regard to them."""
    names_written: str = r"%[\w$.-]+|\^\w+"
    """The same names as the artifact and as canonical lines write them, one for one: hunks show the artifact's."""
    order_free: Callable[[str], bool] | None = None
    """Whether a canonical line may change places with its neighbours where a scheduler moves it (no label, branch or
    barrier); None for a stage whose order is told as it is."""
    written: Callable[[Artifact, Context], Mapping[int, str]] | None = None
    """Place to the artifact's own text there, for artifacts that are no text. Raises ParseError alone."""
    needs: tuple[str, ...] = ()
    """Ids of tools that it uses where they are found."""
    prepare: Callable[[Sequence[Artifact], Toolbox], Mapping[str, object]] | None = None
    """Work that is cheaper for many artifacts at once: returns sha256 -> what ``Context.prepared`` holds."""


class FactView(Protocol):
    """All facts of one kernel, for facts derived from several stages."""

    def value(self, fact_id: str, scope: str = "") -> Value | None:
        """The value, or None where it is not known."""

    def trip_count(self, stage_id: str, scope: str) -> int | None:
        """Iterations of that loop in that stage, where constant."""

    def scopes(self, stage_id: str) -> tuple[str, ...]:
        """Scope ids of a stage."""

    @property
    def arch(self) -> str | None:
        """``90``, ``gfx942``."""

    @property
    def backend(self) -> str | None:
        """``cuda``, ``hip``."""


class DerivedSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Facts computed from the facts of several stages."""

    id: str
    facts: tuple[FactSpec, ...]
    derive: Callable[[FactView], Iterable[Fact]]


class SourceSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of input. The first source that recognises a path loads it."""

    id: str
    title: str
    recognizes: Callable[[Path], bool]
    load: Callable[[Path, SourceContext], Sequence[Bundle]]
    """Never raises for one bad entry: it is returned with its issues. Raises InputError for the whole."""


class StageLookup(Protocol):
    """What reading files needs to know of the registered stages."""

    def stage_of(self, suffix: str) -> str | None:
        """Id of the stage that claims a suffix (with its dot)."""

    def stage_after(self, stage_id: str) -> tuple[str, ...]:
        """Stages that come before one."""

    def is_final(self, suffix: str) -> bool:
        """Whether files of that suffix are machine code."""


class SourceContext(StageLookup, Protocol):
    """What a source of a plugin is given."""

    def report(self, issue: Issue) -> None:
        """Say something about the input as a whole."""


class KindSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of value: exactly one check, one comparison and one rendering."""

    id: str
    accepts: Callable[[Value], bool]
    compare: Callable[[Value, Value], Value | None]
    """The delta, or None where the values are equal."""
    to_text: Callable[[Value], str]
    sign: Callable[[Value, Value, FactSpec], int]
    """-1 smaller, 0 cannot say, 1 larger: what ``better`` is applied to."""


class RendererSpec(msgspec.Struct, frozen=True, kw_only=True):
    """An output format: a pure function of a report."""

    id: str
    """The word after ``--format``."""
    title: str
    render: Callable[[Report], str]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin knows of why a kernel changed."""

    cause: str
    sentence: str = ""
    priority: int = 0
    """The highest wins."""
