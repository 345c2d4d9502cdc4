"""The repository is laid out as its documents say."""

import tomllib
from pathlib import Path

import pytest

from uop.dialects import get_all_dialects
from uop.passes import PASSES, get_all_passes

ROOT = Path(__file__).parents[2]
FOLDERS = ("dialects", "rewriting", "passes", "targets", "frontends", "runtime", "tools")
TOP = "uop"


def test_pyproject_lists_every_package() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {
        ".".join(("uop", *init.parent.relative_to(ROOT).parts))
        for folder in FOLDERS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert {*found, TOP} == set(listed)


def test_every_package_is_typed() -> None:
    for folder in (*FOLDERS, TOP):
        for init in (ROOT / folder).rglob("__init__.py"):
            assert (init.parent / "py.typed").exists(), init.parent


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_its_file_docstring_and_lit_test(name: str) -> None:
    cls = get_all_passes()[name]()
    folder, _ = PASSES[name]
    assert cls.name == name
    assert cls.__module__ == f"uop.passes.{folder}.{name.replace('-', '_')}"
    documentation = cls.__dict__.get("__doc__") or ""
    assert len(documentation.split()) > 5, f"{name} has no docstring of its own"
    assert not documentation.startswith(cls.__name__ + "("), f"{name} has only the docstring that dataclass makes"
    assert (ROOT / "test" / "passes" / folder / f"{name}.mlir").exists()


def test_every_pass_file_is_registered() -> None:
    """A lit file has a pass's name, or `<pass>-<what it is about>`."""
    for path in (ROOT / "test" / "passes").rglob("*.mlir"):
        assert any(path.stem == name or path.stem.startswith(f"{name}-") for name in PASSES), f"{path} tests no pass"


@pytest.mark.parametrize("name", get_all_dialects())
def test_every_dialect_has_its_lit_tests(name: str) -> None:
    for kind in ("ops", "invalid"):
        assert (ROOT / "test" / "dialects" / name / f"{kind}.mlir").exists()
