"""The base of all methods: parameters as scikit-learn wants them of an estimator, without loading scikit-learn.

It takes seconds to load, which every command would wait for. What it asks for is little: `sklearn.base.clone` reads
the parameters and calls the class with them, pipelines set them too and want tags.
"""

from inspect import Parameter, signature
from typing import Any, Self

from domsieve.errors import UsageError


class Estimator:
    """A method whose parameters are the keywords of its ``__init__``, each kept in an attribute of its name."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = signature(cls.__init__).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is Parameter.KEYWORD_ONLY}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters by name, ascending; none is an estimator, so `deep` says nothing."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name.

        Raises
        ------
        UsageError : there is no parameter of one of the names.
        """
        known = self._defaults()
        for name, value in parameters.items():
            if name not in known:
                raise UsageError(f"{type(self).__name__} has no parameter {name!r}; it has {sorted(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = self._defaults()
        changed = [f"{n}={value!r}" for n, value in self.get_params().items() if value != default[n]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()
