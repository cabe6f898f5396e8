"""How long a user's regular expression can take on one line, known before it is used.

Python's engine backtracks: an expression such as ``(a+)+b`` takes exponential time on a line that somebody made for it,
and nothing can interrupt one match. So what may repeat is bounded. A repetition may not hold anything that can match in
more than one way, which leaves polynomial time; and the number of ways one line can be tried is counted and limited.
"""

from __future__ import annotations

import math
import re
import sys
from importlib import import_module
from typing import Any

LONGEST_LINE = 512
"""Characters of a line that are looked at: a pattern speaks of how a line begins."""
MOST_WAYS = 1 << 26
"""Ways to try one line; about a second of work where somebody made the line for it."""
LONGEST_PATTERN = 500

# The parser of the standard library's own engine; it moved in 3.11.
_PARSER: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
_ATOMS = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY", "AT", "CATEGORY"})
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


class PatternError(ValueError):
    """Why a pattern is refused."""


def checked(pattern: str) -> re.Pattern[str]:
    """The compiled pattern. Raises PatternError for one that is none, matches anything, or can take too long."""
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"the pattern is longer than {LONGEST_PATTERN} characters")
    try:
        compiled = re.compile(pattern)
        tree = _PARSER.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"the pattern is no regular expression: {error}") from None
    if compiled.match("") is not None:
        raise PatternError("the pattern matches an empty line, so it matches every line")
    if _begins_with_anything(tree):
        raise PatternError(
            "the pattern begins with anything: begin with what the line begins with, or the word is found in names too"
        )
    strange = [name for name in compiled.groupindex if name != "key"]
    if strange:
        raise PatternError(f"the only named group is key, not {strange[0]}")
    ways, open_ended = _ways(tree)
    # k repetitions one behind the other share the line: n^k / k! ways.
    if ways * LONGEST_LINE**open_ended / math.factorial(open_ended) > MOST_WAYS:
        raise PatternError("the pattern can be tried in too many ways on one line: use fewer *, +, ? and |")
    return compiled


def _begins_with_anything(tree: Any) -> bool:
    for operation, argument in tree:
        name = str(operation)
        if name == "AT":
            continue
        if name in _REPEATS:
            return str(argument[2][0][0]) in ("ANY", "NOT_LITERAL")
        if name == "SUBPATTERN":
            return _begins_with_anything(argument[3])
        return name == "ANY"
    return False


def _ways(tree: Any) -> tuple[int, int]:
    """(ways, number of repetitions without an end) of a sequence."""
    ways, open_ended = 1, 0
    for operation, argument in tree:
        name = str(operation)
        if name in _ATOMS:
            continue
        if name in _REPEATS:
            mine = _ways_of_repeat(argument)
        elif name == "SUBPATTERN":
            mine = _ways(argument[3])
        elif name == "BRANCH":
            branches = [_ways(branch) for branch in argument[1]]
            mine = sum(each[0] for each in branches), max(each[1] for each in branches)
        elif name in ("ASSERT", "ASSERT_NOT"):
            mine = _ways(argument[1])
        else:
            raise PatternError(
                f"the pattern uses {name.lower().replace('_', ' ')}, which is not allowed here"
            )
        ways, open_ended = ways * mine[0], open_ended + mine[1]
    return ways, open_ended


def _ways_of_repeat(argument: Any) -> tuple[int, int]:
    least, most, inside = argument
    ways, open_ended = _ways(inside)
    if most == 1:
        return ways + 1, open_ended
    if ways > 1 or open_ended:
        raise PatternError(
            "a repetition holds another one, an option or a choice, which can take for ever on one line"
        )
    if least == most:
        return 1, 0
    return (1, 1) if int(most) - int(least) > LONGEST_LINE // 8 else (int(most) - int(least) + 1, 0)
