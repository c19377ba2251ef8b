// How busy each host was over time, for windows in which most jobs are narrower than a pixel.

/** Width of a cell, at least, and height of a row of hosts, in pixels. */
const HEAT_WIDTH = 6, HEAT_HEIGHT = 2;
const HEAT_MARKS = [0, 0.25, 0.5, 0.75, 1];

/** Whether most of the rectangles in sight are narrower than a pixel: they would look like a barcode. */
function tooNarrow(gantt) {
  const { run } = gantt, { begin, end } = gantt.page.view, { left, right } = gantt.box;
  const pixel = (end - begin) / (right - left), [first, last] = run.between(begin, end);
  let seen = 0, narrow = 0;
  for (let i = first; i < last; i++) {
    const row = run.owner[i];
    if (run.finish[row] <= begin) continue;
    seen += 1;
    if (run.finish[row] - run.start[row] < pixel) narrow += 1;
  }
  return 2 * narrow > seen;
}

/** Draw a cell for each host, or a few, and each piece of time of a round length; returns that length in seconds. */
function drawHeat(gantt) {
  const { run, page } = gantt, { begin, end } = page.view, { low, high } = gantt.hosts;
  const { left, right, top, bottom } = gantt.box, hosts = high - low + 1;
  const step = tickStep((end - begin) / (right - left) * HEAT_WIDTH);
  const first = Math.floor(begin / step), columns = Math.ceil(end / step) - first;
  gantt.prepare(columns, Math.min(hosts, Math.max(1, Math.round((bottom - top) / HEAT_HEIGHT))));
  const window = { begin: first * step, end: (first + columns) * step, low, high };
  gantt.raster.fill(run, window, gantt.classes, gantt.colours);
  gantt.raster.paintBusy(gantt.image, heatColour, heatCover(page.full, first, columns, step));
  gantt.showImage(gantt.x(window.begin), gantt.x(window.end));
  return step;
}

/** The part of each column that is within the run: the first one and the last may reach beyond. */
function heatCover(full, first, columns, step) {
  return Float64Array.from({ length: columns }, (_, column) => {
    const from = (first + column) * step;
    return Math.max((Math.min(from + step, full.end) - Math.max(from, full.begin)) / step, 1e-9);
  });
}

/** The colour of a host that is busy for a share of the time. */
function heatColour(share) {
  const ground = channels(styled("plot")), full = channels(styled("heat"));
  return ground.map((channel, i) => channel + share * (full[i] - channel));
}

/** What the cell at a point tells, in lines; null outside of the chart. */
function heatStory(gantt, x, y) {
  const { left, right, top, bottom } = gantt.box, { raster, run, drawn: { step }, page: { view, full } } = gantt;
  const word = run.showsGpus ? "GPU" : "host";
  if (x < left || x > right || y < top || y >= bottom) return null;
  const { low, high } = gantt.hosts, perRow = (high - low + 1) / raster.rows;
  const row = Math.floor((bottom - y) / (bottom - top) * raster.rows), first = Math.floor(view.begin / step);
  const column = Math.min(Math.floor(gantt.timeAt(x) / step) - first, raster.columns - 1);
  const from = low + Math.floor(row * perRow), to = Math.min(low + Math.ceil((row + 1) * perRow - 1e-9), high + 1) - 1;
  const share = Math.min(1, raster.busy[row * raster.columns + column] / heatCover(full, first, raster.columns, step)[column]);
  const begin = (first + column) * step, outage = gantt.outageAt(x, y);
  return [
    from === to ? `${word} ${run.rowName(from)}` : `${word}s ${run.rowName(from)} to ${run.rowName(to)}`,
    `${duration(begin)} to ${duration(Math.min(begin + step, full.end))}`,
    `${Math.round(100 * share)}% of the time busy`,
    ...(outage ? [`unavailable from ${duration(outage.start)} to ${duration(outage.finish)}`] : []),
  ];
}
