"""Every single change that is tried on a module: its mutants, in the order of the text.

Not changed is what no test can or should notice: annotations, docstrings, decorators, strings, f-strings and what is
raised (whether it is raised is tried), aliases of types, and assertions, the ``strict`` of ``zip`` among them. A change
is applied to the syntax tree, so that lines keep their numbers.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

Replace = Callable[[ast.AST], None]

COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip
SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.And: "and", ast.Or: "or", ast.Not: "not",
    ast.USub: "-", ast.Invert: "~",
}  # fmt: skip
OPPOSITES = [
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil"),
    ("zeros", "ones"), ("fmin", "fmax"), ("zeros_like", "ones_like"), ("logical_and", "logical_or"),
]  # fmt: skip
SIDES = {"left": "right", "right": "left"}  # of np.searchsorted
OPPOSITE = {**dict(OPPOSITES), **{second: first for first, second in OPPOSITES}}
OF_TYPES = ("cast", "isinstance", "issubclass")
UNTOUCHED = {"annotation", "returns", "decorator_list", "type_params", "bases"}


@dataclass
class Change:
    """One change: where it is, what it does, and which lines have to run for a test to notice it.

    ``within`` is empty where none of a function do: what is changed runs when the module is imported. So do defaults of
    parameters, which may also be noticed wherever their function runs.
    """

    line: int
    column: int
    what: str
    within: range
    apply: Callable[[], None] = field(repr=False, compare=False)

    is_default: bool = False

    @property
    def name(self) -> str:
        """What tells this change from the others of its module."""
        return f"{self.line}:{self.column} {self.what}"


def changes_of(tree: ast.Module) -> list[Change]:
    """Return the changes of a module, each made in ``tree`` itself when it is applied."""
    found = list(_statements(tree.body, range(0), top=True))
    counts: dict[str, int] = {}
    for change in found:  # two changes at one place that read the same are counted
        counts[change.name] = counts.get(change.name, 0) + 1
        if counts[change.name] > 1:
            change.what += f" ({counts[change.name]})"
    return found


def mutated(path: Path, name: str) -> ast.Module:
    """Return the tree of a module with one change made."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    next(change for change in changes_of(tree) if change.name == name).apply()
    return ast.fix_missing_locations(tree)


def _statements(body: list[ast.stmt], function: range, *, top: bool = False) -> Iterator[Change]:
    for at, statement in enumerate(body):
        if not _is_left_alone(statement, top):
            yield from _statement(body, at, function)


def _is_left_alone(statement: ast.stmt, top: bool) -> bool:
    """Docstrings and imports; aliases of types and lists of names; what only type checkers read."""
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Assert():
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if top:
            return name == "__all__" or isinstance(value, ast.Subscript | ast.BinOp | ast.Call)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.FunctionDef(decorator_list=decorators):
            return any(ast.unparse(decorator).endswith("overload") for decorator in decorators)
    return False


def _statement(body: list[ast.stmt], at: int, function: range) -> Iterator[Change]:
    statement = body[at]
    inner = [child for name in ("body", "orelse", "finalbody") for child in getattr(statement, name, [])]
    end = min((child.lineno for child in inner), default=statement.end_lineno + 1)  # type: ignore[operator]
    within = range(statement.lineno, max(end, statement.lineno + 1)) if function else range(0)
    if isinstance(statement, ast.FunctionDef):
        lines = range(statement.body[0].lineno, statement.end_lineno + 1)  # type: ignore[operator]
        for default in [*statement.args.defaults, *statement.args.kw_defaults]:
            if default is not None:
                for change in _expressions(statement.args, lines, only=default):
                    yield replace(change, is_default=True)
        yield from _statements(statement.body, lines)
        return
    yield from _removals(body, at, within)
    if isinstance(statement, ast.Return) and statement.value is not None and not _is_none(statement.value):
        yield _change(statement.value, "return None", within, partial(setattr, statement, "value", _none()))
    if isinstance(statement, ast.AugAssign):
        yield from _operator(statement, COMPUTED, within)
    if isinstance(statement, ast.If | ast.While) and not isinstance(statement.test, ast.Compare | ast.UnaryOp):
        yield _negation(statement, "test", within)
    if not isinstance(statement, ast.Raise):
        yield from _expressions(statement, within)
    for name in ("body", "orelse", "finalbody"):
        yield from _statements(getattr(statement, name, []), function)
    for handler in getattr(statement, "handlers", []):
        yield from _statements(handler.body, function)
    for case in getattr(statement, "cases", []):
        yield from _statements(case.body, function)


def _removals(body: list[ast.stmt], at: int, within: range) -> Iterator[Change]:
    """Take away what works by its effects; a name that is never bound would be noticed at once, and is no test."""
    statement = body[at]
    effect = isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise) or (
        isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Name | ast.Tuple)
    )
    if effect and within:
        yield _change(statement, "removed", within, partial(body.__setitem__, at, ast.Pass()))
    if isinstance(statement, ast.Break | ast.Continue):
        other = ast.Continue() if isinstance(statement, ast.Break) else ast.Break()
        yield _change(statement, type(other).__name__.lower(), within, partial(body.__setitem__, at, other))


