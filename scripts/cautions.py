"""The codes of all cautions, read from the source: what `docs/reference/cautions.md` lists.

A code is found where a `Caution` is made, directly or by a function that hands its `code` on. Codes, severities and
what they are about are constants there, names of constants, chosen from a few, or in a table of that function's module.
"""

from __future__ import annotations

import ast
import fnmatch
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Use", "collect", "page"]

GAP = "…"  # what a message fills in
FEW = 3  # letters, of a message that is all gaps
HEAD = f"""# Cautions

Made from the source by `scripts/generate.py`.

Everything that limits an answer is a caution. In the JSON, `cautions[]` has its `code`, `severity`, `about`, `message`
and `advice`. Programs can rely on codes; messages may change.

- **severity**: `error` (results would be wrong), `warning` (they mean less), `note` (good to know).
- **about**: what it limits: `claim` (the whole answer), `data`, or one table, system, pair or metric by name.
- **message**: how it begins; {GAP} is filled in.

| code | severity | about | message |
|---|---|---|---|"""
SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Use:
    """One place in the source that makes a caution of a code."""

    code: str
    severities: tuple[str, ...]
    about: tuple[str, ...]
    message: str
    where: str  # module of the package, and line


def collect(source: Path) -> list[Use]:
    """Return every caution that the modules below `source` make; where a code cannot be read, it is empty."""
    makers: dict[str, _Maker] = {}
    modules = []
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Caution" in text and path != source / "results/cautions.py":  # where the class is
            modules.append(_Module(ast.parse(text), path.relative_to(source).as_posix(), makers))
    for module in modules:
        module.find_makers()
    return [use for module in modules for use in module.uses()]


def page(uses: list[Use]) -> str:
    """Return the page that lists the codes."""
    by_code: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        if use.code:
            by_code[use.code].append(use)
    lines = [HEAD]
    for code in sorted(by_code):
        own = by_code[code]
        severities = [one for one in SEVERITIES if any(one in use.severities for use in own)]
        about = dict.fromkeys(f"`{one}`" for use in own for one in use.about)
        messages = dict.fromkeys(use.message.replace("|", "\\|") for use in own if use.message)
        cells = (f"`{code}`", ", ".join(severities), ", ".join(about) or "what asked for it", "<br>".join(messages))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Maker:
    """A function that makes cautions of a code that it is given."""

    parameters: list[str]
    about: list[str]
    kinds: dict[str, list[str]]  # by code, the texts of a table: the severity first


