"""The engine's view of the store: which key an answer has, and whether its bytes are the ones that were put there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from irdiff.model.specs import StageSpec
from irdiff.store.code import code_of, digest_of, packages_beside
from irdiff.store.database import Database

CHECK = 8
"""Bytes of a digest before each value: SQLite has no checksums of its own."""


class StoredAnswers:
    """Implements ``irdiff.engine.answers.Store``."""

    def __init__(
        self,
        database: Database,
        stages: Sequence[StageSpec],
        owners: Mapping[str, str],
        path: Sequence[str],
        tools: Callable[[str], str],
        declared: str = "",
    ) -> None:
        """``owners`` names distribution and version by stage id; ``tools`` says which copies of one there are.

        ``declared`` stands for the facts that the user's configuration adds.
        """
        self._declared = declared
        self._database = database
        self._stages = stages
        self._owners = owners
        self._path = path
        self._tools = tools
        self._code = ""
        self._prefixes: dict[str, str] = {}

    def key(
        self, stage: StageSpec, suffix: str, sha256: str, switched_off: frozenset[str], wanted: frozenset[str]
    ) -> str:
        """What the answer of a stage for a content goes by: all that it depends on."""
        prefix = self._prefixes.get(stage.id)
        if prefix is None:
            off = sorted(switched_off & {rule.id for rule in stage.normalizations})
            facts = sorted(wanted & {fact.id for fact in stage.facts})
            tools = [self._tools(tool) for tool in stage.needs]
            parts = (
                self._digest(),
                stage.id,
                self._owners.get(stage.id, ""),
                off,
                facts,
                tools,
                self._declared,
            )
            prefix = self._prefixes[stage.id] = repr(parts)
        return hashlib.sha256(f"{prefix} {suffix} {sha256}".encode()).hexdigest()[:40]

    def known(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Those keys that are there, with the digest of the canonical form (empty for none)."""
        return self._database.known(keys)

    def get(self, key: str) -> bytes | None:
        """The bytes of one answer; None for what is not there or was damaged."""
        return checked(key, self._database.get(key))

    def put(self, rows: Sequence[tuple[str, str, bytes]]) -> bool:
        """Keep (key, digest, bytes); False where they were not kept."""
        return self._database.put([(key, digest, marked(key, data)) for key, digest, data in rows])

    def _digest(self) -> str:
        if not self._code:
            packages = [code for stage in self._stages if (code := code_of(stage)) is not None]
            self._code = digest_of(packages_beside([*packages, _core()]), self._path)
        return self._code


def _core() -> str:
    """The folder of irdiff itself."""
    import irdiff

    return irdiff.__path__[0]


def marked(key: str, data: bytes) -> bytes:
    """The bytes with a digest of them and of their key."""
    return _check(key, data) + data


def checked(key: str, data: bytes | None) -> bytes | None:
    """The bytes without it, where it is right."""
    if data is None or data[:CHECK] != _check(key, data[CHECK:]):
        return None
    return data[CHECK:]


def _check(key: str, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=CHECK, key=key.encode()[:64]).digest()
