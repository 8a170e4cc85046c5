"""The bar: who sees one, when it is made, and that it counts over several calls of the core."""

import io
import sys
import types

import pytest

from leafgrad import progress
from leafgrad.errors import InputError


class Terminal(io.StringIO):
    def isatty(self):
        return True


def watch(monkeypatch):
    """A terminal in place of stderr; from the test's own body, as pytest changes stderr after fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_false_is_never_a_bar(monkeypatch):
    watch(monkeypatch)
    with progress.track(False, 10) as bar:
        assert bar is None


def test_auto_is_no_bar_where_nobody_watches(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert progress.start("auto", 10) is None


@pytest.mark.parametrize("stream", [None, "closed"])
def test_auto_survives_a_missing_or_closed_stream(monkeypatch, stream):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", None if stream is None else closed)
    assert progress.start("auto", 10) is None


def test_auto_waits(monkeypatch):
    terminal = watch(monkeypatch)
    with progress.track("auto", 10) as bar:
        bar(5)
        assert bar._bar is None
    assert terminal.getvalue() == ""


def test_auto_shows_after_a_while_and_cleans_up(monkeypatch):
    terminal = watch(monkeypatch)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with progress.track("auto", 10) as bar:
        bar(5)
    assert "5/10" in terminal.getvalue()
    assert bar._bar.disable  # closed


def test_true_shows_at_once_and_anywhere(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.track(True, 7) as bar:
        bar(2)
    assert "2/7" in stream.getvalue()


def test_rows_add_up_over_calls_of_the_core(monkeypatch):
    watch(monkeypatch)
    with progress.track(True, 10) as bar:
        bar(3)
        bar(4)
        bar.advance(4)
        bar(1)
        assert bar._bar.n == 5
        bar(6)
        assert bar._bar.n == 10


def test_the_bar_is_closed_when_the_work_is_stopped(monkeypatch):
    watch(monkeypatch)
    seen = []

    def stopped():
        with progress.track(True, 10) as bar:
            seen.append(bar)
            bar(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert seen[0]._bar.disable


def test_a_notebook_watches(monkeypatch):
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=shell))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress.start("auto", 10) is not None
    assert progress._tqdm().__module__ == "tqdm.std"  # no ipywidgets loaded


@pytest.mark.parametrize("mode", ["always", 1, None, "True"])
def test_another_mode_is_refused(mode):
    with pytest.raises(InputError, match='pass True, False or "auto"'):
        progress.start(mode, 1)
