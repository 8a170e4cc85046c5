"""Print the requirements of some extras of pyproject.toml, one per line, without leafgrad itself.

`pip install '.[dev]'` would build the package once more; `pip install -r` of this list does not.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
extras = pyproject["project"]["optional-dependencies"]
for extra in sys.argv[1:]:
    print(*(line for line in extras[extra] if not line.startswith("leafgrad[")), sep="\n")
