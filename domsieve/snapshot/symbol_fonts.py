"""Fonts that draw letters as symbols, by their names: rules and pictures know the same."""

# Fonts of Windows and macOS, by the letters of their names.
_NAMES = frozenset(
    (
        *("bodoniornaments", "bookshelfsymbol", "itczapfdingbats", "marlett", "monotypesorts", "msoutlook"),
        *("msreferencespecialty", "mtextra", "opensymbol", "segoefluenticons", "segoemdlassets"),
        *("standardsymbolsps", "symbol", "symbolmt", "webdings", "wingdings", "zapfdingbats"),
    )
)


def is_symbols(fonts: str) -> bool:
    """Return whether the first font of a ``font-family`` is one of symbols."""
    return "".join(filter(str.isalpha, fonts.split(",", 1)[0].lower())) in _NAMES
