"""Build the JavaScript of the figures of reports: ``pip install vl-convert-python``, run once.

Writes Vega, Vega-Lite and Vega-Embed as one file of package data. vl-convert carries the libraries
with it, so that nothing is downloaded. Beside the file lie the licences of all that is in it; look
at them again after an update.
"""

from pathlib import Path

VEGA_LITE = "6.4"
SNIPPET = "window.vegaEmbed = vegaEmbed;"
BUNDLE = (
    Path(__file__).parents[1]
    / "src"
    / "labelsure"
    / "report"
    / "assets"
    / "vega"
    / "vega-bundle.js"
)


def main() -> None:
    """Write the bundle and say how large it is."""
    import vl_convert

    code: str = vl_convert.javascript_bundle(SNIPPET, VEGA_LITE)
    BUNDLE.write_text(code, encoding="utf-8")
    print(
        f"{BUNDLE.name}: {len(code.encode()):,} bytes, Vega-Lite {VEGA_LITE}, vl-convert"
        f" {vl_convert.__version__}"
    )


if __name__ == "__main__":
    main()
