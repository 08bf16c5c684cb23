"""The result of a run of a model: columns by name, with units; tables, files, pictures."""
from __future__ import annotations

import os
import tempfile

import numpy as np

from . import _core
from ._result import OdeResult


class Signal(np.ndarray):
    """A column of a result: an array with a name and a unit. It is a view of the result, not a copy."""

    def __new__(cls, data, name, unit):
        out = np.asarray(data).view(cls)
        out.name, out.unit = name, unit
        return out

    def __array_finalize__(self, other):
        self.name = getattr(other, "name", None)
        self.unit = getattr(other, "unit", None)


class Group:
    """The columns of one body or joint: r.crank.angle."""

    def __init__(self, run, prefix):
        self._run, self._prefix = run, prefix

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._run._named(f"{self._prefix}.{name}")

    def __dir__(self):
        start = self._prefix + "."
        return [n[len(start):].split(".")[0] for n in self._run.columns if n.startswith(start)]

    def __repr__(self):
        return f"<{self._prefix}: {', '.join(dir(self))}>"


def write_aside(path, data):
    """A file that is complete or not there."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, aside = tempfile.mkstemp(dir=folder, prefix=".daedalus-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(aside, 0o666 & ~_umask())
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


class ModelRun(OdeResult):
    """What a run of a model gave: an `OdeResult` whose columns have names and units.

    r["slider.x"] and r.slider.x are the column, a view with `name` and `unit`; `columns` lists all of them: components, sensors,
    reactions. `to_pandas`, `to_xarray`, `to_csv`, `to_hdf5`, `plot`, `report`, `animation` hand it on; in a notebook it shows
    itself.
    """

    def __init__(self, model, core, t, y):
        super().__init__(t=t, y=y)
        self.__dict__["_model"] = model
        self.__dict__["_core"] = core
        self.__dict__["_extra"] = None
        about = model._about
        self.__dict__["units"] = dict(zip(about["names"], about["units"]))
        self.__dict__["units"].update(zip(about["columns"], about["column_units"]))

    @property
    def columns(self):
        """Names of all columns."""
        return list(self.__dict__["units"])

    def column(self, name):
        """A column by its name; also one whose name is that of an entry, as a component "y"."""
        return self._named(name)

    def unit(self, name):
        """The unit of a column."""
        return self.__dict__["units"][name]

    def _derived(self):
        if self.__dict__["_extra"] is None:
            table = self.__dict__["_core"].derived()
            self.__dict__["_extra"] = None if table is None else np.asarray(table).T
        return self.__dict__["_extra"]

    def _named(self, name):
        model = self.__dict__["_model"]
        names, columns = model._about["names"], model._about["columns"]
        if name in names:
            return Signal(dict.__getitem__(self, "y")[names.index(name)], name, self.__dict__["units"][name])
        if name in columns:
            table = self._derived()
            if table is None or table.shape[1] != len(dict.__getitem__(self, "t")):
                raise KeyError(f"{name} is known along the trajectory only; run without t_eval")
            return Signal(table[columns.index(name)], name, self.__dict__["units"][name])
        if any(n.startswith(name + ".") for n in self.columns):
            return Group(self, name)
        raise KeyError(name)

    def __getitem__(self, name):
        return dict.__getitem__(self, name) if dict.__contains__(self, name) else self._named(name)

    def __getattr__(self, name):
        if name in self.__dict__:
            return self.__dict__[name]
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return [*super().__dir__(), *sorted({n.split(".")[0] for n in self.columns})]

    def __reduce__(self):
        return (OdeResult, (dict(self),))

    # ---- Handing it on

    def _table(self):
        """All columns that are known at the points, by name."""
        t = dict.__getitem__(self, "t")
        out = {}
        for name in self.columns:
            try:
                out[name] = self[name]
            except KeyError:
                continue
            if len(out[name]) != len(t):
                del out[name]
        return out

    def to_pandas(self):
        """A pandas.DataFrame with the index t; its `attrs` hold the units."""
        import pandas
        frame = pandas.DataFrame({k: np.asarray(v) for k, v in self._table().items()}, index=pandas.Index(self["t"], name="t"))
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_xarray(self):
        """An xarray.Dataset over t, every variable with its unit."""
        import xarray
        data = {k: ("t", np.asarray(v), {"units": self.unit(k)}) for k, v in self._table().items()}
        return xarray.Dataset(data, coords={"t": ("t", self["t"], {"units": self._model._about["time_unit"] or ""})},
                              attrs={"model": self._model.name, "solver": self["solver"] or ""})

    def to_csv(self, path=None):
        """The trajectory as comma-separated values, as `daedalus run --out` writes it; to a file, or returned."""
        text = self._core.text("csv")
        if path is None:
            return text
        write_aside(path, text.encode())
        return None

    def to_hdf5(self, path):
        """The trajectory as an HDF5 file, as `daedalus run --out FILE.h5` writes it."""
        write_aside(path, self._core.table("x.h5"))

    def to_json(self):
        """The run as the JSON text of `daedalus run --json`."""
        return self._core.text("json")

    def report(self, components=0):
        """The report of `daedalus run`: result, digits, counts."""
        return self._core.text("report", int(components))

    def explain(self):
        """Why a run failed, where, and what to try."""
        return self._core.text("failure")

    def animation(self, path=None):
        """A page that shows the motion of a mechanism; to a file, or returned."""
        page = self._core.text("html")
        if path is None:
            return page
        write_aside(path, page.encode())
        return None

    def _worth_plotting(self):
        names, plot = self._model._about["names"], self._model._about["plot"]
        return [names[i] for i in plot[:8]] or names[:8]

    def plot(self, names=None, ax=None):
        """Draws columns over time with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt
        ax = ax or plt.gca()
        for name in [names] if isinstance(names, str) else names or self._worth_plotting():
            unit = self.unit(name)
            ax.plot(self["t"], self[name], label=f"{name} [{unit}]" if unit else name)
        if self._model._about["log_t"]:
            ax.set_xscale("log")
        ax.set_xlabel(f"t [{self._model._about['time_unit'] or 's'}]" if self._model._about["time_unit"] else "t")
        ax.set_title(self._model.name)
        ax.legend()
        return ax

    def svg(self, names=None, width=640, height=300):
        """A picture of columns over time as SVG text; it needs no other package."""
        from ._html import chart
        names = [names] if isinstance(names, str) else names or self._worth_plotting()
        return chart(np.asarray(self["t"]), [(n, self.unit(n), np.asarray(self[n])) for n in names], width, height,
                     self._model._about["log_t"], self._model._about["time_unit"] or "")

    def _repr_html_(self):
        from ._html import run_html
        return run_html(self)