def _expressions(node: ast.AST, within: range, only: ast.AST | None = None) -> Iterator[Change]:
    """Yield the changes of expressions below a node, those of statements below it left out."""
    for name, value in ast.iter_fields(node):
        if name in UNTOUCHED:
            continue
        children = value if isinstance(value, list) else [value]
        for at, child in enumerate(children):
            skipped = not isinstance(child, ast.AST) or isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
            skipped |= isinstance(child, ast.JoinedStr) or (isinstance(child, ast.keyword) and child.arg == "strict")
            if skipped or (only is not None and child is not only):
                continue
            put = partial(value.__setitem__, at) if isinstance(value, list) else partial(setattr, node, name)
            yield from _expression(child, put, within)
            if not (isinstance(child, ast.Call) and ast.unparse(child.func) in OF_TYPES):
                yield from _expressions(child, within)


def _expression(node: ast.AST, put: Replace, within: range) -> Iterator[Change]:
    match node:
        case ast.Compare():
            yield from _comparisons(node, within)
        case ast.BinOp():
            yield from _operator(node, COMPUTED, within)
        case ast.BoolOp():
            yield from _operator(node, {ast.And: ast.Or, ast.Or: ast.And}, within)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield _change(node, f"without {SIGNS[type(node.op)]}", within, partial(put, operand))
        case ast.IfExp() if not isinstance(node.test, ast.Compare | ast.UnaryOp):
            yield _negation(node, "test", within)
        case ast.comprehension():
            for at, test in enumerate(node.ifs):
                yield _change(test, "condition away", within, partial(node.ifs.__setitem__, at, ast.Constant(True)))
        case ast.Constant():
            yield from _constants(node, put, within)
        case ast.Slice():
            yield from _slices(node, within)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)) if name in OPPOSITE:
            attribute = "id" if isinstance(node.func, ast.Name) else "attr"
            what = f"{name} to {OPPOSITE[name]}"
            yield _change(node, what, within, partial(setattr, node.func, attribute, OPPOSITE[name]))
            yield from _calls(node, within)
        case ast.Call():
            yield from _calls(node, within)


def _comparisons(node: ast.Compare, within: range) -> Iterator[Change]:
    for at, operator in enumerate(node.ops):
        for other in COMPARED[type(operator)]:
            what = f"{SIGNS[type(operator)]} to {SIGNS[other]}"
            yield _change(node, what, within, partial(node.ops.__setitem__, at, other()))


def _operator(
    node: ast.BinOp | ast.BoolOp | ast.AugAssign, others: dict[type, type], within: range
) -> Iterator[Change]:
    other = others.get(type(node.op))
    if other is not None:
        what = f"{SIGNS[type(node.op)]} to {SIGNS[other]}"
        yield _change(node, what, within, partial(setattr, node, "op", other()))


def _constants(node: ast.Constant, put: Replace, within: range) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        others: list[object] = [not value]
    elif isinstance(value, int):
        others = [value + 1, value - 1]
    elif isinstance(value, float):
        others = [value + 1.0, value / 2 if value else -1.0]
    else:
        others = [SIDES[value]] if isinstance(value, str) and value in SIDES else []
    for other in others:
        yield _change(node, f"{value!r} to {other!r}", within, partial(put, ast.Constant(other)))


def _slices(node: ast.Slice, within: range) -> Iterator[Change]:
    """Off by one at either end; constants are changed as such."""
    for name, sign in (("lower", ast.Add()), ("upper", ast.Sub())):
        bound = getattr(node, name)
        if bound is not None and not isinstance(bound, ast.Constant):
            off = ast.BinOp(bound, sign, ast.Constant(1))
            yield _change(bound, f"{name} {SIGNS[type(sign)]} 1", within, partial(setattr, node, name, off))


def _calls(node: ast.Call, within: range) -> Iterator[Change]:
    """End a range early, and leave out options."""
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        last = min(len(node.args) - 1, 1)
        off = ast.BinOp(node.args[last], ast.Sub(), ast.Constant(1))
        yield _change(node, "range end - 1", within, partial(node.args.__setitem__, last, off))
    for at, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg != "strict":
            yield _change(keyword, f"without {keyword.arg}=", within, partial(node.keywords.__delitem__, at))


def _negation(node: ast.If | ast.While | ast.IfExp, name: str, within: range) -> Change:
    test = getattr(node, name)
    return _change(test, "not", within, partial(setattr, node, name, ast.UnaryOp(ast.Not(), test)))


def _change(node: ast.AST, what: str, within: range, apply: Callable[[], None]) -> Change:
    return Change(node.lineno, node.col_offset, what, within, apply)  # type: ignore[attr-defined]


def _none() -> ast.Constant:
    return ast.Constant(None)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
