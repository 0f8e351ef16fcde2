"""The formats of logs that are known, in the order in which they are tried."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from holdsup.errors import ReadError, list_names
from holdsup.logs.contract import Reader

# Each is a module here, whose `READER` reads one format; a module of several says which: "module:NAME".
KNOWN = (
    "inspect", "lm_eval", "helm", "every_eval_ever", "promptfoo", "evalplus", "swebench", "lighteval", "alpaca_eval",
    "agent_trials:TAU2_BENCH", "agent_trials:TERMINAL_BENCH", "agent_trials:HARBOR", "openai_evals", "mteb",
    "optuna", "mlflow", "hf_trainer", "wandb", "cv_results",
)  # fmt: skip


def find_readers(named: Iterable[str] = ()) -> tuple[Reader, ...]:
    """Return the readers, those that the user named first: "package.module" or "package.module:NAME"."""
    own = [_load(*_split(name)) for name in named]
    return (*own, *(_load(*_split(f"holdsup.logs.{name}")) for name in KNOWN))


def _split(name: str) -> tuple[str, str]:
    module, _, attribute = name.partition(":")
    return module, attribute or "READER"


def _load(module: str, attribute: str) -> Reader:
    try:
        reader: Any = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ReadError(f"--reader {module}:{attribute} can't be imported ({error})") from error
    missing = [name for name in ("name", "title", "recognise", "read") if not hasattr(reader, name)]
    if missing:
        raise ReadError(f"--reader {module}:{attribute} is no reader of logs: it lacks {list_names(missing)}")
    return reader  # type: ignore[no-any-return]
