"""The commands of the command line: parse, call, print. What they do with pages is in `domsieve.tasks`."""

from domsieve.commands.general_options import general_of_all
from domsieve.commands.on_use import group_of

__all__ = ["general_of_all", "group_of"]
