"""A bar on standard error."""
from __future__ import annotations

import sys
import time


class bar:
    """Draws how far a run has come; `close` ends its line."""

    def __init__(self, stream=None, width=30):
        self.stream = stream or sys.stderr
        self.width = width
        self.begin = time.monotonic()
        self.first = None
        self.drawn = False

    def __call__(self, t, t_end):
        if self.first is None:
            self.first = t
            return False
        span = t_end - self.first
        part = 1.0 if span == 0 else min(1.0, max(0.0, (t - self.first) / span))
        used = time.monotonic() - self.begin
        rest = used * (1 - part) / part if part > 0 else float("inf")
        full = round(part * self.width)
        self.stream.write(f"\r[{'#' * full}{'.' * (self.width - full)}] {100 * part:3.0f} %  t = {t:.6g}  "
                          f"{used:.1f} s, {rest:.0f} s to go ")
        self.stream.flush()
        self.drawn = True
        return False

    def close(self):
        if self.drawn:
            self.stream.write("\n")
            self.stream.flush()
            self.drawn = False
