"""torch.autograd.anomaly_mode's names: find the forward line of a bad gradient."""

from __future__ import annotations

import warnings

from minigrad import errors
from minigrad.engine.anomaly import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Set anomaly mode, for all threads: from now on, or for a ``with`` block.

    While it is on, each node notes in ``metadata["traceback_"]`` which line made it;
    a backward that raises is preceded by a warning with that line; and with
    ``check_nan`` a NaN in what a node returns is an error.

    Raises: ArgumentTypeError for anything but a bool.
    See: torch ``autograd.set_detect_anomaly``.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly:
    """Anomaly mode for a ``with`` block, with a warning that it is slow.

    See: torch ``autograd.detect_anomaly``.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        warnings.warn(
            errors.message(
                "detect_anomaly",
                "Anomaly Detection has been enabled. This mode will increase the "
                "runtime and should only be enabled for debugging.",
                "take it out when the line is found",
                "13",
            ),
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *error: object) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)
