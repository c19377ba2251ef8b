"""Pictures in a terminal: the Gantt chart and the live view."""
