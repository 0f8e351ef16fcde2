"""Modules import each other in one direction only, within rooms as between them, not even for types."""

from __future__ import annotations

import grimp

ROOT = "holdsup"  # its names are loaded lazily, and rooms take its version


def find_cycles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other (Tarjan's components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        open_.append(module)
        for other in sorted(imports.get(module, ())):
            if other not in order:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in open_:
                lowest[module] = min(lowest[module], order[other])
        if lowest[module] == order[module]:
            place = open_.index(module)
            group = open_[place:]
            del open_[place:]
            if len(group) > 1:
                found.append(sorted(group))

    for module in sorted(imports):
        if module not in order:
            visit(module)
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph(ROOT, exclude_type_checking_imports=False, cache_dir=None)
    imports = {each: graph.find_modules_directly_imported_by(each) - {ROOT} for each in graph.modules - {ROOT}}
    assert find_cycles(imports) == []


def test_a_circle_is_found() -> None:
    assert find_cycles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == [["a", "b", "c"]]
