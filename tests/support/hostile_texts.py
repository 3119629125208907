"""Texts that would break a page if it took them for anything but text."""

HOSTILE = (
    "</script><script>ran()</script>",
    '"><img src=x onerror="ran()">',
    "<svg onload=ran()>",
    "<!--",
    "]]>{{ 7 * 7 }}{% raw %}",
    "\x1b[31mred\x07",
    "a\u202eb\u2066c\u2028d",
    "\x00nul and half \ud800 a character",
    "line\none\ttwo",
    "&lt;b&gt; &amp;",
)
