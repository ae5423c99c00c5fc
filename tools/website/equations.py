"""Equations as MathML, drawn by the browser itself: no script, no font."""

from typing import Any

from latex2mathml.converter import convert


def draw(source: str, language: str, css_class: str, options: Any, md: Any, **_: Any) -> str:
    """The block ```math; the form of a custom fence of pymdownx.superfences."""
    return f'<div class="{css_class}">{convert(source, display="block")}</div>'
