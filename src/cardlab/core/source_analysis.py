"""Reads one source file as parts: what decides a result in it, as text, and the names and modules that each part uses.

Left out, because they cannot change a finished result: comments, docstrings, layout, annotations of functions and
locals, the texts of errors, help texts of options, and what only type checkers read.
"""

import ast
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

NOT_IN_DIGEST = "reads code and runs none of it"

MARKER = "NOT_IN_DIGEST"
"""A module or package that assigns a reason to this name decides no result: it is not hashed or followed."""

_IGNORED = ("ctx", "kind", "type_comment", "type_ignores", "type_params")  # fields that do not affect the result
_CONVERTS = {"register", "validate_call"}  # decorators that read the annotations of a function
_NAMING = ("option", "agent_text", "find_ability")  # functions whose arguments name entries
_PLACE = re.compile(r"\.[\w.]*(:\w+)?")  # a module, or a name in it, relative to a package: `.agents:GreedyAgent`
_NAMES = re.compile(r"[\w.:]+")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Import:
    """`from MODULE import NAMES`, or `import MODULE`; `level` counts the dots before the module."""

    module: str
    level: int = 0
    names: tuple[str, ...] = ()


@dataclass
class Part:
    """Code that counts when something uses it; without a `trigger` it counts with its module.

    The trigger of a definition is its name. That of an entry of a mapping name → place is `=name`: it counts when a
    configuration contains the name, or code does where it may name an agent or an ability: in a default, in a call of
    `agent_text` or `find_ability`, anywhere in the project.
    """

    trigger: str = ""
    texts: list[str] = field(default_factory=list[str])
    uses: set[str] = field(default_factory=set[str])  # triggers of other parts
    imports: set[Import] = field(default_factory=set[Import])
    places: set[str] = field(default_factory=set[str])  # relative to the module's package
    is_entry: bool = False


@dataclass
class Module:
    """Contents of one file."""

    parts: list[Part] = field(default_factory=list[Part])
    reason: str = ""  # why it is not in the digest


@cache
def read_module(source: bytes, *, whole: bool, factories: bool) -> Module:
    """The parts of a file: one for each function, class and constant, unless the `whole` file counts as one.

    `factories`: keep the annotations of functions, which convert the options of agents.
    """
    return _Reader(whole=whole, factories=factories).read(ast.parse(source))


def triggers(text: str) -> set[str]:
    """What a text such as `mycards.agents.BackFirst` uses: the definitions and entries that it names."""
    found = {f"={text}"}
    return found | set(re.split(r"[.:]", text)) if _NAMES.fullmatch(text) else found


