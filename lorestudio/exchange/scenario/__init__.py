"""Scenarios: a vault, a chat and its generations in one file, and what came of them in a fixed format.

A scenario is a bug report that anyone can run. The format is that of the recorded runs of DeepLore 2.0.2.
"""

from lorestudio.exchange.scenario.reading import (
    Scenario,
    ScenarioGeneration,
    ScenarioRecord,
    read_records,
    read_scenarios,
)
from lorestudio.exchange.scenario.report import generation_report, index_report

__all__ = [
    "Scenario",
    "ScenarioGeneration",
    "ScenarioRecord",
    "generation_report",
    "index_report",
    "read_records",
    "read_scenarios",
]
