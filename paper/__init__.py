"""The paper, reproduced: `python -m paper` makes every table and figure; see paper/README.md."""