class _Module:
    """One module: its constants, and the calls that make cautions."""

    def __init__(self, tree: ast.Module, name: str, makers: dict[str, _Maker]) -> None:
        self.tree = tree
        self.name = name
        self.makers = makers
        self.functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]

    def find_makers(self) -> None:
        """Note the functions that hand a code on: their parameters, what they are about, what a table says by code."""
        for function in self.functions:
            given = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
            made = [call for call in _calls(function) if isinstance(call.func, ast.Name) and call.func.id == "Caution"]
            if "code" not in given or not made:
                continue
            about = next((k.value for call in made for k in call.keywords if k.arg == "about"), None)
            kinds: dict[str, list[str]] = {}
            for node in self.tree.body:
                if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
                    for key, row in zip(node.value.keys, node.value.values, strict=True):
                        if isinstance(key, ast.Constant) and isinstance(row, ast.Tuple):
                            kinds[key.value] = [text for part in row.elts for text in self._texts(part, self.tree)]
            self.makers[function.name] = _Maker(given, self._texts(about, function) if about else ["claim"], kinds)

    def uses(self) -> Iterator[Use]:
        """Yield the cautions that are made."""
        for scope in (*self.functions, self.tree):
            for call in _calls(scope):
                given = {k.arg: k.value for k in call.keywords if k.arg}
                called = call.func.id if isinstance(call.func, ast.Name) else ""
                if called in self.makers:
                    given = {**dict(zip(self.makers[called].parameters, call.args, strict=False)), **given}
                elif called != "Caution" or "code" not in given:
                    continue
                if not _is_handed_on(given["code"], scope):
                    yield from self._use(call, given, scope, self.makers.get(called))

    def _use(self, call: ast.Call, given: dict[str, ast.expr], scope: ast.AST, maker: _Maker | None) -> Iterator[Use]:
        where = f"{self.name}:{call.lineno}"
        about = self._texts(given["about"], scope) if "about" in given else maker.about if maker else ["claim"]
        message = self._message(given.get("message"), call, scope)
        codes = self._texts(given["code"], scope)
        if maker:  # one with a gap is any that the maker knows
            codes = [k for c in codes for k in (fnmatch.filter(maker.kinds, c.replace(GAP, "*")) if GAP in c else [c])]
        for code in sorted(set(codes)) or [""]:
            kind = maker.kinds.get(code, []) if maker else []
            said = self._texts(given["severity"], scope) if "severity" in given else [*kind[:1], "warning"][:1]
            severities = tuple(one for one in said if one in SEVERITIES) or SEVERITIES
            yield Use(code, severities, tuple(dict.fromkeys(about)), " ".join(message.split()), where)

    def _message(self, value: ast.expr | None, call: ast.Call, scope: ast.AST) -> str:
        """Return a message with gaps where it is filled in; of one that has a name, the last before the call."""
        if isinstance(value, ast.Name):
            given = [node for node in ast.walk(scope) if isinstance(node, ast.Assign) and node.lineno < call.lineno]
            own = [n for n in given if any(isinstance(t, ast.Name) and t.id == value.id for t in n.targets)]
            value = max(own, key=lambda n: n.lineno).value if own else None
        texts = self._texts(value, scope) if value is not None else []
        return next((text for text in texts if sum(c.isalpha() for c in text) > FEW), "")

    def _texts(self, value: ast.expr, scope: ast.AST) -> list[str]:
        """Return the texts that an expression may be, as far as they stand in the module."""
        match value:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=parts):
                shown = "".join(str(part.value) if isinstance(part, ast.Constant) else GAP for part in parts)
                return [re.sub(f"{GAP}+", GAP, shown)]
            case ast.IfExp(body=body, orelse=other):
                return [*self._texts(body, scope), *self._texts(other, scope)]
            case ast.Subscript(value=ast.Name(id=name)):
                return self._values(name, scope)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[_, *other]):
                return [*self._values(name, scope), *(text for each in other for text in self._texts(each, scope))]
            case ast.Call(func=ast.Attribute(value=inner)):  # a method of a text, such as strip or capitalize
                return self._texts(inner, scope)
            case ast.Name(id=name):
                return self._named(name, scope)
        return []

    def _named(self, name: str, scope: ast.AST) -> list[str]:
        """Return the texts that are given to a name: by an assignment, or by a loop over a table of texts."""
        found: list[str] = []
        for node in (*ast.walk(scope), *self.tree.body):
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                found += self._texts(node.value, scope)
            elif isinstance(node, ast.For):
                found += self._looped(node, name, scope)
        return list(dict.fromkeys(found))

    def _looped(self, loop: ast.For, name: str, scope: ast.AST) -> list[str]:
        """Return the texts that a loop gives to a name: over rows written there, or over a table of the module."""
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        place = next((i for i, t in enumerate(targets) if isinstance(t, ast.Name) and t.id == name), None)
        if place is None:
            return []
        if isinstance(loop.iter, ast.Tuple | ast.List):
            rows = [row.elts if isinstance(row, ast.Tuple) and len(targets) > 1 else [row] for row in loop.iter.elts]
            return [text for row in rows if place < len(row) for text in self._texts(row[place], scope)]
        table = next((n.id for n in ast.walk(loop.iter) if isinstance(n, ast.Name)), "")
        return self._values(table, scope, keys=place == 0)

    def _values(self, name: str, scope: ast.AST, *, keys: bool = False) -> list[str]:
        """Return the texts in a table that the module holds under a name."""
        for node in (*self.tree.body, *ast.walk(scope)):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if isinstance(value, ast.Dict) and any(isinstance(t, ast.Name) and t.id == name for t in targets):
                parts = [key for key in value.keys if key is not None] if keys else value.values
                return [text for part in parts for text in self._texts(part, scope)]
        return []


def _calls(scope: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls in a function or in the body of a module, not those of functions inside."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.Call):
            yield node
        waiting = [*ast.iter_child_nodes(node), *waiting]


def _is_handed_on(code: ast.expr, scope: ast.AST) -> bool:
    """Return whether a code is a parameter of the function that hands it on."""
    given = [a.arg for a in (*scope.args.args, *scope.args.kwonlyargs)] if isinstance(scope, ast.FunctionDef) else []
    return isinstance(code, ast.Name) and code.id in given
