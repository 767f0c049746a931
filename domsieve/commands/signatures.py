"""What Typer reads of a function that stands for another one: its parameters, with their options.

Imports nothing of the project.
"""

import inspect
from collections.abc import Callable, Iterable

Command = Callable[..., None]


def with_parameters(run: Command, parameters: Iterable[inspect.Parameter]) -> Command:
    """Return a function that shows these parameters instead of its own."""
    shown = list(parameters)
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run
