"""The command line: `leafgrad demo`.

The package itself needs neither typer nor scikit-learn, so both are imported here only when a command
runs, and a missing one ends in one sentence that says what to install, not in a traceback.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def _need(*modules: str) -> None:
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        names = " and ".join("scikit-learn" if module == "sklearn" else module for module in missing)
        sys.exit(f"leafgrad: this command needs {names}. Install with: pip install 'leafgrad[all]'")


def _app() -> typer.Typer:
    import typer

    app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

    def show_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"leafgrad {version('leafgrad')}")
            raise typer.Exit

    show = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version.")

    # The callback keeps `demo` a command of its own while it is the only one.
    @app.callback()
    def _leafgrad(
        _version: bool = show,
    ) -> None:
        """Exact, fast explanations of tree models."""

    @app.command()
    def demo() -> None:
        """Train models on data that ships with scikit-learn, and explain them."""
        _need("sklearn", "pandas")
        from leafgrad.demo import demo as run

        run()

    return app


def main() -> None:
    """Run the command line; the entry point of the `leafgrad` script."""
    _need("typer")
    _app()(prog_name="leafgrad")
