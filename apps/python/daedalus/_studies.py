"""What many runs say together: comparisons, work-precision, sweeps."""
from __future__ import annotations

import concurrent.futures
import csv
import io
import os
import threading

import numpy as np


def sweep_lines(given, sign, what):
    """Lines of a design: {"mu": [1, 2]} or {"mu": "1:10:5"} as "mu=1,2"; texts as they are."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, dict):
        return [f"{k}{sign}{v}" if isinstance(v, str) else f"{k}{sign}" + ",".join(
            x if isinstance(x, str) else repr(float(x)) for x in v) for k, v in given.items()]
    if all(isinstance(x, str) for x in given):
        return list(given)
    raise TypeError(f"`{what}` must be a dict, a text or a list of texts")


class Table:
    """Rows of a study: a sequence of dicts, whose columns are arrays by name."""

    def __init__(self, model, rows):
        self.model, self.rows = model, list(rows)

    @property
    def columns(self):
        return list(self.rows[0]) if self.rows else []

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, key):
        return np.array([r[key] for r in self.rows]) if isinstance(key, str) else self.rows[key]

    def to_pandas(self):
        """A pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(self.rows)

    def to_csv(self, path=None):
        """Comma-separated values; to a file, or returned."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([repr(v) if isinstance(v, float) else v for v in r.values()] for r in self.rows)
        if path is None:
            return out.getvalue()
        from ._run import write_aside
        write_aside(path, out.getvalue().encode())
        return None

    def __repr__(self):
        return f"<{type(self).__name__} of {self.model.name}: {len(self)} rows, columns {', '.join(self.columns)}>"

    def _repr_html_(self):
        from ._html import table_html
        return table_html(self.columns, [[r[c] for c in self.columns] for r in self.rows])


class Comparison(Table):
    """One row per way to integrate a problem."""


class WorkPrecision(Table):
    """One row per run: solver, tolerances, digits, work."""

    def lines(self, work="cpu_seconds", digits="scd"):
        """(digits, work) of each solver, of the runs that reached the end."""
        out = {}
        for r in self.rows:
            if r["status"] in ("ok", "event") and np.isfinite(r[digits]):
                out.setdefault(r["solver"], []).append((r[digits], r[work]))
        return {k: np.array(v).T for k, v in out.items()}

    def plot(self, work="cpu_seconds", digits="scd", ax=None):
        """Draws digits against work with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt
        ax = ax or plt.gca()
        for solver, (d, w) in self.lines(work, digits).items():
            ax.semilogy(d, w, "o-", label=solver)
        ax.set_xlabel(digits)
        ax.set_ylabel({"cpu_seconds": "CPU time [s]"}.get(work, work))
        ax.set_title(self.model.name)
        ax.legend()
        return ax


class Sweep(Table):
    """The runs of a sweep in the order of the design: parameters, status, end values, counts."""

    def __init__(self, model, core):
        super().__init__(model, [])
        self._core = core
        self.count, self.width = core.count()
        names, units = core.header().splitlines()[:2]
        self._names = next(csv.reader([names]))
        self.units = dict(zip(self._names, next(csv.reader([units.lstrip("# ")]))))
        self._text = {}
        self.interrupted = False

    @property
    def columns(self):
        return list(self._names)

    def _keep(self, line, text):
        row = {}
        for name, word in zip(self._names, next(csv.reader([line]))):
            try:
                row[name] = float(word)
            except ValueError:
                row[name] = word
        self._text[int(row[self._names[0]])] = (row, text)

    def indices(self):
        """How much of the variance of each component at the end each parameter makes; for sweeps over `saltelli` points.

        A dict of dicts: indices()["y1"]["mu"] is {"first": .., "total": .., "local": ..}; see docs/sweeps.md.
        """
        text = self._core.header() + "".join(self._text[k][1] for k in sorted(self._text))
        out = {}
        for quantity, parameter, first, total, local in self._core.indices(text):
            out.setdefault(quantity, {})[parameter] = {"first": first, "total": total, "local": local}
        return out

    def _resume(self, out):
        """Runs that a file of an earlier sweep has; a file of another sweep is refused."""
        if not os.path.exists(out):
            return
        with open(out, encoding="utf-8", newline="") as file:
            text = file.read()
        head = self._core.header()
        if not text.startswith(head):
            raise ValueError(f"{out} is not of this sweep; name another file, or remove it")
        lines = text[len(head):].splitlines(keepends=True)
        for line in lines:
            if line.endswith("\n"):  # a part of a line is the rest of an interruption
                self._keep(line.rstrip("\n"), line)

    def go(self, jobs, out=None, progress=None):
        """Runs what is left, on so many threads."""
        from ._progress import bar
        if out:
            self._resume(out)
        todo = [k for k in range(self.count) if k not in self._text]
        show = bar() if progress is True else progress
        lock = threading.Lock()
        file = None
        if out:
            complete = self._core.header() + "".join(self._text[k][1] for k in sorted(self._text))
            from ._run import write_aside
            write_aside(out, complete.encode())
            file = open(out, "a", encoding="utf-8", newline="")

        def one(k):
            line = self._core.run(k)
            if line is None:
                return
            with lock:
                self._keep(line.rstrip("\n"), line)
                if file:
                    file.write(line)
                    file.flush()
                if show and show(float(len(self._text)), float(self.count)):
                    self._core.stop()
                    self.interrupted = True
        pool = concurrent.futures.ThreadPoolExecutor(max(1, jobs))
        try:
            for future in [pool.submit(one, k) for k in todo]:
                future.result()
        except BaseException:
            self.interrupted = True
            self._core.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            if file:
                file.close()
            if hasattr(show, "close"):
                show.close()
            self.rows = [self._text[k][0] for k in sorted(self._text)]
        if out and not self.interrupted:
            from ._run import write_aside
            write_aside(out, (self._core.header() + "".join(self._text[k][1] for k in sorted(self._text))).encode())
        return self

    def to_csv(self, path=None):
        """As `daedalus sweep` writes it: names, units, one line per run."""
        text = self._core.header() + "".join(self._text[k][1] for k in sorted(self._text))
        if path is None:
            return text
        from ._run import write_aside
        write_aside(path, text.encode())
        return None
