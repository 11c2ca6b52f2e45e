"""Every error code that the source can raise, read off its syntax trees.

A code is written where an error is made, where a function is called that makes one of its parameter `code`, or in the
table that such a function asserts its code to be in. A code that is made in a way that is not understood here is an
error, so that none is left out silently.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

#: The class that all errors with a code derive from.
_BASE = "QiongliError"


@attrs.frozen
class Found:
    """One way in which a code comes about."""

    code: str
    kind: str
    message: str


@attrs.frozen
class _Module:
    path: Path
    tree: ast.Module
    #: Every node's parent.
    parents: dict[ast.AST, ast.AST]


_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Unresolved(Exception):  # noqa: N818  # it never leaves this module
    pass


def error_codes(folders: Sequence[Path]) -> list[Found]:
    """All codes in the Python files below the folders; raises ValueError for one that cannot be told."""
    modules = []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
            modules.append(_Module(path, tree, parents))
    return _Reader(modules).read()


class _Reader:
    def __init__(self, modules: Sequence[_Module]) -> None:
        self._modules = modules
        self._kinds = self._error_classes()
        self._makers = {
            (module.path, function.name): (module, function) for module in modules for function in _makers(module)
        }

    def read(self) -> list[Found]:
        found = []
        for module in self._modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef) and node.name in self._kinds:
                    found += [Found(code, node.name, _first_line(node)) for code in _default_codes(node)]
                elif isinstance(node, ast.Call):
                    found += self._of_call(module, node)
                elif isinstance(node, ast.Assert):
                    found += self._of_table(module, node)
        return found

    def _error_classes(self) -> set[str]:
        """Names of the classes of errors with a code."""
        bases = {
            node.name: {_name(base) for base in node.bases}
            for module in self._modules
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef)
        }
        kinds = {_BASE}
        while more := {name for name, parents in bases.items() if parents & kinds} - kinds:
            kinds |= more
        return kinds

    def _of_call(self, module: _Module, call: ast.Call) -> Iterator[Found]:
        name = _name(call.func)
        if name in self._kinds:
            for keyword in call.keywords:
                if keyword.arg == "code":
                    message = self._message(module, call.args[0]) if call.args else ""
                    for code in self._told(module, keyword.value, call):
                        yield Found(code, name, message)
            return
        maker = self._maker(module, name)
        if maker is None or any(_asserted_table(node) for node in ast.walk(maker[1])):
            return
        function = maker[1]
        given = _argument(function, call, "code")
        if given is None:
            given = _default(function, "code")
        words = _argument(function, call, "message") or _argument(function, call, "prose")
        if given is not None:
            for code in self._told(module, given, call):
                yield Found(code, self._kind_of(function), self._message(module, words) if words else "")

    def _of_table(self, module: _Module, node: ast.Assert) -> Iterator[Found]:
        """The codes of the table, each with its meaning, that a function asserts its code to be in."""
        table, function = _asserted_table(node), _around(module, node)
        if not table or function is None or (module.path, function.name) not in self._makers:
            return
        for statement in module.tree.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
                if _name(target) == table:
                    (rows,) = [inner for inner in ast.walk(statement.value) if isinstance(inner, ast.Dict)]
                    for code, meaning in ast.literal_eval(rows).items():
                        yield Found(code, self._kind_of(function), meaning)

    def _maker(self, module: _Module, name: str) -> tuple[_Module, _Function] | None:
        """The function of that name that makes an error of its `code`: in the module itself, else beside it."""
        own = self._makers.get((module.path, name))
        if own is not None:
            return own
        if name.startswith("_"):
            return None
        beside = [
            found for (path, of), found in self._makers.items() if of == name and path.parent == module.path.parent
        ]
        return beside[0] if beside else None

    def _kind_of(self, function: _Function) -> str:
        made = [_name(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)]
        return next((name for name in made if name in self._kinds), _name(function.returns) if function.returns else "")

    def _message(self, module: _Module, node: ast.expr) -> str:
        function = _around(module, node)
        if isinstance(node, ast.Name) and function is not None:
            return next((told for value in _bindings(function, node.id) if (told := _template(value))), "")
        return _template(node)

    def _told(self, module: _Module, value: ast.expr, call: ast.Call) -> set[str]:
        try:
            return self._values(module, value)
        except _Unresolved:
            where = f"{module.path}:{call.lineno}"
            raise ValueError(f"{where}: the code of this error cannot be told: {ast.unparse(value)}") from None

    def _values(self, module: _Module, value: ast.expr) -> set[str]:
        """The texts that an expression may have; none where it is the code of an error that there is."""
        match value:
            case ast.Constant(value=str(text)):
                return {text} if text else set()
            case ast.Constant(value=None):
                return set()
            case ast.IfExp():
                return self._values(module, value.body) | self._values(module, value.orelse)
            case ast.BoolOp():
                return set().union(*(self._values(module, part) for part in value.values))
            case ast.Attribute(attr="code" | "default_code"):
                return set()
            case ast.JoinedStr():
                texts = {""}
                for part in value.values:
                    inner = part.value if isinstance(part, ast.FormattedValue) else part
                    texts = {text + end for text in texts for end in self._values(module, inner)}
                return texts
            case ast.Name():
                return self._of_name(module, value)
        raise _Unresolved

    def _of_name(self, module: _Module, name: ast.Name) -> set[str]:
        function = _around(module, name)
        if function is None:
            raise _Unresolved
        if name.id == "code" and (module.path, function.name) in self._makers:
            return set()  # told where the function is called
        found: set[str] = set()
        known = False
        for value in _bindings(function, name.id):
            known = True
            found |= self._values(module, value)
        if not known and name.id in _parameters(function):
            known = True
            for call in ast.walk(module.tree):
                if isinstance(call, ast.Call) and _name(call.func) == function.name:
                    given = _argument(function, call, name.id)
                    if given is not None:
                        found |= self._values(module, given)
        if not known:
            raise _Unresolved
        return found


def _makers(module: _Module) -> Iterator[_Function]:
    """Functions that answer with, raise or note an error, and take its code as a parameter."""
    for node in ast.walk(module.tree):
        if not isinstance(node, _Function) or "code" not in _parameters(node) or node.name == "__init__":
            continue
        answers = node.returns is not None and _name(node.returns).endswith("Error")
        if answers or any(
            isinstance(call, ast.Call)
            and _name(call.func).endswith(("Error", "Problem"))
            and any(keyword.arg == "code" and _names_code(keyword.value) for keyword in call.keywords)
            for call in ast.walk(node)
        ):
            yield node


def _asserted_table(node: ast.AST) -> str:
    """`TABLE` of a line `assert code in TABLE`, else nothing."""
    match node:
        case ast.Assert(test=ast.Compare(left=ast.Name(id="code"), ops=[ast.In()], comparators=[ast.Name(id=table)])):
            return table
    return ""


def _names_code(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "code" for node in ast.walk(value))


def _bindings(function: _Function, name: str) -> Iterator[ast.expr]:
    """What a name is bound to in a function; where a row is unpacked, its place in each row that is written there."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.For | ast.comprehension):
            targets, value = [node.target], node.iter
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield value
            elif isinstance(target, ast.Tuple):
                places = [index for index, item in enumerate(target.elts) if _name(item) == name]
                rows = _assigned(function, value.id) if isinstance(value, ast.Name) and places else [value]
                yield from (
                    row.elts[index]
                    for index in places
                    for whole in rows
                    for row in ast.walk(whole)
                    if isinstance(row, ast.Tuple) and len(row.elts) == len(target.elts)
                    # Not the tuple of all rows, when there are as many of them.
                    if not isinstance(row.elts[index], ast.Tuple)
                )


