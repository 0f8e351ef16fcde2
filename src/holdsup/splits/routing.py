"""What scikit-learn's metadata routing asks of a splitter: does it take groups?"""

from __future__ import annotations

import copy
from typing import Any, Self

__all__ = ["GroupsConsumer"]


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
