"""Curves as pictures of the documentation."""

from collections.abc import Iterable
from itertools import cycle
from pathlib import Path

from benchmarks._answers import Picture

MARKERS = "os^Dv"


def draw(pictures: Iterable[Picture], folder: Path) -> list[Path]:
    """Draw each picture into ``<name>.png`` in the folder; needs ``pip install -e ".[docs]"``."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    paths = []
    for picture in pictures:
        figure, axes = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
        for marker, (name, values) in zip(cycle(MARKERS), picture.curves.items(), strict=False):
            axes.plot(picture.x, values, marker=marker, markersize=4, linewidth=1.2, label=name)
        axes.set(
            xscale=picture.scale,
            yscale=picture.scale,
            xlabel=picture.x_label,
            ylabel=picture.y_label,
        )
        axes.set_title(picture.title, fontsize=10, loc="left")
        axes.grid(alpha=0.3, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        # beside the lines
        axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.02, 0.5))
        paths.append(folder / f"{picture.name}.png")
        figure.savefig(paths[-1], dpi=110, metadata={"Software": None})
        plt.close(figure)
    return paths
