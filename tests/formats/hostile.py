"""Reports with the worst names and texts that hypothesis can think of."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from irdiff.api import Change, FactSpec, Issue, KernelReport, Report
from irdiff.model.gate import Finding, Judgement, RuleTold, Silenced, Stale, Unjudged
from irdiff.model.report import FirstDivergence, KernelRef, Pairing, StageReport

NASTY = (
    "", " ", "a`b", "``", "`|`", "a|b", "a\\|b", "\\", "<script>alert(1)</script>", "</pre></details>",
    "<!-- x", "-->", "@octocat", "@org/team", "#12", "GH-12", "org/repo#1", "https://x.test/?a=1&b",
    "www.x.test", "me@x.test", "![i](u)", "**bold** _it_", "1. a", "- a", "> q", "# h", "\n::error::gone",
    "\r\n::set-output name=x::y", "%0A::error::x", "::warning file=x::y", "##[error]x",
    "::stop-commands::t", ",title=x", "a:b,c", "]]>", "&amp;", "&#64;x", "\x00", "\x1b[31mred", "\x85",
    "\u2028", "\u202egnp.exe", "\ufffe", "\ufeff", "\U0001f600", "é", "名前" * 40, "k" * 900, "a\tb", "'\"",
    "{{x}}", "$(x)", "../../etc/passwd", "C:\\Users\\x\\k.py", "/abs/k.py", "a b.py", "%41.py", "~~~",
    "| - |", "- - -", "===",
)  # fmt: skip

texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.tuples(st.sampled_from(NASTY), st.sampled_from(NASTY)).map("".join),
)
names = st.one_of(st.sampled_from(("matmul", "attn_fwd", "copy")), texts)
maybe = st.one_of(st.none(), texts)
sources = st.one_of(
    st.none(), texts, st.tuples(texts, st.integers(0, 999)).map(lambda pair: f"{pair[0]}:{pair[1]}")
)
values = st.one_of(
    st.none(),
    st.integers(-5, 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
    st.dictionaries(texts, st.integers(0, 9), max_size=2),
    st.lists(texts, max_size=2).map(tuple),
    st.booleans(),
)
codes = st.sampled_from(("RES101", "LAY102", "PIPE101", "MY001"))

issues = st.builds(
    Issue,
    severity=st.sampled_from(("error", "warning", "note")),
    code=names,
    message=texts,
    where=maybe,
    stage=maybe,
    line=st.one_of(st.none(), st.integers(1, 99)),
    hint=maybe,
)
changes = st.builds(
    Change,
    fact=st.sampled_from(("two.spills", "two.unexplained", "one.adds")),
    scope=names,
    before=values,
    after=values,
    delta=values,
    effect=st.sampled_from(("better", "worse", "neutral", "incomparable", "unexplained")),
    source=sources,
)
kernels = st.builds(
    KernelReport,
    name=names,
    name_after=maybe,
    path_before=texts,
    path_after=texts,
    target=maybe,
    pairing=st.just(Pairing(method="only", confidence=1.0)),
    status=st.sampled_from(("identical", "equivalent", "changed", "incomplete")),
    direction=st.sampled_from((None, "worse", "better", "mixed")),
    machine_code=st.just("changed"),
    first_divergence=st.one_of(
        st.none(), st.builds(FirstDivergence, stage=st.just("two"), fact_stage=st.none(), cause=maybe)
    ),
    stages=st.just({"two": StageReport(sameness="changed")}),
    changes=st.lists(changes, min_size=1, max_size=3).map(tuple),
    issues=st.lists(issues, max_size=1).map(tuple),
)
findings = st.builds(
    Finding,
    rule=codes,
    level=st.sampled_from(("error", "warn")),
    message=texts,
    kernel=names,
    path=texts,
    target=maybe,
    fact=st.one_of(st.none(), st.just("two.spills")),
    scope=st.sampled_from(("", "loop0")),
    before=values,
    after=values,
    source=sources,
    decided=texts,
    fingerprint=st.sampled_from(("", "0123abcd")),
    accepted=maybe,
)
told = st.builds(
    RuleTold, title=texts, level=st.sampled_from(("error", "warn", "off")), default=st.just("warn"), why=texts
)
unjudged = st.builds(
    Unjudged,
    code=names,
    message=texts,
    kernel=st.one_of(st.none(), names),
    path=maybe,
    stage=maybe,
    rules=st.lists(codes, max_size=2).map(tuple),
    hint=maybe,
)
judgements = st.builds(
    Judgement,
    failed=st.booleans(),
    unsure=st.booleans(),
    findings=st.lists(findings, max_size=5).map(tuple),
    unjudged=st.lists(unjudged, max_size=3).map(tuple),
    silenced=st.lists(
        st.builds(Silenced, rule=codes, kernel=names, message=texts, why=texts), max_size=2
    ).map(tuple),
    stale=st.lists(st.builds(Stale, rule=codes, kernel=names, why=texts, owner=texts), max_size=2).map(tuple),
    rules=st.dictionaries(codes, told, max_size=4),
    policy=maybe,
)
refs = st.lists(st.builds(KernelRef, name=names, path=texts, target=maybe), max_size=2).map(tuple)
SPECS = {
    "two.spills": FactSpec(id="two.spills", title="two spills", kind="count", better="lower", role="spills"),
    "one.adds": FactSpec(id="one.adds", title="one additions", kind="count"),
}


@st.composite
def reports(draw: st.DrawFn, *, judged: bool | None = None) -> Report:
    """A report of compare or, where ``judged``, of check; without a word of either."""
    fields: dict[str, Any] = {
        "before": draw(texts),
        "after": draw(texts),
        "verdict": draw(st.sampled_from(("identical", "equivalent", "changed", "incomplete"))),
        "direction": draw(st.sampled_from((None, "worse", "mixed"))),
        "kernels": tuple(draw(st.lists(kernels, max_size=3))),
        "added": draw(refs),
        "removed": draw(refs),
        "issues": tuple(draw(st.lists(issues, max_size=2))),
        "facts": SPECS,
        "stages": {"one": "one", "two": "two"},
        "steps": ("one", "two"),
    }
    made = Report(**fields)
    if judged if judged is not None else draw(st.booleans()):
        return msgspec.structs.replace(made, judgement=draw(judgements))
    return made
