"""All looks by name, and the records in which they say what was seen."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

from minigrad.course.check.probes import (
    batches,
    chains,
    checkers,
    checkpoints,
    clocks,
    devices,
    duals,
    histories,
    kernels,
    layouts,
    lifetimes,
    opinions,
    packing,
    races,
    reviews,
    second_order,
    training,
    traversals,
    walks,
    work,
)

LOOKS: dict[str, Callable[..., Any]] = {
    look.__name__: look
    for look in (
        batches.each_gradient,
        batches.mapped,
        chains.peaks_of_chains,
        checkers.judged,
        checkers.sloped,
        checkpoints.checkpointed,
        clocks.timed,
        kernels.own_bytes,
        kernels.peak_of_conv,
        kernels.peaks_of_conv,
        devices.on_second_device,
        duals.run_programs,
        histories.tell,
        layouts.laid_out,
        lifetimes.gradient_of_a_sum,
        lifetimes.kept_on_ctx,
        lifetimes.left_behind,
        opinions.opinion_on,
        packing.kept,
        packing.stored,
        packing.there_and_back,
        races.raced,
        reviews.reviewed,
        second_order.product_of,
        second_order.stepped,
        training.gathered,
        training.trained,
        training.weighed,
        traversals.traverse,
        walks.walk,
        work.work_of,
    )
}

RECORDS: tuple[type, ...] = tuple(
    [
        record
        for look in LOOKS.values()
        for record in vars(sys.modules[look.__module__]).values()
        if isinstance(record, type) and dataclasses.is_dataclass(record)
        if record.__module__ == look.__module__
    ]
)
"""What the modules of looks define to say it in; it goes through a judge's wall."""
