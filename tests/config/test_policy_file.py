"""The ``[check]`` table: found upwards, checked with clear errors, and described by a JSON Schema."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from irdiff.compile.tables import KEYS
from irdiff.config.check import policy_of, read_policy, schema
from irdiff.config.tables import KernelTable
from irdiff.errors import InputError, UsageError
from irdiff.model.gate import Tolerance
from irdiff.model.policy import Policy

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

FULL = """
[check]
rules = { RES102 = "error", "LAY*" = "off" }
kernels = "attn_*"
exclude = ["attn_debug"]
targets = ["cuda:*"]
estimates = true
require = ["sass"]
baseline = "baseline.txt"
accepted = "accepted.toml"
[check.tolerance]
SIZE101 = { percent = 30 }
[[check.expect]]
code = "MY001"
expect = "sass.registers <= 168"
kernels = ["attn_fwd"]
[[check.override]]
kernels = "attn_bwd*"
rules = { RES102 = "warn" }
tolerance = { RES102 = { absolute = 8 } }
why = "known to be tight"
"""


def policy(text: str, name: str = "irdiff.toml", folder: Path = Path("project")) -> Policy:
    return policy_of(tomllib.loads(text), folder / name)


def test_every_setting_is_read() -> None:
    found = policy(FULL)
    assert found.path == "irdiff.toml"
    assert found.levels == {"RES102": "error", "LAY*": "off"}
    assert (found.selection.kernels, found.selection.exclude) == (("attn_*",), ("attn_debug",))
    assert found.selection.targets == ("cuda:*",)
    assert found.estimates
    assert found.require == ("sass",)
    assert found.tolerances == {"SIZE101": Tolerance(percent=30)}
    assert found.baseline == str(Path("project/baseline.txt"))
    assert found.accepted == str(Path("project/accepted.toml"))
    assert [(each.code, each.text, each.level) for each in found.expectations] == [
        ("MY001", "sass.registers <= 168", "error")
    ]
    (override,) = found.overrides
    assert (override.levels, override.tolerances) == ({"RES102": "warn"}, {"RES102": Tolerance(absolute=8)})
    assert override.where == "irdiff.toml: check.override 1"


def test_without_a_file_every_rule_has_its_default(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert read_policy(None, tmp_path) in (Policy(), read_policy(None, tmp_path.parent))


def test_the_nearest_file_upwards_holds(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "irdiff.toml").write_text('[check.rules]\nRES102 = "error"\n')
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert read_policy(None, inner).levels == {"RES102": "error"}
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.irdiff.check.rules]\nRES102 = "off"\n')
    assert read_policy(None, inner).levels == {"RES102": "off"}
    assert read_policy(tmp_path / "irdiff.toml", inner).levels == {"RES102": "error"}


@pytest.mark.parametrize(
    ("text", "where", "message", "hint"),
    [
        ("[chek]", "irdiff.toml", "no table is called 'chek'", "did you mean check?"),
        ("[check]\nruls = {}", "irdiff.toml: check", "no key is called 'ruls'", "did you mean rules?"),
        ('[check.rules]\nRES102 = "eror"', "irdiff.toml: check.rules", "invalid enum value 'eror'", ""),
        ("[check]\nkernels = 3", "irdiff.toml: check.kernels", "expected `str | array`, got `int`", ""),
        (
            "[check.tolerance]\nRES102 = { percent = -1 }",
            "irdiff.toml: check.tolerance.percent",
            "expected `float` >= 0.0",
            "",
        ),
        (
            "[check.tolerance]\nRES102 = { percents = 1 }",
            "irdiff.toml: check.tolerance",
            "no key is called 'percents'",
            "did you mean percent?",
        ),
        (
            '[[check.expect]]\ncode = "MY001"',
            "irdiff.toml: check.expect 1",
            "object missing required field `expect`",
            "",
        ),
        (
            '[[check.expect]]\ncode = "MY001"\nexpect = "a.b < 1"\n[[check.expect]]\ncode = "MY1"\nexpect = "a.b < 1"',
            "irdiff.toml: check.expect 2.code",
            "expected `str` matching regex",
            "",
        ),
        (
            '[[check.expect]]\ncode = "MY001"\nexpect = "a.b <"',
            "irdiff.toml: check.expect 1",
            "a fact such as sass.registers",
            "kernel.occupancy >= before",
        ),
        (
            '[[check.override]]\nrules = { RES101 = "off" }',
            "irdiff.toml: check.override 1",
            "matches every kernel",
            "name kernels or targets",
        ),
        (
            '[[check.override]]\nkernel = "x"',
            "irdiff.toml: check.override 1",
            "no key is called 'kernel'",
            "did you mean kernels?",
        ),
    ],
)
def test_a_wrong_setting_says_what_and_where(text: str, where: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        policy(text)
    assert caught.value.where == where
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_file_that_is_no_toml_says_so(tmp_path: Path) -> None:
    file = tmp_path / "irdiff.toml"
    file.write_bytes(b"\xff[check")
    with pytest.raises(InputError, match="is no TOML"):
        read_policy(file, tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_policy(tmp_path / "other.toml", tmp_path)


def test_places_in_pyproject_are_named_as_there() -> None:
    with pytest.raises(UsageError) as caught:
        policy("[check]\nruls = {}", "pyproject.toml")
    assert caught.value.where == "pyproject.toml: tool.irdiff.check"


def test_the_schema_accepts_what_is_read_and_refuses_what_is_not() -> None:
    made = schema()
    jsonschema.Draft202012Validator.check_schema(made)
    validator = jsonschema.Draft202012Validator(made)
    validator.validate(tomllib.loads(FULL))
    assert list(validator.iter_errors({"check": {"ruls": {}}}))
    assert list(validator.iter_errors({"check": {"rules": {"RES101": "fatal"}}}))


def test_the_published_schema_is_up_to_date() -> None:
    published = Path(__file__).parents[2] / "docs" / "reference" / "irdiff.toml.schema.json"
    assert json.loads(published.read_text()) == schema(), "run make docs"


def test_the_schema_knows_every_key_of_a_kernel_table() -> None:
    assert set(KernelTable.__struct_fields__) == set(KEYS)
