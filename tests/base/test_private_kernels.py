"""Compiled functions with a leading underscore have no Python wrapper: calling one from Python would crash."""

import ast
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).parents[2]
DECORATORS = {"compiled", "strictly_compiled"}


def _is_compiled(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(decorator, ast.Name) and decorator.id in DECORATORS for decorator in node.decorator_list
    )


def _names(node: ast.AST) -> set[str]:
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    return names | {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute)}


def _outside_of_compiled_code(tree: ast.Module) -> set[str]:
    """Return the names that interpreted code of a module refers to."""
    found: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if _is_compiled(node):
            continue
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            pending.extend(node.body)
        else:
            found |= _names(node)
    return found


def _private_kernels(tree: ast.Module) -> set[str]:
    return {node.name for node in ast.walk(tree) if _is_compiled(node) and node.name.startswith("_")}


def test_private_kernels_are_called_by_compiled_code_only() -> None:
    source = {path: ast.parse(path.read_text()) for path in (ROOT / "src").rglob("*.py")}
    kernels = {path: _private_kernels(tree) for path, tree in source.items()}
    assert sum(map(len, kernels.values())) > 20
    for path, tree in source.items():
        assert not kernels[path] & _outside_of_compiled_code(tree), path
    everywhere = set().union(*kernels.values())
    for folder in ("tests", "bench"):
        for path in (ROOT / folder).rglob("*.py"):
            imported = {
                alias.name
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("manifill")
                for alias in node.names
            }
            assert not everywhere & imported, path
