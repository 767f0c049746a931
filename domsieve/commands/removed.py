"""Commands and options that were removed, and what to use instead."""

from collections.abc import Mapping

_AS_PARAM, _AS_OPTION = "`--param ", "`--"

REMOVED: Mapping[str, str] = {
    "evaluate": "`python -m experiments NAME --data DIR` in a checkout",
    "weigh": "`domsieve vectorize`",
    "--complement": "`--param complement=true`",
    "--keep-hidden": "`--hidden keep`",
    "--has-text": "`--param has_text=TEXT`",
    "--regions": "`--param regions=N`",
    "--style": "`--param style=LEVEL`",
    "--threshold": "`--param threshold=X`",
}
"""What to use instead, by what users type: ``"evaluate"``, ``"clean --depth"``, or ``"--depth"`` for any command."""


def replacement(command: str, option: str = "") -> str | None:
    """Return what to use instead of a command, or of one of its options; None if it never existed.

    Parameters
    ----------
    command : the command as users type it, such as ``"cache list"``.
    option : the option with its dashes; empty for the command itself.
    """
    return REMOVED.get(f"{command} {option}".strip()) or REMOVED.get(option)


def replacement_in_file(table: str, key: str) -> str | None:
    """Return what to write in a configuration file instead of a table or one of its keys; None if it never existed.

    Parameters
    ----------
    table : the table, as written; empty if `key` is the name of a table.
    """
    if not table:
        return replacement(key.replace(".", " "))
    now = replacement(table.replace(".", " "), f"--{key}")
    if now and now.startswith(_AS_PARAM):
        return f"{key.replace('-', '_')} in the table `params`"
    if now and now.startswith(_AS_OPTION):
        option, _, value = now.strip("`").removeprefix("--").partition(" ")
        return f'`{option} = "{value}"`'
    return now


def refuse_removed(command: str, option: str = "") -> None:
    """End the program with a usage error that says what to use, if the command or the option was removed."""
    now = replacement(command, option)
    if now is not None:
        from domsieve.commands.console import failures
        from domsieve.errors import UsageError

        typed = " ".join(filter(None, ("domsieve", command, option)))
        with failures():
            raise UsageError(f"`{typed}` is now {now}.")
