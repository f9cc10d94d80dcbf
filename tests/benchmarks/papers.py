"""The experiments of the papers, as numbers and pictures.

    python tests/benchmarks/papers.py [--json] [--quick] [--only nsga2|genitor]
                                      [--figures 2|3|4|5 ...] [--seeds N]
                                      [--auto-evaluations N] [--until-best]
                                      [--trials N] [--brood N]
                                      [--keep FILE] [--pictures FOLDER]

nsga2: Figures 2 to 5 of Dewri et al. (TKDE; 1 to 4 at GECCO 2009), beside each the answer of
auto. genitor: Figures 4 and 5 of Lunacek et al. (GECCO 2006). Neither the orders of values nor
the hierarchies were published, so the shape is what compares.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import paper_crossovers
import paper_preferences
import pictures
from runs import Kept


def main() -> None:
    options = arguments()
    if options.pictures is not None and not pictures.available():
        sys.exit('pictures need matplotlib: python -m pip install -e ".[benchmark]"')
    load = os.getloadavg() if hasattr(os, "getloadavg") else None
    result: dict[str, object] = {"quick": options.quick, "load": load}
    text: list[str] = []
    kept = Kept(options.keep)
    if options.only != "genitor":
        wishes = paper_preferences.QUICK if options.quick else paper_preferences.Plan()
        if options.figures:
            wishes = replace(wishes, figures=tuple(f"figure {n}" for n in options.figures))
        if options.seeds:
            wishes = replace(wishes, seeds=tuple(range(1, options.seeds + 1)))
        if options.auto_evaluations:
            budget = replace(wishes.auto, evaluations=options.auto_evaluations)
            wishes = replace(wishes, auto=budget)
        wishes = replace(wishes, until_best=options.until_best)
        preferences = paper_preferences.Experiments(wishes, note, kept).run()
        result["nsga2"] = preferences
        text += [*paper_preferences.lines(preferences), ""]
    if options.only != "nsga2":
        plan = paper_crossovers.QUICK if options.quick else paper_crossovers.Plan()
        given = {"trials": options.trials, "brood": options.brood}
        plan = replace(plan, **{key: n for key, n in given.items() if n is not None})
        crossovers = paper_crossovers.run(plan, note, kept)
        result["genitor"] = crossovers
        text += paper_crossovers.lines(crossovers)
    if options.pictures is not None:
        for file in pictures.draw(result, options.pictures):
            note(f"wrote {file}")
    print(json.dumps(result, indent=2) if options.json else "\n".join(text).rstrip())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--quick", action="store_true", help="tiny settings, to see that it works")
    parser.add_argument("--only", choices=("nsga2", "genitor"), help="one of the two parts")
    parser.add_argument(
        "--figures", type=int, choices=(2, 3, 4, 5), nargs="+", help="of the NSGA-II papers (all)"
    )
    parser.add_argument("--seeds", type=int, help="of NSGA-II and auto (2)")
    parser.add_argument(
        "--auto-evaluations", type=int, help="after which auto ends in the NSGA-II part"
    )
    parser.add_argument(
        "--until-best", action="store_true", help="end runs of auto at the best answer known"
    )
    parser.add_argument("--trials", type=int, help="of every GENITOR setting (15)")
    parser.add_argument("--brood", type=int, help="offspring that are scored together (20)")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="runs done, shared with seeds.py; those in it are not repeated",
    )
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write PNG files")
    return parser.parse_args()


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
