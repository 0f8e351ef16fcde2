"""What tells one system, or one corpus, from another: hashes of sources, settings and values, and signatures."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.errors import SpecError, SplitError
from holdsup.experiment.identity import identify
from holdsup.experiment.sources import digest_file

LONGEST = 80  # signs of an estimator that is written out; a longer one has a digest
DIGITS, CORPUS_DIGITS = 8, 12  # of digests


def is_plain(value: Any) -> bool:
    """Return whether JSON can hold a value."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and is_plain(part) for name, part in value.items())
    return value is None or isinstance(value, str | bool | int | float)


def digest_values(values: Any, what: str) -> str:
    """Return a hash of a list, an array, a sparse matrix or a frame, as 32 hex digits."""
    digest = hashlib.blake2b(digest_size=16)
    if isinstance(values, list | tuple):
        try:
            digest.update(json.dumps(values, default=as_plain).encode())
        except (TypeError, ValueError) as error:
            raise SplitError(f"{what} hold values that all look alike ({error}): give text, numbers or lists") from None
    elif isinstance(values, np.ndarray) and values.dtype != object:
        digest.update(f"{values.dtype} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    elif hasattr(values, "tocsr"):
        rows = values.tocsr()
        for part in (np.array(rows.shape), rows.indptr, rows.indices, rows.data):
            digest.update(part.tobytes())
    elif hasattr(values, "columns"):  # a frame of whatever make
        sink = pa.BufferOutputStream()
        table = pa.table(values)
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        digest.update(sink.getvalue())
    elif hasattr(values, "tolist") or hasattr(values, "to_list"):  # arrays of objects, series
        return digest_values(list(values), what)
    else:
        raise SplitError(f"{what} are a {type(values).__name__}: give a list, an array, a sparse matrix or a frame")
    return digest.hexdigest()


def identify_function(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Return what the identity of a function rests on: its source, its file, what it is called with.

    What a function takes from around it is not in its source, so that two such functions could pass for one.
    """
    code: dict[str, Any] = {}
    if isinstance(function, functools.partial):
        if not is_plain([*function.args, function.keywords]):
            raise _needs_key(name, "it is called with what JSON cannot hold")
        code |= {"args": list(function.args), "keywords": dict(function.keywords)}
        function = function.func
    if not (inspect.isfunction(function) or inspect.isclass(function)):
        raise _needs_key(name, f"it is a {type(function).__name__}, not a function")
    if getattr(function, "__closure__", None):
        raise _needs_key(name, "it uses variables of the function around it")
    try:
        # Text given to eval, exec and `python -c` has one file name, "<string>", so that newer Pythons show another's.
        if inspect.isfunction(function) and function.__code__.co_filename == "<string>":
            raise OSError
        source = inspect.getsource(function)
    except (OSError, TypeError):
        raise _needs_key(name, "its source cannot be read") from None
    return {**code, "source": source, **_file_of(function)}


def identify_estimator(estimator: Any, name: str) -> dict[str, Any]:
    """Return what the identity of an estimator rests on: its parameters, its class, the version of scikit-learn."""
    parameters = estimator.get_params(deep=True)
    return {
        "class": _name_of(type(estimator)),
        "parameters": {key: _describe_parameter(value, f"{name}' ('{key}") for key, value in parameters.items()},
        "scikit-learn": metadata.version("scikit-learn"),
        **_file_of(type(estimator)),
    }


def _describe_parameter(value: Any, name: str) -> Any:
    """Return a parameter as JSON can hold it; those of an estimator inside it are parameters of their own."""
    if isinstance(value, np.ndarray):
        return digest_values(value, "the parameters")
    if isinstance(value, float | np.generic):
        return repr(value)  # NaN, too
    if isinstance(value, list | tuple):
        return [_describe_parameter(part, name) for part in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return _name_of(type(value))
    if is_plain(value):
        return value
    if getattr(value, "__closure__", None) or "<" in getattr(value, "__qualname__", "<"):
        raise _needs_key(name, f"it is a {type(value).__name__}, which looks like any other")
    return _name_of(value)


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


def _file_of(thing: Any) -> dict[str, str]:
    """Return the hash of the file that something is defined in, unless it is no file."""
    try:
        file = Path(inspect.getfile(thing))
    except (OSError, TypeError):
        return {}
    return {"file": digest_file(file)} if file.is_file() else {}


def as_plain(value: Any) -> Any:
    """Return a value of NumPy as JSON can hold it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__}")


def _needs_key(name: str, why: str) -> SpecError:
    return SpecError(
        f"a store must tell systems apart, but cannot identify {name!r}: {why}. Give key=, a text to change with the "
        "system changes"
    )


def sign_estimator(estimator: Any) -> str:
    """Return an estimator with the parameters that are not scikit-learn's own, by a digest where they are many.

    >>> from sklearn.linear_model import Ridge
    >>> sign_estimator(Ridge(alpha=2.0))
    'Ridge(alpha=2.0)'
    """
    written = sign_object(estimator)
    if len(written) <= LONGEST:
        return written
    parameters = {name: sign_object(value) for name, value in estimator.get_params(deep=True).items()}
    return f"{type(estimator).__name__}#{identify(parameters)[:DIGITS]}"


def sign_object(value: Any) -> str:
    """Return a value as Python writes it, but for where in memory it is."""
    return re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(value).split()))
