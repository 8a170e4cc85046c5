"""The tables, one file each."""
