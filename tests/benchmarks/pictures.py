"""The figures of the papers drawn from the numbers of papers.py; needs matplotlib."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]

COLOURS = ("#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#8c564b", "#17becf")
STYLES = {
    "NEW": ("#1f77b4", "-"),
    "NEW, strangers": ("#17becf", "-"),
    "TRAD": ("#d95f02", "--"),
    "NEW with duplicates": ("#2ca02c", ":"),
    "TRAD with duplicates": ("#9467bd", "-."),
}


ONCE = ("NEW", "NEW, strangers", "TRAD")
"""What Figure 4 of the paper compares, and NEW as it can also be read."""
NEW_ONLY = ("NEW", "NEW with duplicates")
"""What Figure 5 of the paper shows."""


def available() -> bool:
    return find_spec("matplotlib") is not None


def draw(result: Row, folder: Path) -> list[Path]:
    """Writes a PNG file for every figure there are numbers for."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    figures = {}
    preferences = {
        "figure 2": _k_pref,
        "figure 3": _population,
        "figure 4": _weights,
        "figure 5": _bias,
    }
    for name, drawn in preferences.items():
        if name in result.get("nsga2", {}):
            figures[f"nsga2_{name.replace(' ', '_')}"] = drawn(result["nsga2"][name])
    if "genitor" in result:
        figures |= {
            "genitor_figure_4": _crossovers(result["genitor"]),
            "genitor_figure_5": _duplicates(result["genitor"]),
        }
    written = []
    for name, figure in figures.items():
        written.append(folder / f"{name}.png")
        figure.savefig(written[-1], dpi=110)
    return written


def _subplots(*args: Any, **kwargs: Any) -> Any:
    from matplotlib import pyplot

    return pyplot.subplots(*args, layout="constrained", **kwargs)


