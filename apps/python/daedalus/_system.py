"""Systems of functions: what the user gives becomes the description that the library takes.

Nothing is computed here: arrays are brought into the layout of the library, functions are told apart (Python or compiled), and
options get the names of the library.
"""
from __future__ import annotations

import ctypes
import warnings

import numpy as np

from . import _core

ODE, DAE, IDE, MECHANICAL = range(4)
DENSE, BANDED, SPARSE, DIAGONAL = range(4)

SMALL = 50  # a sparse Jacobian of fewer equations is handed over as a dense one
EPS = np.finfo(float).eps


# ---- Numbers --------------------------------------------------------------------------------------------------------


def empty_real(n):
    return np.empty(n)


def empty_column(n):
    return np.empty((n, 1))


def empty_complex(n):
    return np.empty(n // 2, dtype=complex)


def empty_complex_column(n):
    return np.empty((n // 2, 1), dtype=complex)


def _numbers(count):
    return "1 number" if count == 1 else f"{count} numbers"


def vector(result, rows, cols, what, t, is_complex):
    """The numbers of a result that the extension module could not read as it is."""
    if hasattr(result, "toarray"):
        result = result.toarray()
    if result is None:
        raise TypeError(f"{what} returned None at t = {t:.10g}; is a return missing?")
    try:
        x = np.ascontiguousarray(result, dtype=complex if is_complex else float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} returned at t = {t:.10g} what cannot be read as "
                        f"{'complex ' if is_complex else ''}numbers: {error}") from None
    if cols:
        if x.shape != (rows, cols):
            raise ValueError(f"{what} returned an array of shape {x.shape} at t = {t:.10g}; ({rows}, {cols}) is needed")
        return x
    if x.size != rows:
        raise ValueError(f"{what} returned {_numbers(x.size)} at t = {t:.10g}; {rows} "
                         f"{'is' if rows == 1 else 'are'} needed")
    return x.reshape(-1)


def as_state(y, name="y0"):
    """A vector of doubles or of complex numbers."""
    y = np.array(y, copy=True)
    if y.dtype == object:
        raise TypeError(f"`{name}` must be numbers")
    if not (np.issubdtype(y.dtype, np.number) or y.dtype == bool):
        raise TypeError(f"`{name}` must be numbers, not {y.dtype}")
    y = y.astype(complex if np.issubdtype(y.dtype, np.complexfloating) else float)
    if y.ndim != 1:
        raise ValueError(f"`{name}` must be 1-dimensional.")
    if not np.isfinite(y).all():
        bad = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"All components of the initial state `{name}` must be finite; component {bad} is {y[bad]}.")
    return y


def ints(x):
    return np.ascontiguousarray(x, dtype=np.int32)


# ---- Functions ------------------------------------------------------------------------------------------------------


def address_of(data):
    """Address of the user data of a compiled function: None, an address, an array or a ctypes object."""
    if data is None:
        return 0, None
    if isinstance(data, int):
        return data, None
    if isinstance(data, np.ndarray):
        return data.ctypes.data, data
    if isinstance(data, ctypes._Pointer):
        return ctypes.cast(data, ctypes.c_void_p).value or 0, data
    if isinstance(data, ctypes.c_void_p):
        return data.value or 0, data
    return ctypes.addressof(data), data


def as_function(fn, user=None, what="fun", arguments=None):
    """A Python callable as it is; a compiled function as (address, user, object to keep)."""
    if fn is None:
        return None
    if isinstance(fn, int) and not isinstance(fn, bool):
        place, keep = address_of(user)
        return (fn, place, keep)
    if isinstance(fn, ctypes._CFuncPtr):
        place, keep = address_of(user)
        return (ctypes.cast(fn, ctypes.c_void_p).value or 0, place, (fn, keep))
    if isinstance(fn, tuple) and hasattr(fn, "function") and hasattr(fn, "user_data"):  # scipy.LowLevelCallable
        address, place, signature = _core.capsule(tuple.__getitem__(fn, 0))
        if arguments and signature and signature.count(",") + 1 != arguments:
            raise ValueError(f"{what}: the compiled function has the signature {signature}; {arguments} arguments are "
                             "needed, as in int f(double t, const double *y, double *f, void *user)")
        if user is not None:
            place, keep = address_of(user)
            return (address, place, (fn, keep))
        return (address, place, fn)
    if hasattr(fn, "address") and hasattr(fn, "native_name"):  # numba.cfunc
        place, keep = address_of(user)
        return (fn.address, place, (fn, keep))
    if not callable(fn):
        raise TypeError(f"`{what}` must be callable, an address or a compiled function, not {type(fn).__name__}")
    return fn


def is_compiled(fn):
    return isinstance(fn, tuple)


# ---- Matrices -------------------------------------------------------------------------------------------------------


def is_sparse(x):
    return hasattr(x, "tocsc")


def csc(x):
    x = x.tocsc()
    if not x.has_sorted_indices:
        x = x.sorted_indices()
    return x


def mass_matrix(mass, n):
    """Entries `mass`, `mass_pattern` of a description: a vector is a diagonal."""
    if mass is None:
        return {}
    if is_sparse(mass):
        m = csc(mass)
        if m.shape != (n, n):
            raise ValueError(f"the mass matrix has the shape {m.shape}; ({n}, {n}) is needed")
        return {"mass": np.ascontiguousarray(m.data, dtype=float),
                "mass_pattern": (SPARSE, 0, 0, ints(m.indptr), ints(m.indices))}
    m = np.asarray(mass, dtype=float)
    if m.shape == (n,):
        return {"mass": np.ascontiguousarray(m), "mass_pattern": (DIAGONAL, 0, 0, None, None)}
    if m.shape != (n, n):
        raise ValueError(f"the mass matrix has the shape {m.shape}; ({n}, {n}) is needed, or ({n},) for a diagonal")
    return {"mass": np.ascontiguousarray(m.T).reshape(-1), "mass_pattern": (DENSE, 0, 0, None, None)}


class PatternGrew(Exception):
    """A sparse Jacobian has an entry where it had none at the start."""

    def __init__(self, pattern):
        super().__init__("the pattern of the Jacobian grew")
        self.pattern = pattern


def _real_form(J):
    """A complex matrix as the matrix of real and imaginary parts side by side."""
    if is_sparse(J):
        from scipy.sparse import kron
        J = J.tocsc()
        return kron(J.real, np.eye(2)).tocsc() + kron(J.imag, np.array([[0, -1], [1, 0]])).tocsc()
    J = np.asarray(J)
    return np.kron(J.real, np.eye(2)) + np.kron(J.imag, np.array([[0, -1], [1, 0]]))


def _in_pattern(J, pattern):
    """The values of a sparse matrix at the places of a pattern."""
    J = csc(J)
    J.sum_duplicates()
    if J.nnz == pattern.nnz and np.array_equal(J.indices, pattern.indices) and np.array_equal(J.indptr, pattern.indptr):
        return np.asarray(J.data, dtype=float)
    ones = J.copy()
    ones.data = np.ones(len(J.data))
    union = csc(ones + pattern)
    if union.nnz != pattern.nnz:
        raise PatternGrew(union)
    n = pattern.shape[0]
    columns = np.repeat(np.arange(n), np.diff(pattern.indptr))
    places = columns * n + pattern.indices
    mine = np.repeat(np.arange(n), np.diff(J.indptr)) * n + J.indices
    out = np.zeros(pattern.nnz)
    out[np.searchsorted(places, mine)] = J.data
    return out


def _pattern_of(sparsity, n):
    from scipy.sparse import csc_matrix
    p = csc_matrix(sparsity) if not is_sparse(sparsity) else csc(sparsity).copy()
    if p.shape != (n, n):
        raise ValueError(f"`jac_sparsity` has the shape {p.shape}; ({n}, {n}) is needed")
    p.data = np.ones(len(p.data))
    p.sum_duplicates()
    return csc(p)


class Jacobian:
    """What is known of the Jacobian: entries for a description, and whether it is constant."""

    def __init__(self, jac, n, sample, *, sparsity=None, lband=None, uband=None, is_complex=False, user=None):
        self.n = n
        self.constant = False
        self.entries = {"jac_rows": n}
        self.pattern = None
        fn = jac
        if jac is not None and not callable(jac) and not isinstance(jac, (int, tuple)):
            if not is_sparse(jac):
                jac = np.asarray(jac)
                if jac.ndim != 2:
                    raise ValueError("`jac` must be a matrix, a function or a compiled function")
            rows = jac.shape[0]
            expected = n // 2 if is_complex else n
            if jac.shape != (expected, expected):
                raise ValueError(f"`jac` is expected to have shape {(expected, expected)}, but actually has {jac.shape}.")
            del rows
            constant = _real_form(jac) if is_complex else jac
            self.constant = True

            def fn(*_):
                return constant
        compiled = as_function(fn, user, "jac", 4) if fn is not None else None
        if (lband is not None or uband is not None) and not is_complex:
            lower, upper = int(lband or 0), int(uband or 0)
            self.entries["pattern"] = (BANDED, lower, upper, None, None)
            self.entries["jac_rows"] = lower + upper + 1
        if sparsity is not None:
            p = _pattern_of(sparsity, n // 2 if is_complex else n)
            if is_complex:
                p = _pattern_of(_real_form(p + 1j * p), n)
            self._use(p)
        if compiled is None or is_compiled(compiled):
            self.entries["jac"] = compiled
            return
        if is_complex and not self.constant:
            given = fn

            def fn(*a):
                return _real_form(given(*a))
        if sample is not None and self.pattern is None and "pattern" not in self.entries:
            first = sample(fn)
            if is_sparse(first) and n > SMALL:
                self._use(_pattern_of(first, n))
        self._entry(fn)

    def _use(self, pattern):
        self.pattern = pattern
        self.entries["pattern"] = (SPARSE, 0, 0, ints(pattern.indptr), ints(pattern.indices))
        self.entries["jac_values"] = pattern.nnz

    def _entry(self, fn):
        pattern = self.pattern
        if pattern is None:
            self.entries["jac"] = fn
            return
        from scipy.sparse import csc_matrix

        def values(*a):
            J = fn(*a)
            return _in_pattern(J if is_sparse(J) else csc_matrix(J), pattern)
        self.entries["jac"] = values


# ---- Options --------------------------------------------------------------------------------------------------------

# What SciPy calls its methods, and ours that is the same or takes its place.
METHODS = {"RK45": "dopri5", "RK23": "bs23", "DOP853": "dop853", "Radau": "radau5", "BDF": "vode", "LSODA": "lsoda"}


# Which part of the tolerances makes ours as accurate as SciPy's of that name, in SciPy's tests; ours. radau5 works inside with
# 0.1 rtol^(2/3), [RADAU], which SciPy's Radau does not: at 1e-3 that is the same, at tighter tolerances less accurate.
PART = {"Radau": lambda rtol: np.minimum(1, (rtol / 1e-3) ** 0.25), "BDF": lambda rtol: 0.4}


def scipy_tolerances(method, options, constant_jacobian):
    """Tolerances of SciPy's methods mean what they mean there: errors are not larger than those of SciPy's method."""
    if method == "BDF" and constant_jacobian:
        options["method"] = "mebdfdae"  # more accurate than vode, and its further Jacobians cost nothing here
        return
    if method not in PART:
        return
    defaults = {o["name"]: o["value"] for o in _core.options()}
    part = PART[method](np.min(options.get("rtol_vec", options.get("rtol", defaults["rtol"]))))
    for name in ("rtol", "atol"):
        if name + "_vec" in options:
            options[name + "_vec"] = part * options[name + "_vec"]
        else:
            options[name] = float(part * options.get(name, defaults[name]))


def method_name(method):
    """Our name of a method: a name of ours or of SciPy's, or one of SciPy's classes."""
    if isinstance(method, type):
        method = getattr(method, "daedalus_method", method.__name__)
    if not isinstance(method, str):
        raise ValueError(f"`method` must be the name of a method, not {method!r}")
    return METHODS.get(method, method)


_known = {}


def method_info(name):
    if not _known:
        _known.update({m["name"]: m for m in _core.methods()})
    return _known.get(name)


def is_explicit(method):
    info = method_info(method)
    return info is not None and not info["implicit"]


def tolerances(rtol, atol, n, is_complex=False):
    """Entries rtol, atol, rtol_vec, atol_vec of the options."""
    out = {}
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is None:
            continue
        v = np.asarray(value, dtype=float)
        if np.isnan(v).any():
            raise ValueError(f"`{name}` must not be NaN.")
        if (v < 0).any():
            raise ValueError(f"`{name}` must be positive.")
        if name == "rtol" and (v < 100 * EPS).any():
            warnings.warn("At least one element of `rtol` is too small. "
                          f"Setting `rtol = np.maximum(rtol, {100 * EPS})`.", stacklevel=4)
            v = np.maximum(v, 100 * EPS)
        if v.ndim == 0:
            out[name] = float(v)
            continue
        count = n // 2 if is_complex else n
        if v.shape != (count,):
            raise ValueError(f"`{name}` has wrong shape: {v.shape}; a number or ({count},) is needed")
        if count:
            out[name + "_vec"] = np.ascontiguousarray(np.repeat(v, 2) if is_complex else v)
    return out


def step_options(first_step, max_step, min_step, span):
    out = {}
    if first_step is not None:
        if first_step <= 0:
            raise ValueError("`first_step` must be positive.")
        if first_step > abs(span):
            raise ValueError("`first_step` exceeds bounds.")
        out["h0"] = float(first_step)
    if max_step is not None:
        if max_step <= 0:
            raise ValueError("`max_step` must be positive.")
        if np.isfinite(max_step):
            out["h_max"] = float(max_step)
    if min_step:
        if min_step < 0:
            raise ValueError("`min_step` must not be negative.")
        out["h_min"] = float(min_step)
    return out


def further_options(options):
    """Options with the names of the library; arrays as it wants them."""
    out = dict(options)
    if out.get("discontinuity") is not None:
        d = np.ascontiguousarray(np.atleast_1d(out["discontinuity"]), dtype=float)
        if len(d):
            out["discontinuity"] = d
        else:
            del out["discontinuity"]
    if out.get("nonnegative") is not None:
        out["nonnegative"] = [int(i) for i in np.atleast_1d(out["nonnegative"])]
    if callable(out.get("log")) and "log_level" not in out:
        out["log_level"] = 3
    return {k: v for k, v in out.items() if v is not None}
