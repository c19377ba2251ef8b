"""Shared modules of the commands: requests, options, inputs, outputs, the terminal.

Start with `command` (requests, --debug, --limit) and `parameters` (types of options, options of several commands);
`completion` completes them in shells.
Inputs: `algorithm`, `variants` (several algorithms), `redis_place`, `simulation_options`, `sources` (workloads of a
study), `runs` (results to analyse). Outputs: `output_paths` (checked before work begins), `described_runs`. Terminal:
`terminal` (lines and data), `console` (tables and pictures), `progress` (bars), `live_view`. `decider` is
another program that decides in a simulation, `site_front` and `haizea_site` open live sites; `interruption` converts
signals into an exception.
"""
