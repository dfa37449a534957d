"""Internal kernels have no Python wrapper: calling one from Python would crash."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
INTERNAL = {"compiled_internal", "strictly_compiled"}
DECORATORS = {"compiled", *INTERNAL}


def _is_compiled(node: ast.AST, decorators: set[str] = DECORATORS) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(decorator, ast.Name) and decorator.id in decorators for decorator in node.decorator_list
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
        if _is_compiled(node) or (isinstance(node, ast.FunctionDef) and node.name == "evaluate_cells"):
            continue
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            pending.extend(node.body)
        else:
            found |= _names(node)
    return found


def _imported(tree: ast.Module) -> dict[str, set[str]]:
    """Return the names that a file imports from each module of the package."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("manifill"):
            found.setdefault(node.module or "", set()).update(alias.name for alias in node.names)
    return found


def _internal_kernels(tree: ast.Module) -> set[str]:
    """Return functions, not methods: those of a class are found by their names only if these are unusual."""
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _is_compiled(node, INTERNAL)}


def _not_wrapped(tree: ast.Module) -> set[str]:
    """Return the names that a test refers to, except as arguments of ``wrapped``."""
    found: set[str] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "wrapped":
            continue
        if isinstance(node, ast.Name):
            found.add(node.id)
        pending.extend(ast.iter_child_nodes(node))
    return found


def test_internal_kernels_are_called_by_compiled_code_only() -> None:
    source = {path: ast.parse(path.read_text()) for path in (ROOT / "src").rglob("*.py")}
    module_of = {path: ".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in source}
    kernels = {module_of[path]: _internal_kernels(tree) for path, tree in source.items()}
    assert sum(map(len, kernels.values())) > 60
    for path, tree in source.items():
        known = set(kernels[module_of[path]])
        for module, names in _imported(tree).items():
            known |= names & kernels.get(module, set())
        assert not known & _outside_of_compiled_code(tree), path
    for folder in ("tests", "bench"):
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_text())
            imported = _imported(tree).items()
            known = set().union(*(names & kernels.get(module, set()) for module, names in imported))
            assert not known & _not_wrapped(tree), path
