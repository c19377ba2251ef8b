// Wheel, pointer and keyboard on a Gantt chart.

class Hands {
  constructor(page, gantt, tip, status) {
    Object.assign(this, { page, gantt, tip, status, drag: null });
    const canvas = gantt.canvas;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", () => { this.drag = null; });
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => page.zoom(event.shiftKey ? 4 : 0.25, gantt.timeAt(event.offsetX)));
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The page scrolls as everywhere, unless the reader went into the chart or holds Ctrl. */
  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.gantt.canvas) return;
    event.preventDefault();
    const turned = event.deltaY || event.deltaX, factor = Math.exp(Math.max(-240, Math.min(240, turned)) * 0.003);
    if (event.shiftKey) this.page.zoomHosts(factor, this.gantt.hostAt(event.offsetY));
    else this.page.zoom(factor, this.gantt.timeAt(event.offsetX));
    this.tip.hidden = true;
  }

  #down(event) {
    if (event.button !== 0) return;
    this.gantt.canvas.focus({ preventScroll: true });
    this.gantt.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, y: event.offsetY, view: { ...this.page.view }, moved: false };
  }

  #move(event) {
    if (!this.drag) return this.#hover(event);
    const { x, y, view } = this.drag, { left, right, top, bottom } = this.gantt.box;
    const across = event.offsetX - x, up = event.offsetY - y;
    if (Math.hypot(across, up) > 3) this.drag.moved = true;
    if (!this.drag.moved) return undefined;
    this.tip.hidden = true;
    const time = -across / (right - left) * (view.end - view.begin);
    const hosts = Math.round(up / (bottom - top) * (view.high - view.low + 1));
    return this.page.show({ begin: view.begin + time, end: view.end + time, low: view.low + hosts, high: view.high + hosts });
  }

  #up(event) {
    const clicked = this.drag && !this.drag.moved;
    this.drag = null;
    if (!clicked) return;
    const found = this.gantt.at(event.offsetX, event.offsetY), { run } = this.gantt;
    const mark = found ? null : this.gantt.markAt(event.offsetX, event.offsetY);
    const job = mark && mark.lease >= 0 ? run.leases.first[mark.lease] : -1;
    this.page.choose(found ? run.job[found.row] : job);
  }

  #hover(event) {
    const found = this.gantt.at(event.offsetX, event.offsetY);
    const mark = found ? null : this.gantt.markAt(event.offsetX, event.offsetY);
    const outage = found || mark ? null : this.gantt.outageAt(event.offsetX, event.offsetY);
    const cell = this.gantt.drawn.how === "heat" ? heatStory(this.gantt, event.offsetX, event.offsetY) : null;
    this.tip.hidden = !found && !mark && !outage && !cell;
    if (this.tip.hidden) return;
    const story = cell ?? (mark ? this.gantt.run.leases.story(mark) : outage ? outageStory(outage) : this.#story(found));
    this.tip.replaceChildren(...story.map((line, i) => {
      const element = document.createElement(i ? "div" : "strong");
      element.textContent = line;
      return element;
    }));
    const { offsetWidth: width, offsetHeight: height } = this.tip, space = document.documentElement.clientWidth;
    const left = event.clientX + 14 + width > space ? event.clientX - 14 - width : event.clientX + 14;
    const below = event.clientY + 16 + height > window.innerHeight ? event.clientY - 12 - height : event.clientY + 16;
    this.tip.style.left = `${Math.max(4, left)}px`;
    this.tip.style.top = `${Math.max(4, below)}px`;
  }

  /** What is told about a job, in lines. */
  #story({ row, others }) {
    const { page, gantt: { run } } = this, first = page.runs[0];
    const lines = [
      `job ${page.names[run.job[row]]}`,
      `${plural(run.size[row], "host")}: ${shorten(run.sets[run.set[row]])}`,
      `${duration(run.start[row])} to ${duration(run.finish[row])}`,
      `waited ${duration(run.wait(row))}, ran ${duration(run.finish[row] - run.start[row])}`,
    ];
    const lease = run.leases ? run.leases.of[row] : -1;
    if (lease >= 0) {
      const segments = run.leases.rows[lease];
      lines.push(run.leases.title(lease) + (segments.length > 1 ? `, segment ${segments.indexOf(row) + 1} of ${segments.length}` : ""));
    }
    if (page.states.length > 1) lines.push(page.states[run.state[row]]);
    if (run !== first) lines.push(differenceText(run, first, row, page.tolerance));
    if (others > 0) lines.push(`and ${plural(others, "more job")} under this pixel`);
    return lines;
  }

  #key(event) {
    const { page } = this, { begin, end } = page.view, step = (end - begin) / (event.shiftKey ? 2 : 10);
    const actions = {
      ArrowLeft: () => page.move(-step),
      ArrowRight: () => page.move(step),
      ArrowUp: () => page.move(0, Math.ceil((page.view.high - page.view.low + 1) / 8)),
      ArrowDown: () => page.move(0, -Math.ceil((page.view.high - page.view.low + 1) / 8)),
      "+": () => page.zoom(0.5),
      "=": () => page.zoom(0.5),
      "-": () => page.zoom(2),
      0: () => page.show(page.full),
      Home: () => page.show({ begin: 0, end: end - begin }),
      End: () => page.show({ begin: page.full.end - (end - begin), end: page.full.end }),
      n: () => this.#step(1),
      p: () => this.#step(-1),
      Escape: () => page.choose(-1),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** The next job by start, or the first one in sight; it is told to screen readers. */
  #step(by) {
    const { page, gantt: { run } } = this, chosen = page.chosen < 0 ? -1 : run.rowOf[page.chosen];
    const row = chosen >= 0 ? chosen + by : Math.min(above(run.start, page.view.begin - 1e-9), run.count - 1);
    if (row < 0 || row >= run.count) return;
    page.choose(run.job[row]);
    const { begin, end } = page.view, width = end - begin;
    if (run.start[row] < begin || run.start[row] > end) page.show({ begin: run.start[row] - width / 4, end: run.start[row] + 3 * width / 4 });
    this.status.textContent = this.#story({ row, others: 0 }).join(", ");
  }
}

function outageStory({ start, finish, hosts }) {
  return ["unavailable", `hosts ${shorten(hosts)}`, `${duration(start)} to ${duration(finish)}`];
}

function shorten(text) {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function differenceText(run, first, row, tolerance) {
  const kind = difference(run, first, row, tolerance);
  if (kind === NEW) return `not in ${first.name}`;
  const late = run.start[row] - first.start[first.rowOf[run.job[row]]];
  if (kind === EARLIER || kind === LATER) return `starts ${duration(Math.abs(late))} ${late < 0 ? "earlier" : "later"} than in ${first.name}`;
  return kind === ELSEWHERE ? `starts at the same time as in ${first.name}, on other hosts` : `as in ${first.name}`;
}
