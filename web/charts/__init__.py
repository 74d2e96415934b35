"""Plots: Vega-Lite specifications made with Altair, drawn as SVG without a browser; imports no Django."""
