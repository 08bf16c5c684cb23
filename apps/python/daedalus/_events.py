"""Events: switching functions with their attributes, as SciPy has them, and actions."""
from __future__ import annotations

from . import _core


class Event:
    """A switching function `when(t, y)`: the event is where it passes zero.

    terminal: True stops the run at the first event, a number at the so many-th. direction: 1 only from minus to plus, -1 only
    from plus to minus, 0 both. action(t, y) returns the state to go on with, or None to leave it. A plain function with the
    attributes `terminal`, `direction`, `action` is the same.

    >>> import daedalus
    >>> bounce = daedalus.Event(lambda t, y: y[0], direction=-1, action=lambda t, y: [0, -0.8 * y[1]])
    >>> r = daedalus.solve_ivp(lambda t, y: [y[1], -9.81], (0, 2), [1, 0], events=bounce)
    >>> [round(float(t), 4) for t in r.t_events[0]]
    [0.4515, 1.174, 1.7519]
    """

    def __init__(self, when, *, terminal=False, direction=0, action=None, name=None):
        self.when = when
        self.terminal = terminal
        self.direction = direction
        self.action = action
        self.__name__ = name or getattr(when, "__name__", "event")

    def __call__(self, *args):
        return self.when(*args)


def as_list(events):
    if events is None:
        return None
    if callable(events):
        return [events]
    events = list(events)
    for i, e in enumerate(events):
        if not callable(e):
            raise TypeError(f"event {i} must be callable, not {type(e).__name__}")
    return events


def name_of(event, i):
    name = getattr(event, "__name__", None) or f"event {i}"
    return f"event {i}" if name == "<lambda>" else str(name)


def core_events(problem, events, empty, is_complex, n):
    """The events as the extension module takes them, or None."""
    if not events:
        return None
    rows = []
    for i, e in enumerate(events):
        terminal = getattr(e, "terminal", None)
        count = 0 if not terminal else int(terminal)
        if count < 0:
            raise ValueError(f"event {i}: `terminal` must be True, False or a positive number")
        direction = getattr(e, "direction", 0) or 0
        rows.append((e, count, (direction > 0) - (direction < 0), name_of(e, i).encode(), getattr(e, "action", None)))
    return _core.events(problem, rows, empty, is_complex, n)
