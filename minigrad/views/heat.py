"""A gradient beside the right one, element by element, with the error as colour."""

from __future__ import annotations

import html

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]

MOST_ROWS, MOST_COLUMNS = 8, 10


def errors_of(yours: Array, right: Array) -> npt.NDArray[np.float64]:
    """The errors relative to the largest right value; that of NaN is infinite."""
    largest = float(np.max(np.abs(right), initial=0.0)) or 1.0
    with np.errstate(all="ignore"):
        found = np.abs(yours.astype(np.float64) - right.astype(np.float64)) / largest
    return np.where(np.isnan(found), np.inf, found)


def sentence(yours: Array, right: Array) -> str:
    """The picture in words: how many elements are off, and which one most."""
    if yours.shape != right.shape:
        return f"shape {yours.shape}, where {right.shape} was measured"
    error = errors_of(yours, right)
    off = int(np.sum(error > 1e-5))
    if not off:
        most = float(np.max(error, initial=0.0))
        return f"all {right.size} elements agree (largest relative error {most:.1e})"
    at = np.unravel_index(int(np.argmax(error)), right.shape)
    index = f"[{', '.join(str(int(i)) for i in at)}]" if at else "(the only one)"
    return (
        f"{off} of {right.size} elements differ, most of all {index}:"
        f" yours {yours[at]:.6g}, measured {right[at]:.6g}"
    )


def picture(name: str, yours: Array, right: Array) -> str:
    """A table of the elements as HTML: yours, below it the right one where they differ.

    More axes than two are laid below one another; a large one is cut, and says so.
    """
    if yours.shape != right.shape:
        return ""
    columns = right.shape[-1] if right.ndim else 1
    flat_yours, flat = yours.reshape(-1, columns), right.reshape(-1, columns)
    error = errors_of(yours, right).reshape(-1, columns)
    rows = []
    for y, r, e in zip(flat_yours[:MOST_ROWS], flat, error, strict=False):
        cells = [_cell(a, b, float(c)) for a, b, c in zip(y, r, e, strict=True)][
            :MOST_COLUMNS
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    cut = ""
    if len(flat) > MOST_ROWS or columns > MOST_COLUMNS:
        cut = f"<div>(the first {MOST_ROWS} rows and {MOST_COLUMNS} columns)</div>"
    label = html.escape(f"gradient for {name}: {sentence(yours, right)}")
    return (
        f'<figure style="margin: 0.6em 0" aria-label="{label}">'
        f"<figcaption>gradient for <code>{html.escape(name)}</code></figcaption>"
        '<table style="border-collapse: collapse; margin: 0.2em 0">'
        f"{''.join(rows)}</table>{cut}</figure>"
    )


def _cell(yours: object, right: object, error: float) -> str:
    strength = 0.0 if error <= 1e-5 else 0.25 + 0.5 * min(error, 1.0)
    text = f"{yours:.4g}"
    if strength:
        text = f"≠ {text}<br><small>{right:.4g}</small>"
    return (
        '<td style="border: 1px solid color-mix(in srgb, currentColor 25%,'
        " transparent); padding: 0.15em 0.6em; text-align: right;"
        f" font-family: monospace; background: rgba(213, 94, 0, {strength:.2f})"
        f'" title="yours {yours:.6g}, measured {right:.6g}">{text}</td>'
    )
