"""Entries and documents side by side, read back from the HTML of a page."""

import html
import re


def shown_texts(page: str) -> list[str]:
    """Return the texts of all pairs as the page has them, with [shared] and {rare} pieces."""
    texts = re.findall('<div class="traced"[^>]*>(.*?)</div>', page, re.DOTALL)
    signs = {"shared": "[]", "rare": "{}", "changed": "<>"}
    return [
        html.unescape(
            re.sub(
                '<mark class="(shared|rare|changed)">(.*?)</mark>',
                lambda mark: signs[mark[1]][0] + mark[2] + signs[mark[1]][1],
                text,
                flags=re.DOTALL,
            )
        )
        for text in texts
    ]
