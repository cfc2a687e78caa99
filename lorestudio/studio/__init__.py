"""The application without a window: projects, the simulator, scenarios. Both front ends stand on this."""

from lorestudio.exchange.problems import InputError
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import Cancelled, CancelToken, Progress
from lorestudio.studio.project import Project, demo_project, open_project
from lorestudio.studio.simulator import Simulator

__all__ = [
    "CancelToken",
    "Cancelled",
    "Generation",
    "InputError",
    "Progress",
    "Project",
    "Simulator",
    "demo_project",
    "open_project",
]
