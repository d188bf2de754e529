"""A number for each pair, as colours: one map a panel."""

import pandas as pd
from matplotlib.figure import Figure

from membership.plots.look import check_columns, is_narrow, new_figure, style, width


def heat_maps(
    table: pd.DataFrame,
    row: str,
    column: str,
    value: str = "value",
    *,
    panel: str,
    top: float = 1.0,
) -> Figure:
    """Numbers from 0 as colours in a square of rows and columns, each number in its cell.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``row``, ``column``, ``value`` and ``panel``; a cell that no row fills stays empty.
    row, column, value, panel : str
        The columns to draw; names stand in the order of their first appearance, panels too.
    top : float
        The number with the darkest colour.

    Raises
    ------
    InputError
        A column is missing, or the table is empty.
    """
    from seaborn import heatmap

    check_columns(table, [row, column, value, panel])
    panels = list(table[panel].unique())
    names = list(dict.fromkeys([*table[row], *table[column]]))
    across = 1 if is_narrow() else len(panels)
    with style():
        figure, axes = new_figure(width() / across + 0.5, len(panels))
        if is_narrow():
            figure.set_size_inches(width(), len(panels) * (width() - 0.3))
        for axis, name in zip(axes, panels, strict=True):
            part = table[table[panel] == name]
            square = part.pivot(index=row, columns=column, values=value)
            heatmap(
                square.reindex(index=names, columns=names),
                ax=axis,
                annot=True,
                annot_kws={"size": 8 if is_narrow() else 9},
                fmt=".2f",
                cmap="Blues",
                vmin=0,
                vmax=top,
                cbar=False,
                square=True,
                linewidths=1,
                # The names of the rows serve all panels that stand side by side.
                yticklabels=is_narrow() or axis is axes[0],
            )
            axis.set(title=str(name), xlabel="", ylabel="")
            axis.grid(visible=False)
            axis.tick_params(axis="x", rotation=45, length=0)
            axis.tick_params(axis="y", rotation=0, length=0)
    return figure
