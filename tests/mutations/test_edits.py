"""Mutations keep up with the source: a text that no longer occurs would leave a break untested."""

import shutil
from pathlib import Path

import pytest

from tests.mutations.__main__ import ROOT, apply
from tests.mutations.mutations import MUTATIONS, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_edit_applies_and_its_tests_exist(mutation: Mutation, tmp_path: Path) -> None:
    for edit in mutation.edits:
        target = tmp_path / "src" / "manifill" / edit.file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / "src" / "manifill" / edit.file, target)
    apply(mutation, tmp_path)
    for test in mutation.tests:
        file, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}" in (ROOT / file).read_text()
