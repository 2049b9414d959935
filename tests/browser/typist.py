"""A learner without a mouse: moves, writes, chooses and runs by the keyboard alone."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.laboratory import Lab, Notebook

ACTIVE = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"


class Typist:
    """Works in an open notebook with the keyboard and nothing else."""

    def __init__(self, book: Notebook) -> None:
        self.book, self.page = book, book.page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def go_to(self, index: int) -> None:
        """From wherever one is, to a cell, by the arrow keys.

        They pass over a collapsed cell: to that leads Shift+Enter in the one above.
        """
        if "hide-input" in self.book.cells()[index]["tags"]:
            self.go_to(index - 1)
            self.press("Shift+Enter")
            self.book.wait_until_idle()
            assert self.page.evaluate(ACTIVE) == index
            return
        self.press("Escape")
        for _ in range(200):
            here = self.page.evaluate(ACTIVE)
            if here == index:
                return
            self.press("ArrowDown" if here < index else "ArrowUp")
        raise AssertionError(f"cell {index} cannot be reached")

    def run(self, index: int) -> None:
        self.go_to(index)
        self.press("Control+Enter")
        self.book.wait_until_idle()

    def write(self, index: int, source: str) -> None:
        """Replace what a cell holds, and run it."""
        self.go_to(index)
        self.press("Enter", "ControlOrMeta+a")
        self.page.keyboard.insert_text(source)
        self.press("Escape", "Control+Enter")
        self.book.wait_until_idle()
        assert self.book.cells()[index]["source"] == source

    def cell_with(self, text: str) -> int:
        found = [i for i, c in enumerate(self.book.cells()) if text in c["source"]]
        assert found, f"no cell has {text!r}"
        return found[0]

    def tab_to(self, what: str) -> None:
        """Tab on until the part with this text or value has the focus."""
        for _ in range(60):
            self.press("Tab")
            if what in self.focused():
                return
        raise AssertionError(f"Tab never came to {what!r}")

    def focused(self) -> str:
        text: str = self.page.evaluate(
            "() => { const at = document.activeElement;"
            " const label = at.closest('label')?.innerText ?? '';"
            " return `${at.tagName} ${at.type ?? ''} ${label} ${at.innerText ?? ''}`"
            " + ` ${at.placeholder ?? ''} ${at.ariaLabel ?? ''}`; }"
        )
        return text

    def choose(self, index: int, choices: list[str]) -> None:
        """Answer a form, question by question, and commit."""
        self.run(index)
        self.book.element(index).wait_for_selector("button:has-text('Commit')")
        for choice in choices:
            self.tab_to("radio")
            self.pick(choice)
        self.commit(index)

    def pick(self, choice: str) -> None:
        """The arrow keys go round the choices of one question."""
        self.press("Space")
        for _ in range(12):
            if choice in self.focused():
                return
            self.press("ArrowDown")
        raise AssertionError(f"no choice {choice!r}")

    def commit(self, index: int) -> None:
        self.tab_to("Commit")
        self.press("Space")
        self.book.wait_until_idle()

    def state(self, index: int) -> str:
        panel = self.book.element(index).wait_for_selector("[data-state]")
        assert panel is not None
        return panel.get_attribute("data-state") or ""

    def checked(self, name: str) -> str:
        """Run the check of an exercise; the state it shows."""
        index = self.cell_with(f'check("{name}"')
        self.run(index)
        return self.state(index)


def opened(page: Page, lab: Lab, path: str) -> Typist:
    typist = Typist(Notebook(page, lab, path))
    typist.run(
        next(i for i, c in enumerate(typist.book.cells()) if c["type"] == "code")
    )
    return typist
