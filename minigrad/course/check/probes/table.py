"""All looks by name, and the records in which they say what was seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.course.check.probes.batches import (
    Mapped,
    each_gradient,
    mapped,
)
from minigrad.course.check.probes.chains import peaks_of_chains
from minigrad.course.check.probes.checkers import Judged, Sloped, judged, sloped
from minigrad.course.check.probes.checkpoints import Checkpointed, checkpointed
from minigrad.course.check.probes.clocks import (
    Pace,
    Timed,
    timed,
)
from minigrad.course.check.probes.convolutions import peak_of_conv
from minigrad.course.check.probes.devices import Moved, on_second_device
from minigrad.course.check.probes.duals import Dual, run_programs
from minigrad.course.check.probes.histories import Ending, tell
from minigrad.course.check.probes.layouts import Laid, laid_out
from minigrad.course.check.probes.lifetimes import (
    Left,
    gradient_of_a_sum,
    kept_on_ctx,
    left_behind,
)
from minigrad.course.check.probes.opinions import Opinion, opinion_on
from minigrad.course.check.probes.packing import (
    Packed,
    Stored,
    stored,
    there_and_back,
)
from minigrad.course.check.probes.races import Raced, raced
from minigrad.course.check.probes.reviews import Reviewed, reviewed
from minigrad.course.check.probes.second_order import (
    Product,
    Step,
    product_of,
    stepped,
)
from minigrad.course.check.probes.training import (
    Gradient,
    Trained,
    Weighed,
    gathered,
    trained,
    weighed,
)
from minigrad.course.check.probes.traversals import Program, Traversal, traverse
from minigrad.course.check.probes.walks import Graph, Walk, walk
from minigrad.course.check.probes.work import Work, work_of

LOOKS: dict[str, Callable[..., Any]] = {
    look.__name__: look
    for look in (
        walk,
        traverse,
        tell,
        left_behind,
        gradient_of_a_sum,
        kept_on_ctx,
        opinion_on,
        peaks_of_chains,
        run_programs,
        timed,
        peak_of_conv,
        raced,
        there_and_back,
        stored,
        checkpointed,
        judged,
        sloped,
        product_of,
        stepped,
        mapped,
        each_gradient,
        on_second_device,
        laid_out,
        reviewed,
        work_of,
        trained,
        weighed,
        gathered,
    )
}

RECORDS = (
    Graph,
    Walk,
    Program,
    Traversal,
    Ending,
    Left,
    Opinion,
    Dual,
    Timed,
    Pace,
    Raced,
    Packed,
    Stored,
    Checkpointed,
    Judged,
    Sloped,
    Product,
    Step,
    Mapped,
    Moved,
    Laid,
    Reviewed,
    Work,
    Trained,
    Weighed,
    Gradient,
)
