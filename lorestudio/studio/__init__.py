"""The application without a window: projects, the simulator, scenarios. Both front ends stand on this."""