def _k_pref(data: Row) -> Any:
    rows = data["k_pref"]
    height = -(-len(rows) // 3)
    figure, axes = _subplots(height, min(3, len(rows)), figsize=(12, 3.7 * height), squeeze=False)
    for axis in axes.flat[len(rows) :]:
        axis.set_visible(False)
    for axis, (k, row) in zip(axes.flat, rows.items(), strict=False):
        run, best = row["nsga2"][0], row["auto"][0]
        if run["feasible_points"]:
            nwp, necd, _ = zip(*run["feasible_points"], strict=True)
            axis.scatter(
                nwp, necd, s=18, c=COLOURS[0], label="feasible, non-dominated in ach and k"
            )
        if run["feasible"]:
            label = f"NSGA-II: k = {run['k']}, ach {run['ach']:.4f}"
            axis.scatter(run["nwp"], run["necd"], s=130, fc="none", ec="k", lw=1.5, label=label)
        if best["feasible"]:
            label = f"auto: k = {best['k']}, ach {best['ach']:.4f}"
            axis.scatter(best["nwp"], best["necd"], s=70, c=COLOURS[1], marker="x", label=label)
        axis.set(title=f"k_pref = {k}", xlabel="NWP", ylabel="NECD")
        axis.margins(0.1)
        axis.set_ylim(top=axis.get_ylim()[0] + 1.45 * np.ptp(axis.get_ylim()))
        axis.legend(fontsize=7.5, loc="upper left")
    figure.suptitle("Solutions for different k_pref, preference NWP 0.2, NECD 1.0")
    return figure


def _population(data: Row) -> Any:
    rows = data["population"]
    figure, (left, right) = _subplots(1, 2, figsize=(11, 4.2))
    for colour, (population, row) in zip(COLOURS, rows.items(), strict=False):
        for run, marker in zip(row["nsga2"], "os", strict=False):
            if run["feasible"]:
                label = f"population {population}, seed {run['seed']}: k = {run['k']}"
                left.scatter(
                    run["nwp"], run["necd"], s=70, marker=marker, fc="none", ec=colour,
                    lw=1.8, label=label,
                )  # fmt: skip
    left.set(title="Solutions for k_pref = 5", xlabel="NWP", ylabel="NECD")
    left.margins(0.25)
    left.legend(fontsize=8)
    names = list(rows)
    ours = [_deviation(rows[name]["nsga2"]) for name in names]
    best = [_deviation(rows[name]["auto"]) for name in names]
    paper = [(rows[name]["paper"] or {}).get("pref_dev", 0.0) for name in names]
    bars = {"NSGA-II, best seed": ours, "auto": best}
    if any(paper):
        bars["the paper, its own orders of values"] = paper
    for i, (label, values) in enumerate(bars.items()):
        places = np.arange(len(names)) + 0.27 * (i - 1)
        drawn = right.bar(places, values, 0.25, label=label, color=COLOURS[i])
        right.bar_label(drawn, fmt="%.3f", fontsize=8)
    right.set(
        title="Preference deviation, the less the better",
        xlabel="population",
        ylabel="pref_dev",
        xticks=np.arange(len(names)),
        xticklabels=names,
        ylim=(min([*ours, *best, *paper]) * 1.4, 0),
    )
    right.legend(fontsize=8, loc="lower right")
    return figure


def _deviation(runs: list[Row]) -> float:
    """pref_dev of the run with the least ach; 0 where nothing is feasible."""
    found = [(run["ach"], run["pref_dev"]) for run in runs if run["feasible"]]
    return float(min(found)[1]) if found else 0.0


def _weights(data: Row) -> Any:
    rows = {n: r for n, r in data["weights"].items() if r["nsga2"][0]["feasible"]}
    figure, (left, right) = _subplots(1, 2, figsize=(14, 4.6), width_ratios=(1, 1.5))
    for colour, (name, row) in zip(COLOURS, rows.items(), strict=False):
        run, best = row["nsga2"][0], row["auto"][0]
        label = f"{name}: k = {run['k']}"
        left.scatter(run["nwp"], run["necd"], s=70, fc="none", ec=colour, lw=1.8, label=label)
        left.scatter(best["nwp"], best["necd"], s=50, c=colour, marker="x")
    left.scatter(data["preference"]["loss"], data["preference"]["bias"], c="k", label="preference")
    left.scatter([], [], c="grey", marker="x", label="auto")
    left.set(title="Solutions for k_pref = 5", xlabel="NWP", ylabel="NECD")
    left.legend(fontsize=8)
    columns = list(next(iter(rows.values()))["vector"])
    groups = np.array([[r["nsga2"][0]["groups"][c] for c in columns] for r in rows.values()])
    shares = np.array([[r["vector"][c] / sum(r["vector"].values()) for c in columns]
                       for r in rows.values()])  # fmt: skip
    image = right.imshow(shares, cmap="Blues", aspect="auto", vmin=0, vmax=0.5)
    for (i, j), number in np.ndenumerate(groups):
        ink = "white" if shares[i, j] > 0.3 else "black"
        right.text(j, i, number, ha="center", va="center", color=ink)
    right.set(
        title="Groups left of each column (NSGA-II), shaded by its weight",
        xticks=np.arange(len(columns)),
        yticks=np.arange(len(rows)),
        yticklabels=list(rows),
    )
    right.set_xticklabels(columns, rotation=35, ha="right")
    figure.colorbar(image, ax=right, label="weight")
    return figure


def _bias(data: Row) -> Any:
    figure, axis = _subplots(figsize=(7.5, 5))
    for colour, (bias, row) in zip(COLOURS, data["necd"].items(), strict=False):
        run, best = row["nsga2"][0], row["auto"][0]
        if not run["feasible"] or not best["feasible"]:
            continue
        axis.scatter(data["nwp"], float(bias), s=50, c=colour)
        axis.scatter(best["nwp"], best["necd"], s=55, c=colour, marker="x")
        axis.scatter(
            run["nwp"], run["necd"], s=80, fc="none", ec=colour, lw=1.8,
            label=f"NECD {bias}: k = {run['k']} (auto: k = {best['k']})",
        )  # fmt: skip
        axis.plot([data["nwp"], run["nwp"]], [float(bias), run["necd"]], c=colour, lw=0.6, ls=":")
    axis.scatter([], [], c="grey", label="preference point")
    axis.scatter([], [], fc="none", ec="grey", label="NSGA-II")
    axis.scatter([], [], c="grey", marker="x", label="auto")
    axis.set(
        title=f"Bias preference at k_pref = {data['k_pref']}, weights {data['weights']}",
        xlabel="NWP",
        ylabel="NECD (log scale)",
        yscale="log",
    )
    axis.legend(fontsize=8)
    return figure


def _crossovers(data: Row) -> Any:
    """One row of pictures a population: mean curves, and the trials' final losses."""
    populations = list(dict.fromkeys(row["population"] for row in data["settings"]))
    figure, axes = _subplots(
        len(populations), 2, figsize=(11, 3.3 * len(populations)), squeeze=False,
        width_ratios=(2, 1), sharey="row",
    )  # fmt: skip
    for (left, right), population in zip(axes, populations, strict=True):
        rows = [
            row
            for row in data["settings"]
            if row["population"] == population and row["variant"] in ONCE
        ]
        _curves(left, data, rows)
        _boxes(right, rows)
        left.set_title(f"Population {population}: mean of {data['trials']} trials")
    figure.suptitle("GENITOR: NEW and TRAD crossover, no duplicates")
    return figure


def _duplicates(data: Row) -> Any:
    brood = data["settings"][0]["brood"]
    rows = [r for r in data["settings"] if r["brood"] == brood and r["variant"] in NEW_ONLY]
    figure, (left, right) = _subplots(1, 2, figsize=(13, 4.6), width_ratios=(1.6, 1), sharey=True)
    _curves(left, data, rows, by_population=True)
    _boxes(right, rows, by_population=True)
    left.set_title(f"Mean of {data['trials']} trials")
    figure.suptitle("GENITOR with NEW crossover: population and duplicates")
    return figure


def _curves(axis: Any, data: Row, rows: list[Row], *, by_population: bool = False) -> None:
    shades = dict(zip(dict.fromkeys(row["population"] for row in rows), COLOURS, strict=False))
    for row in rows:
        colour, line = STYLES[row["variant"]]
        label = f"{row['variant']}, brood {row['brood']}"
        if by_population:
            colour, label = shades[row["population"]], f"{row['variant']}, {row['population']}"
        elif row["brood"] != data["settings"][0]["brood"]:
            colour, line = COLOURS[3], "-."
        curve = np.array([np.nan if x is None else x / 1000 for x in row["curve"]])
        axis.plot(data["grid"], curve, ls=line, c=colour, label=label)
    final = [x / 1000 for row in rows for x in row["final"]]
    low, high = min(final), max(final)
    room = max(high - low, 0.01 * low)
    axis.set(
        xlabel="evaluations", ylabel="loss (GLM, thousands)", ylim=(low - room, high + 3 * room)
    )
    axis.legend(fontsize=8, loc="upper right")


def _boxes(axis: Any, rows: list[Row], *, by_population: bool = False) -> None:
    short = {"NEW with duplicates": "dup.", "NEW, strangers": "strangers"}
    labels = [
        f"{short.get(r['variant'], r['variant'])}\n"
        f"{r['population'] if by_population else 'brood ' + str(r['brood'])}"
        for r in rows
    ]
    axis.boxplot([np.array(r["final"]) / 1000 for r in rows], tick_labels=labels, widths=0.5)
    axis.tick_params(axis="x", labelsize=8)
    axis.set_title("Best of each trial")
