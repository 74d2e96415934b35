"""The app of simulated panels."""

from django.apps import AppConfig


class PanelSimulatorConfig(AppConfig):
    """Django's handle on the app; it has no tables."""

    name = "distillery_panel_simulator"
