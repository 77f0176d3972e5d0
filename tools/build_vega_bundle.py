"""Build the JavaScript that draws the figures of reports: ``pip install vl-convert-python`` and run this once.

Writes Vega and Vega-Lite, without Vega-Embed, as one file of package data. vl-convert carries the libraries with it, so
that nothing is downloaded. Beside the file lie the licences of all that is in it; look at them again after an update.
"""

import re
from pathlib import Path

VEGA_LITE = "6.4"
SNIPPET = "window.vegaFigures = { parse: vega.parse, View: vega.View, compile: vegaLite.compile };"
BUNDLE = Path(__file__).parents[1] / "src" / "labelsure" / "report" / "assets" / "vega" / "vega-bundle.js"


def main() -> None:
    """Write the bundle, refuse one that a page could not hold, and say how large it is."""
    import vl_convert

    code: str = vl_convert.javascript_bundle(SNIPPET, VEGA_LITE)
    if re.search(r"https?://(?!www\.w3\.org/)", code):  # namespaces of SVG are names, not addresses
        raise SystemExit("The bundle names an address on the network: look at it before it goes into pages.")
    BUNDLE.write_text(code, encoding="utf-8")
    print(f"{BUNDLE.name}: {len(code.encode()):,} bytes, Vega-Lite {VEGA_LITE}, vl-convert {vl_convert.__version__}")


if __name__ == "__main__":
    main()
