"""Pictures of schedules: `terminal` (text), `paper` (matplotlib, an extra) and `html` (one page).

All three draw what `window` selects, in the colours of `colouring`; `raster` is for more jobs than there are pixels.
"""
