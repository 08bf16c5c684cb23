"""What a notebook shows: tables and a picture, made of escaped text only."""
from __future__ import annotations

from html import escape

import numpy as np

COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"]
MOST_POINTS = 1500  # of one line


def _number(x):
    if isinstance(x, float):
        return f"{x:.6g}"
    return str(x)


def table_html(columns, rows, most=60):
    head = "".join(f"<th scope='col'>{escape(str(c))}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(_number(x))}</td>" for x in row) + "</tr>" for row in rows[:most])
    more = f"<p>and {len(rows) - most} more rows</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def pairs_html(pairs):
    return "<table>" + "".join(f"<tr><th scope='row' style='text-align:left;white-space:nowrap'>{escape(str(k))}</th><td style='text-align:left'>"
                               f"{escape(_number(v))}</td></tr>" for k, v in pairs if v not in (None, "")) + "</table>"


def _ticks(low, high, most=6):
    if not high > low:
        return [low]
    step = 10 ** np.floor(np.log10((high - low) / most))
    for factor in (1, 2, 5, 10):
        if (high - low) / (factor * step) <= most:
            step *= factor
            break
    return [float(v) + 0.0 for v in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step]


def chart(t, lines, width, height, log_t=False, time_unit=""):
    """Lines over time as SVG; each is (name, unit, values)."""
    keep = np.unique(np.linspace(0, len(t) - 1, min(len(t), MOST_POINTS)).astype(int)) if len(t) else np.array([], dtype=int)
    t = t[keep]
    x = np.log10(np.maximum(t, t[t > 0].min() if (t > 0).any() else 1e-300)) if log_t else t
    values = [np.asarray(v)[keep] for _, _, v in lines]
    finite = np.concatenate([v[np.isfinite(v)] for v in values] or [np.zeros(0)])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if high == low:
        low, high = low - 1, high + 1
    left, right, top, bottom = 64, 160, 12, 34
    w, h = width - left - right, height - top - bottom
    x0, x1 = (float(x.min()), float(x.max())) if len(x) else (0.0, 1.0)
    span = x1 - x0 or 1.0

    def px(v):
        return left + (v - x0) / span * w

    def py(v):
        return top + (high - v) / (high - low) * h
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}' role='img' "
           f"font-family='sans-serif' font-size='11'><title>{escape(', '.join(n for n, _, _ in lines))} over time</title>"
           f"<rect x='{left}' y='{top}' width='{w}' height='{h}' fill='none' stroke='#888'/>"]
    for v in _ticks(low, high):
        out.append(f"<line x1='{left}' x2='{left + w}' y1='{py(v):.1f}' y2='{py(v):.1f}' stroke='#ddd'/>"
                   f"<text x='{left - 6}' y='{py(v) + 4:.1f}' text-anchor='end' fill='currentColor'>{v:g}</text>")
    for v in _ticks(x0, x1):
        label = f"1e{v:g}" if log_t else f"{v:g}"
        out.append(f"<line x1='{px(v):.1f}' x2='{px(v):.1f}' y1='{top + h}' y2='{top + h + 4}' stroke='#888'/>"
                   f"<text x='{px(v):.1f}' y='{top + h + 16}' text-anchor='middle' fill='currentColor'>{label}</text>")
    out.append(f"<text x='{left + w / 2:.0f}' y='{height - 4}' text-anchor='middle' fill='currentColor'>"
               f"t{f' [{escape(time_unit)}]' if time_unit else ''}</text>")
    dashes = ["", "6 3", "2 2", "8 3 2 3"]
    for k, ((name, unit, _), v) in enumerate(zip(lines, values)):
        color, dash = COLORS[k % len(COLORS)], dashes[k // len(COLORS) % 4] or ["", "6 3", "2 2"][k % 3]
        pieces, piece = [], []
        for a, b in zip(x, v):
            if np.isfinite(b):
                piece.append(f"{px(a):.1f},{py(b):.1f}")
            elif piece:
                pieces.append(piece)
                piece = []
        for points in [*pieces, piece]:
            if points:
                out.append(f"<polyline fill='none' stroke='{color}' stroke-width='1.5' stroke-dasharray='{dash}' "
                           f"points='{' '.join(points)}'/>")
        y = top + 10 + 16 * k
        text = f"{name} [{unit}]" if unit else name
        out.append(f"<line x1='{left + w + 8}' x2='{left + w + 28}' y1='{y}' y2='{y}' stroke='{color}' stroke-width='1.5' "
                   f"stroke-dasharray='{dash}'/><text x='{left + w + 33}' y='{y + 4}' fill='currentColor'>{escape(text)}</text>")
    out.append("</svg>")
    return "".join(out)


def model_html(model):
    a = model._about
    rows = [("model", model.name), ("title", a["title"]), ("kind", f"{a['kind']}, n = {a['n']}, index {a['index']}"),
            ("interval", f"{a['t0']:g} .. {a['t_end']:g} {a['time_unit'] or ''}"),
            ("parameters", ", ".join(f"{k} = {v}" for k, v in model.parameters.items()))]
    return pairs_html(rows + [("warning", w) for w in a["warnings"]])


def run_html(run):
    model = run._model
    stats = run["stats"]
    rows = [("model", model.name), ("solver", run["solver"]), ("formulation", run["formulation"]), ("reason", run["reason"]),
            ("result", run["message"]), ("steps", f"{stats['accepted']} accepted, {stats['rejected']} rejected"),
            ("f, Jacobians, LU", f"{stats['f']}, {stats['jac']}, {stats['lu']}"),
            ("CPU time", f"{run['cpu_seconds']:.3g} s"),
            ("digits", f"scd {run['scd']:.2f}, mescd {run['mescd']:.2f}" if np.isfinite(run["scd"]) else ""),
            ("drift", f"{run['drift']['position']:.2g} m, {run['drift']['velocity']:.2g} m/s" if run["drift"] else ""),
            ("energy balance", f"{run['energy']['largest']:.2g} J" if run["energy"] else ""),
            ("events", ", ".join(f"{name} at {t:.6g}" for t, name, _ in run["events"][:8]))]
    parts = [pairs_html(rows)]
    if len(run["t"]) > 1:
        parts.append(run.svg())
    if model._about["is_mechanism"] and len(run["t"]) > 1 and len(run["t"]) <= 5000:
        try:
            page = escape(run.animation(), quote=True)
            parts.append(f"<iframe srcdoc=\"{page}\" sandbox='allow-scripts' title='animation' width='640' height='420' "
                         "style='border:1px solid #ccc'></iframe>")
        except ValueError:
            pass
    return "<div>" + "".join(parts) + "</div>"