class _Reader:
    def __init__(self, *, whole: bool, factories: bool) -> None:
        self.module = Module()
        self.whole = whole
        self.keeps_annotations = factories
        self._part = Part()
        self._is_message = False  # within texts of errors
        self._in_class = False
        self._messages: set[str] = set()  # local variables that only errors use
        self._writers: dict[type[ast.AST], Callable[[Any], None]] = {
            ast.FunctionDef: self._write_function,
            ast.AsyncFunctionDef: self._write_function,
            ast.ClassDef: self._write_class,
            ast.arg: self._write_argument,
            ast.AnnAssign: self._write_annotated,
            ast.Assign: self._write_assignment,
            ast.Raise: self._write_raise,
            ast.Assert: lambda node: self._write_fields(node, "msg"),
            ast.Call: self._write_call,
            ast.Dict: self._write_dictionary,
        }

    def read(self, tree: ast.Module) -> Module:
        for statement in tree.body:
            name = "" if self.whole else _defined_name(statement)
            if _assigned_name(statement) == MARKER and isinstance(statement, ast.Assign):
                self.module.reason = str(ast.literal_eval(statement.value))
            if name != "__all__":
                self._start("" if name.startswith("__") else name)
                self._write(statement)
        self._start("")
        return self.module

    def _start(self, trigger: str, *, is_entry: bool = False) -> None:
        """End the current part and start another one."""
        if self._part.texts:
            self.module.parts.append(self._part)
        self._part = Part(trigger, is_entry=is_entry)

    def _write(self, node: Any) -> None:
        """Add a node, a list or a value."""
        if isinstance(node, list):
            for entry in cast(list[Any], node):
                self._write(entry)
        elif not isinstance(node, ast.AST):
            self._part.texts.append(f"{node!a},")
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            self._write(node.orelse)
        elif isinstance(node, ast.JoinedStr) or _is_text(node):
            self._write_text(node)
        elif not (isinstance(node, ast.Expr) and _is_text(node.value)):  # a docstring
            self._collect(node)
            self._writers.get(type(node), self._write_fields)(node)

    def _write_fields(self, node: ast.AST, *without: str) -> None:
        self._part.texts.append(f"{type(node).__name__}(")
        for name, value in ast.iter_fields(node):
            if name not in _IGNORED and name not in without and value is not None and value != []:
                self._part.texts.append(f"{name}=")
                self._write(value)
        self._part.texts.append(")")

    def _write_text(self, node: ast.AST) -> None:
        if self._is_message:
            self._part.texts.append("Text()")
        elif isinstance(node, ast.JoinedStr):
            self._part.texts.append("JoinedStr(")
            self._write(_joined(node.values))
            self._part.texts.append(")")
        else:
            text = _text(node)
            found = triggers(text)
            self._part.uses |= found if self.whole else found - {f"={text}"}
            self._part.texts.append(f"Constant({text!a})")

    def _write_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = (self.keeps_annotations, self._in_class, self._messages)
        self.keeps_annotations |= any(_called_name(each) in _CONVERTS for each in node.decorator_list)
        self._in_class, self._messages = False, _names_of_messages(node)
        self._name_entries([*node.args.defaults, *node.args.kw_defaults])
        self._write_fields(node, *(() if self.keeps_annotations else ("returns",)))
        self.keeps_annotations, self._in_class, self._messages = before

    def _write_class(self, node: ast.ClassDef) -> None:
        before, self._in_class = self._in_class, True
        self._write_fields(node)
        self._in_class = before

    def _write_argument(self, node: ast.arg) -> None:
        self._write_fields(node, *(() if self.keeps_annotations else ("annotation",)))

    def _write_annotated(self, node: ast.AnnAssign) -> None:
        if self._in_class:
            self._write_fields(node)
        elif node.value is not None:
            self._write(ast.Assign([node.target], node.value))

    def _write_assignment(self, node: ast.Assign) -> None:
        with self._message(_assigned_name(node) in self._messages):
            self._write_fields(node)

    def _write_raise(self, node: ast.Raise) -> None:
        with self._message(True):
            self._write_fields(node)

    def _write_call(self, node: ast.Call) -> None:
        called = _called_name(node)
        if called in _NAMING:
            self._name_entries(node.args)
        if called == "option":
            shown = [value for place, value in enumerate(node.args) if place != 1 or not _is_text(value)]
            node = ast.Call(node.func, shown, [each for each in node.keywords if each.arg != "about"])
        elif called == "Field":
            node = ast.Call(node.func, node.args, [each for each in node.keywords if each.arg != "description"])
        self._write_fields(node)

    def _write_dictionary(self, node: ast.Dict) -> None:
        places = [_text(value) for value in node.values]
        is_mapping = bool(places) and all(map(_PLACE.fullmatch, places)) and all(map(_text, node.keys))
        self._part.texts.append("Dict(")
        for key, value in zip(node.keys, node.values, strict=True):
            if is_mapping:
                outer = self._part.trigger
                self._start(f"={_text(key)}", is_entry=True)
                self._part.texts.append(f"{_text(key)!a}:{_text(value)!a},")
                self._part.places.add(_text(value))
                self._start(outer)
            else:
                self._write(key)
                self._write(value)
        self._part.texts.append(")")

    def _collect(self, node: ast.AST) -> None:
        """Collect what the node uses."""
        uses, imports = self._part.uses, self._part.imports
        if isinstance(node, ast.Import):
            imports |= {Import(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imports.add(Import(node.module or "", node.level, tuple(alias.name for alias in node.names)))
            uses |= {alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.Name):
            uses.add(node.id)
        elif isinstance(node, ast.Attribute):
            uses.add(node.attr)
        elif isinstance(node, ast.Call) and _called_name(node) == "find_place":
            self._part.places |= {text for text in map(_text, node.args) if text}

    def _name_entries(self, nodes: Sequence[ast.AST | None]) -> None:
        """Count the entries that these texts name, such as `=tables` for `tables:level:2`."""
        texts = [_text(part) for node in nodes if node is not None for part in ast.walk(node)]
        self._part.uses |= {f"={name}" for text in texts for name in re.split(r"[:\[\]]", text) if name}

    @contextmanager
    def _message(self, is_message: bool) -> Generator[None]:
        before = self._is_message
        self._is_message = before or is_message
        yield
        self._is_message = before


def _defined_name(statement: ast.stmt) -> str:
    """The name of a function, a class, or a constant that is computed without calls, whose definition does nothing."""
    if isinstance(statement, _Definition):
        return statement.name
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    has_calls = value is None or any(isinstance(node, ast.Call | ast.NamedExpr) for node in ast.walk(value))
    return "" if has_calls else _assigned_name(statement)


def _assigned_name(node: ast.AST) -> str:
    """The one name that an assignment gives to its value."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    is_assignment = isinstance(node, ast.Assign | ast.AnnAssign) and len(targets) == 1
    return targets[0].id if is_assignment and isinstance(targets[0], ast.Name) else ""


def _called_name(node: ast.AST) -> str:
    """The last name of a function, or of the function that is called: `register` of `singledispatch.register(int)`."""
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _names_of_messages(function: ast.AST) -> set[str]:
    """The local variables that are read within `raise` only."""
    elsewhere, raised, pending = set[str](), set[str](), [(function, False)]
    while pending:
        node, is_message = pending.pop()
        is_message |= isinstance(node, ast.Raise)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            (raised if is_message else elsewhere).add(node.id)
        pending += [(child, is_message) for child in ast.iter_child_nodes(node)]
    return raised - elsewhere


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _text(node: object) -> str:
    """The text of a literal; empty for other nodes."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _joined(values: Sequence[ast.expr]) -> list[Any]:
    """The parts of an f-string with adjacent strings joined and none empty, since versions of Python differ in this."""
    joined: list[Any] = []
    for value in values:
        if _is_text(value) and not _text(value):
            continue
        if joined and _is_text(value) and _is_text(joined[-1]):
            joined[-1] = ast.Constant(_text(joined[-1]) + _text(value))
        else:
            joined.append(value)
    return joined
