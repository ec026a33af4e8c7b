"""One drawing: a list of shapes whose colours come from the page's style sheet."""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from gate.safe import cut, visible


@dataclass(slots=True)
class Canvas:
    """A drawing of width x height units; it grows with the page and stays sharp."""

    width: float
    height: float
    shapes: list[Markup] = field(default_factory=list)

    def line(self, ends: tuple[float, float, float, float], kind: str) -> None:
        """A straight line (x1, y1, x2, y2)."""
        x1, y1, x2, y2 = (_n(v) for v in ends)
        self.shapes.append(
            Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(kind, x1, y1, x2, y2)
        )

    def box(self, corner: tuple[float, float], size: tuple[float, float], kind: str, note: str = "") -> None:
        """A rectangle, with a note that appears when it is pointed at."""
        place = Markup('x="{}" y="{}" width="{}" height="{}"').format(
            _n(corner[0]), _n(corner[1]), _n(max(size[0], 0)), _n(max(size[1], 0))
        )
        self.shapes.append(Markup('<rect class="{}" {}>{}</rect>').format(kind, place, _title(note)))

    def mark(self, x: float, y: float, status: str, note: str = "") -> None:
        """A sign for a status, told by shape as well as by colour."""
        self.shapes.append(
            Markup('<path class="mark {}" d="{}" transform="translate({} {})">{}</path>').format(
                status, _SHAPES.get(status, _SHAPES["reported"]), _n(x), _n(y), _title(note)
            )
        )

    def text(self, at: tuple[float, float], words: str, kind: str = "", width: int = 60) -> None:
        """One line of text."""
        shown = cut(visible(words), width)
        full = _title(words) if len(words) > width else ""
        self.shapes.append(
            Markup('<text class="{}" x="{}" y="{}">{}{}</text>').format(
                kind, _n(at[0]), _n(at[1]), shown, full
            )
        )

    def svg(self, name: str, title: str, description: str) -> Markup:
        """The whole drawing. title, description: for those who do not see it."""
        head = Markup(
            '<svg role="img" aria-labelledby="{0}-t {0}-d" viewBox="0 0 {1} {2}" class="plot">'
            '<title id="{0}-t">{3}</title><desc id="{0}-d">{4}</desc>'
        ).format(name, _n(self.width), _n(self.height), visible(title), visible(description))
        return head + Markup("").join(self.shapes) + Markup("</svg>")


_SHAPES = {
    "pass": "M-5-5H5V5H-5Z",
    "promote": "M-5-5H5V5H-5Z",
    "fail": "M0-7 7 0 0 7-7 0Z",
    "block": "M0-7 7 0 0 7-7 0Z",
    "inconclusive": "M0-6.5 6.5 5H-6.5Z",
    "waived": "M0 6.5 6.5-5H-6.5Z",
    "hold": "M-5-5H-1.5V5H-5ZM1.5-5H5V5H1.5Z",
    "reported": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
}


def _title(note: str) -> Markup:
    return Markup("<title>{}</title>").format(visible(note)) if note else Markup("")


def _n(value: float) -> str:
    text = f"{value:.1f}"
    return text.removesuffix(".0")