def _assigned(function: _Function, name: str) -> list[ast.expr]:
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(_name(target) == name for target in node.targets)
    ]


def _around(module: _Module, node: ast.AST) -> _Function | None:
    while node in module.parents:
        node = module.parents[node]
        if isinstance(node, _Function):
            return node
    return None


def _parameters(function: _Function) -> list[str]:
    arguments = function.args
    return [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _argument(function: _Function, call: ast.Call, name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where it leaves it to the default."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    positional = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    if positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    if name in positional and positional.index(name) < len(call.args):
        return call.args[positional.index(name)]
    return None


def _default(function: _Function, name: str) -> ast.expr | None:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip((item.arg for item in positional[::-1]), arguments.defaults[::-1], strict=False))
    keyword_only = {
        item.arg: value for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    return {**defaults, **keyword_only}.get(name)


def _default_codes(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="default_code")], value=ast.Constant(value=str(code))):
                yield code
            case ast.AnnAssign(target=ast.Name(id="default_code"), value=ast.Constant(value=str(code))):
                yield code


def _first_line(node: ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]


def _name(node: ast.AST) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _template(node: ast.AST) -> str:
    """A message with `…` for what is filled in; nothing where it is not written there."""
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.JoinedStr():
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        case ast.BinOp(op=ast.Add()):
            return f"{_template(node.left)}{_template(node.right) or '…'}"
    return ""
