"""Inputs that are no path on disk: URLs of any file system that fsspec knows, and their selectors."""

from __future__ import annotations

import re

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
CHAINED = frozenset({
    "zip", "tar", "libarchive", "filecache", "simplecache", "blockcache", "blocksizecache", "dir",
})  # fmt: skip
"""File systems inside others: what follows behind ``::`` is where they lie (fsspec, "URL chaining")."""

_PROTOCOL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(?:://|\Z)")
_USER = re.compile(r"(?<=://)[^/@:]*(?::[^/@]*)?@")


def is_url(text: str) -> bool:
    """Whether an input is a URL, or a chain of them, and no path."""
    head = text.partition("::")[0]
    return URL.match(head) is not None or ("::" in text and head in CHAINED)


def split_url(text: str) -> tuple[str, str | None]:
    """(URL, selector): ``s3://bucket/cache::KERNEL``; in ``zip://::s3://bucket/cache.zip`` the URL is all of it."""
    parts = text.split("::")
    end = 1
    while end < len(parts) and _protocol(parts[end - 1]) in CHAINED:
        end += 1
    return "::".join(parts[:end]), "::".join(parts[end:]) or None


def without_user(text: str) -> str:
    """The URL without a user's name and password."""
    return _USER.sub("", text)


def member(url: str, name: str) -> str:
    """For people: a file below a URL, or behind ``!`` in a chain, as a member of an archive."""
    if not name:
        return url
    return f"{url}!{name}" if "::" in url else f"{url.rstrip('/')}/{name}" if _path(url) else f"{url}{name}"


def _path(url: str) -> str:
    return url.partition("://")[2]


def _protocol(part: str) -> str:
    found = _PROTOCOL.match(part)
    return found[1] if found is not None else ""
