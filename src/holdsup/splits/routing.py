"""Groups and scikit-learn's metadata routing: a splitter takes them, and an estimator may ask for them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from typing import Any, Self

from holdsup.results import Caution


class GroupsConsumer:
    """Takes `groups` wherever scikit-learn routes metadata, as its own ``GroupKFold`` does."""

    _groups_request: bool | str | None = True

    def set_split_request(self, *, groups: bool | str | None) -> Self:
        """Return the same splitter with another request: True, False, None (refuse groups), or another name of them."""
        changed = copy.copy(self)
        object.__setattr__(changed, "_groups_request", groups)
        return changed

    def get_metadata_routing(self) -> Any:
        """Return the request as scikit-learn has it."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.split.add_request(param="groups", alias=self._groups_request)
        return request


def route_groups(estimator: Any, groups: Any) -> dict[str, Any]:
    """Return what ``fit`` of an estimator is to be given, so that groups reach who asks for them.

    With scikit-learn's routing that is `groups`. Without it, who asks is the estimator itself, or a step of a pipeline,
    which is named: a request that other meta-estimators would refuse is not handed on.

    >>> from sklearn.linear_model import LinearRegression
    >>> route_groups(LinearRegression(), ["a", "b"])
    {}
    """
    if groups is None or not hasattr(estimator, "get_metadata_routing"):
        return {}
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return {"groups": groups} if _asks(estimator) else {}
    return dict.fromkeys(_list_askers(estimator), groups)


def warn_of_unrouted(estimator: Any, groups: Any) -> Iterator[Caution]:
    """Yield a caution where a part of an estimator, such as `EarlyStopping`, asks for groups that do not reach it."""
    if groups is None or route_groups(estimator, groups):
        return
    parts = (part for part in estimator.get_params(deep=True).values() if hasattr(part, "fit"))
    if asker := next((part for part in (estimator, *parts) if any(_list_askers(part))), None):
        yield Caution(
            code="groups-not-routed",
            message=f"{type(asker).__name__} inside {type(estimator).__name__} cuts groups in two to validate.",
            advice="Turn on metadata routing (sklearn.set_config(enable_metadata_routing=True)), or wrap it in nothing "
            "but a pipeline.",
        )


def _list_askers(estimator: Any) -> Iterator[str]:
    """Yield the names under which an estimator takes groups, without routing."""
    if hasattr(estimator, "steps"):
        for name, step in estimator.steps:
            yield from (f"{name}__{asker}" for asker in _list_askers(step))
    elif hasattr(estimator, "fit") and "groups" in inspect.signature(estimator.fit).parameters and _asks(estimator):
        yield "groups"


def _asks(estimator: Any) -> bool:
    from sklearn.utils.metadata_routing import get_routing_for_object

    return bool(get_routing_for_object(estimator).consumes("fit", ["groups"]))
