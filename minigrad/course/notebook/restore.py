"""Put an exercise back into the form in which it was shipped."""

from __future__ import annotations

from pathlib import Path

from minigrad import _workspace, errors
from minigrad.course.exercises import catalogue as exercises
from minigrad.course.notebook import journal


class Said(str):
    """Text that a notebook shows as it is, without quotes and escapes."""

    def __repr__(self) -> str:
        return str(self)


def reset(exercise_id: str) -> str:
    """Put one exercise back; your attempt is kept in the folder ``attempts``.

    Reload the notebook afterwards: in JupyterLab, File, Reload Notebook from Disk.
    Raises: ArgumentValueError outside a workspace; ExerciseUnknownError.
    """
    name = exercises.load(exercise_id).id
    workspace = _workspace.around(Path.cwd())
    shipped = [] if workspace is None else notebooks_with(workspace, name)
    if workspace is None or not shipped:
        raise errors.ArgumentValueError.at(
            f"reset({name!r})",
            f"{Path.cwd()} lies in no workspace that has this exercise",
            "open the course with: python3 minigrad lab",
        )
    kept = _workspace.reset_section(workspace, shipped[0], name)
    if kept is None:
        return Said(f"{name} is in its shipped form already.")
    journal.note(journal.RESET, name, kept=str(kept.relative_to(workspace)))
    return Said(
        f"{name} is back in its shipped form. Your attempt is kept in\n"
        f"  {kept.relative_to(workspace)}\n"
        "Now reload this notebook: File > Reload Notebook from Disk."
    )


def notebooks_with(workspace: Path, name: str) -> list[Path]:
    """The exercise notebooks that have a section for this exercise."""
    root = workspace / _workspace.SHIPPED
    return [
        path.relative_to(root)
        for path in sorted(root.glob("exercises/*/*.ipynb"))
        if f'"## {name} ' in path.read_text("utf8")
    ]
