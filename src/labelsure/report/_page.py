"""One page, made of its parts."""

import re
from dataclasses import asdict
from string import Template

from labelsure._version import __version__
from labelsure.report import _tables as tables
from labelsure.report._assets import read_asset
from labelsure.report._facts import Facts
from labelsure.report._html import text
from labelsure.report._payload import deflate, pack
from labelsure.report._words import amount, percent

SIZE_NOTES = {
    "counted": "All sizes are counted.",
    "estimated": "Regions too large to be counted are estimated, within a factor of about two.",
    "bounded": "With so many labels and objects regions are not counted: sizes are upper bounds,"
    " two to the number of"
    " open labels.",
}
RULES = {
    True: (
        ": at 95 % those with a p-value above 5 %.",
        ": the highest level at which no other labelset is left.",
    ),
    False: (
        ". With the guarantee used here it is not the p-value that decides but a rule made for"
        " each level, so now and"
        " then a labelset with a higher p-value is ruled out and one with a lower is not.",
        ". With the guarantee used here regions are decided by another rule, so it is a rough"
        " guide only.",
    ),
}
"""What a region and a confidence are, where regions are nested and where they are not."""


def make_page(facts: Facts) -> str:
    """Return the whole page.

    Sentences are escaped here, tables where they are made; the rest are files of ours and base64.
    """
    labelled = facts.subject.labels is not None
    script_facts = facts.for_script()
    parts = {
        **{name: text(words) for name, words in asdict(facts.words[facts.start]).items()},
        **{name: text(words) for name, words in _sentences(facts).items()},
        "sizes_table": tables.sizes_table(facts),
        "labels_table": tables.labels_table(facts),
        "groups_tables": tables.groups_tables(facts),
        "calibration_table": tables.calibration_table(facts) if labelled else "",
        "confidence_table": tables.bars_table(facts, "confidence"),
        "credibility_table": tables.bars_table(facts, "credibility"),
        "single_table": tables.single_table(facts) if labelled else "",
        "comparison": "".join(f"<p>{text(words)}</p>" for words in facts.comparison),
        "acceptance_part": tables.acceptance_part(facts.acceptance, labelled=labelled),
        "hardest_tables": tables.hardest_tables(facts),
        "css": read_asset("report.css"),
        "script": read_asset("report.js"),
        "licences": read_asset("vega/LICENSES.txt"),
        "vega": deflate(read_asset("vega/vega-bundle.js").encode()),
        "data": pack(*script_facts),
    }
    return Template(_chosen_parts(read_asset("page.html"), labelled)).substitute(parts)


def _chosen_parts(page: str, labelled: bool) -> str:
    """Return the page with what is for labelled objects only, or with what is for the others."""
    kept, dropped = ("labelled", "unlabelled") if labelled else ("unlabelled", "labelled")
    page = re.sub(rf"<!--{dropped}-->.*?<!--end-->", "", page, flags=re.S)
    return re.sub(rf"<!--{kept}-->(.*?)<!--end-->", r"\1", page, flags=re.S)


def _sentences(facts: Facts) -> dict[str, str]:
    subject, levels = facts.subject, facts.levels
    region_rule, confidence_rule = RULES[levels.nested]
    proven = any(point["proven"] is not None for point in facts.calibration)
    return {
        "title": subject.title,
        "made": f"labelsure {__version__}",
        "n_objects": amount(len(subject), "object"),
        "n_labels": amount(len(subject.label_names), "label"),
        "level": percent(levels.per_mille[facts.start]),
        "start": str(facts.start),
        "last_level": str(len(levels) - 1),
        "level_help": _level_help(facts),
        "size_note": SIZE_NOTES[facts.counts.size_kind],
        "proven_line": " The dotted line is what is proven." if proven else "",
        "browser_note": _browser_note(facts),
        "region_rule": region_rule,
        "confidence_rule": confidence_rule,
    }


def _level_help(facts: Facts) -> str:
    exact = f"at each of the {len(facts.levels)} levels"
    if facts.counts.size_kind == "counted":
        return f"Arrow keys move by one level. Everything on this page is exact {exact}."
    kind = facts.counts.size_kind
    return f"Arrow keys move by one level. What is counted is exact {exact}; sizes of regions are {kind}."


def _browser_note(facts: Facts) -> str:
    n_objects, n_shown = len(facts.subject), len(facts.objects.chosen)
    n_uncertain = int((~facts.subject.predictions.certain).sum())
    notes = [
        "Open an object to see which labels are sure, possible and ruled out at the chosen level."
    ]
    if n_shown < n_objects:
        notes.append(
            f"To keep the page small, {n_shown:,} of the {n_objects:,} objects are here, evenly"
            f" chosen; for others make"
            " a report of their own. Everything above counts all objects."
        )
    if n_uncertain:
        notes.append(
            f"For {amount(n_uncertain, 'object')} the search for the most plausible labelset was"
            f" stopped: the best one"
            " found is shown."
        )
    return " ".join(notes)
