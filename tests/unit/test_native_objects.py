"""Code compiled for a newer CPU must not leak to an older one.

An inline C++ library function compiled in a unit with -mavx512f is a *weak* symbol: the linker may keep that
copy for the whole program, and a CPU without AVX-512 then dies in `std::vector`. So the units that are
compiled per instruction set must define no weak symbol at all. Read from the objects of the build tree.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PER_ISA = "*walk_isa*.o"


def objects() -> list[Path]:
    """The per-instruction-set objects of the newest build under build/."""
    trees: dict[Path, list[Path]] = {}
    for path in (ROOT / "build").rglob(PER_ISA):
        trees.setdefault(path.relative_to(ROOT / "build").parts[0], []).append(path)
    return max(trees.values(), key=lambda paths: max(p.stat().st_mtime for p in paths), default=[])


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm, of binutils")
def test_units_per_instruction_set_define_no_weak_symbols() -> None:
    found = objects()
    if not found:
        pytest.skip("no build tree beside the tests (build/ is made by `pip install .`)")
    assert len(found) >= 2, "expected one object per instruction set"
    for path in found:
        done = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True)
        weak = [line for line in done.stdout.splitlines() if re.search(r" [WVu] ", line)]
        assert not weak, f"{path.name}: {weak[:5]}"
