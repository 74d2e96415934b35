"""Charts: Vega-Lite specifications by Altair, drawn as SVG without a browser; bars that templates draw."""
