"""Pages as a person sees them: opened in a browser that notes everything that happens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.sizes import slow

WIDTHS = (375, *map(slow, (800, 1600)))
PATIENCE_MS = 120_000
"""How long a busy machine may take for what a page does after it was asked."""
COLORS = ("color-contrast", "link-in-text-block")  # rules of axe that a theme may break

_CONTROLS = """[...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
    .filter((one) => one.checkVisibility()).length"""
_FOCUS = """() => { const style = getComputedStyle(document.activeElement);
    const place = [...document.querySelectorAll("*")].indexOf(document.activeElement);
    return [place, style.outlineStyle, style.outlineWidth]; }"""


@dataclass
class Visit:
    """A page, and what happened on it."""

    page: Page
    errors: list[str] = field(default_factory=list)
    """Messages of the console of level error or warning, and exceptions of scripts."""
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def violations(self, *rules: str) -> list[str]:
        """Return the serious and critical violations of all or some rules of axe, of accessibility.

        Tables are cut short for it, so it comes last.
        """
        # Rows are alike, and axe takes a minute for thousands of cells.
        self.page.evaluate(
            "document.querySelectorAll('tbody tr:nth-child(n+3)').forEach((one) => one.remove())"
        )
        self.page.evaluate(AXE_SCRIPT)
        chosen = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
        found = self.page.evaluate("chosen => axe.run(chosen)", chosen)
        assert found["passes"], "axe looked at nothing"
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
        ]

    def check_both_themes(self) -> None:
        """Look for violations in dark and light, where colours may differ in contrast."""
        self.page.emulate_media(color_scheme="dark")
        assert self.violations() == []
        self.page.emulate_media(color_scheme="light")
        assert self.violations(*COLORS) == []

    def is_wider_than_the_window(self) -> bool:
        root = "document.documentElement"
        return bool(self.page.evaluate(f"{root}.scrollWidth > {root}.clientWidth"))

    def check_focus(self) -> None:
        """Reach everything with the key Tab, where it is seen; first what skips to the content."""
        total, reached = self.page.evaluate(_CONTROLS), set()
        for number in range(total):
            self.page.keyboard.press("Tab")
            place, *outline = self.page.evaluate(_FOCUS)
            assert {"none", "0px"}.isdisjoint(outline), self.focused()
            assert number or "skip" in self.focused()
            reached.add(place)
        assert len(reached) == total

    def focused(self) -> str:
        """Return a name of what has the focus: its tag, class or id, and text."""
        return str(
            self.page.evaluate(
                "(one => `${one.tagName.toLowerCase()} ${one.id || one.className} "
                "${(one.textContent || '').trim().slice(0, 40)}`)(document.activeElement)"
            )
        )

    def wait_for_focus(self, wanted: Locator) -> None:
        """Wait until an element has the focus: browsers move it after the page is there."""
        expect(wanted).to_be_focused(timeout=PATIENCE_MS)

    def wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait for something that comes after an action; `what` says what never came."""
        for _ in range(PATIENCE_MS // 50):
            if is_so():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(what)

    def take_error(self) -> str:
        """Wait for a message of the console or a script, which is then no fault of the page."""
        self.wait_until(lambda: bool(self.errors), "the page reported no error")
        return self.errors.pop(0)

    def has_done_something(self) -> bool:
        """Tell whether the page did more than to open: what `visiting` takes for a fault."""
        noticed = [*self.errors, *self.dialogs, *self.requests[1:], *self.page.context.pages[1:]]
        return bool(noticed)


@contextmanager
def visiting(browser: Browser, url: str, **options: Any) -> Iterator[Visit]:
    """Open a page in a profile of its own; at the end, nothing may have gone wrong.

    It asked for nothing but itself, its console has no errors, and no dialog opened.
    """
    context = browser.new_context(**options)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        visit = Visit(page)
        context.on("request", lambda request: visit.requests.append(request.url))
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        page.on("console", lambda one: _note(visit, one.type, one.text))

        def dismiss(dialog: Any) -> None:
            visit.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.goto(url)
        yield visit
        assert visit.errors == []
        assert visit.dialogs == []
        assert [one for one in context.pages if one is not page] == []
        assert {_page_of(one) for one in visit.requests} == {_page_of(url)}
    finally:
        context.close()


def _note(visit: Visit, level: str, text: str) -> None:
    if level in {"error", "warning"}:
        visit.errors.append(text)


def _page_of(url: str) -> str:
    """Return an address without its query and fragment: a form may ask the same page again."""
    return url.partition("#")[0].partition("?")[0]
