"""The command that writes the weights of words as a matrix, for programs that learn from matrices."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from domsieve.commands.capture_options import (
    AsJson,
    Cache,
    Capture,
    Drop,
    KeepErrors,
    Select,
    rendering_every_page,
    selection_of,
)
from domsieve.commands.cleaning import RawOption
from domsieve.commands.console import (
    FailedPages,
    check_place,
    finish,
    open_cache,
    print_json,
)
from domsieve.commands.fetching import fetch
from domsieve.commands.method_options import ModeOption, ParamOption, params_of

if TYPE_CHECKING:
    from domsieve.tasks.targets import Word


@rendering_every_page
def vectorize(
    targets: "Sequence[Word]",
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the matrix.")],
    output_format: Annotated[
        Literal["npz", "svmlight", "parquet"],
        typer.Option("--format", help="Names of rows and columns: FILE.names.json; in the file for parquet."),
    ] = "npz",
    per_block: Annotated[bool, typer.Option("--per-block", help="A row per block, not per page.")] = False,
    model: Annotated[Path | None, typer.Option(help="Model written by `learn --method cst`.")] = None,
    mode: ModeOption = "site",
    param: ParamOption = None,
    raw: RawOption = False,
    select: Select = None,
    drop: Drop = None,
    keep_errors: KeepErrors = False,
    as_json: AsJson = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Write the word weights of pages as a matrix: low for what a site repeats, high for what varies."""
    from domsieve.analysis.model_file import load_model
    from domsieve.tasks.page_matrix import vectorize as vectorize_pages
    from domsieve.tasks.page_matrix import write_matrix
    from domsieve.tasks.pages import readable
    from domsieve.tasks.targets import find_targets

    check_place("--output", output)
    params = params_of("cst", param, mode=mode)
    selection = selection_of(select, drop)
    with open_cache(cache) as store:
        fetched = fetch(find_targets(targets, store), store, capture)
        pages = readable(fetched, store, raw=raw, keep_errors=keep_errors, selection=selection)
        failed = FailedPages(fetched.failed)
        weights = vectorize_pages(
            pages,
            params=params,
            model=load_model(model) if model else None,
            per_block=per_block,
            failed=failed,
        )
    files = write_matrix(weights, output, form=output_format)
    rows, columns = weights.matrix.shape
    done = len(set(weights.pages))
    facts = {
        "files": ", ".join(map(str, files)),
        "pages": done,
        "rows": rows,
        "features": columns,
        "weights": weights.matrix.nnz,
    }
    if as_json:
        print_json(facts)
    else:
        typer.echo("\n".join(f"{name}: {value}" for name, value in facts.items()))
    finish(done, failed.count)
