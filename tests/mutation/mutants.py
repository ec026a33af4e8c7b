"""Small changes to a module's source, one at a time: each is a fault that some test should notice.

An operator takes one node of the syntax tree and yields what may stand in its place. Left alone are
annotations, assertions (they narrow types), formatted strings and the words of a ``raise``: a change there
changes no decision.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
}
TWINS = [
    ("low", "high"),
    ("baseline", "candidate"),
    ("only_baseline", "only_candidate"),
    ("p_less", "p_greater"),
    ("p_value", "p_adjusted"),
    ("min", "max"),
    ("minimum", "maximum"),
    ("any", "all"),
    ("b", "c"),
    ("level", "veto_level"),
    ("first", "last"),
]
TWIN = dict(TWINS) | {second: first for first, second in TWINS}
"""Names that stand for the two sides of one thing; a swap of them reads well and is wrong."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change. start, end: the place in the source in characters; before, after: what stands there.

    where: the function or class around it, "" at the top of the module.
    """

    where: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: str) -> str:
        """The whole module with this change in it."""
        return source[: self.start] + self.after + source[self.end :]


def mutants(source: str) -> list[Mutant]:
    """Every change of every operator, in the order of the source."""
    starts = [0]
    for text in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    lines = source.splitlines()
    found = []
    for where, node in _visited(ast.parse(source), ""):
        for after in _replaced(node):
            start = _offset(lines, starts, node.lineno, node.col_offset)
            end = _offset(lines, starts, node.end_lineno or 0, node.end_col_offset or 0)
            found.append(Mutant(where, node.lineno, start, end, source[start:end], after))
    return sorted(found, key=lambda m: (m.start, m.end, m.after))


def _offset(lines: list[str], starts: list[int], line: int, column: int) -> int:
    """ast counts columns in UTF-8 bytes; the source is cut by characters."""
    return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())


def _visited(node: ast.AST, where: str) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{node.name}".lstrip(".")
    if isinstance(node, ast.expr | ast.stmt):
        yield where, node
    if isinstance(node, ast.JoinedStr | ast.Assert | ast.Raise | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "bases"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _visited(child, where)


def _replaced(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            yield _wrapped(ast.Compare(left, [COMPARISONS[type(op)]()], [right]))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC and not _is_text(node):
            yield _wrapped(ast.BinOp(left, ARITHMETIC[type(op)](), right))
        case ast.BoolOp(op=op, values=values):
            yield _wrapped(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))
            yield from (_wrapped(v) for v in values) if len(values) == 2 else ()
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield _wrapped(operand)
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value) | float(value)) if value + 1 != value:
            yield repr(value + 1)
        case ast.Attribute(value=value, attr=name) if name in TWIN:
            yield ast.unparse(ast.Attribute(value, TWIN[name], ast.Load()))
        case ast.Name(id=("min" | "max" | "any" | "all") as name):
            yield TWIN[name]
        case ast.Raise() | ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "pass"
        case _:
            pass


def _is_text(node: ast.BinOp) -> bool:
    """Sums of strings and tuples have no difference: such a mutant only crashes."""
    text = (ast.JoinedStr, ast.Tuple, ast.List, ast.ListComp)
    return any(
        isinstance(side, text) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _wrapped(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"
