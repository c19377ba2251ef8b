// The chart of hosts over time: what has run, what runs, and what is planned.

/** Those of jobs in all pictures (reporting.pictures.colouring). */
const COLOURS = ["#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00", "#CC99BB"];
/** What a lease does -> how it is drawn, and its name. */
export const KINDS = {
  vm: ["solid", "runs"],
  job: ["solid", "runs"],
  suspend: ["up", "is suspended"],
  resume: ["down", "is resumed"],
  shutdown: ["cross", "is shut down"],
  transfer: ["dots", "image is transferred"],
  "migrate-disk": ["dots", "disk is moved"],
  "migrate-memory": ["dots", "memory is moved"],
};
const LEFT = 64, BOTTOM = 22;
/** Pixels between two labels of the time axis, and of a block that has a border. */
const APART = 14, BORDERED = 5;

function styled(name) { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); }

/** Ranges [first, last] of a text such as "0-3 7". */
function ranges(text) {
  return text.split(" ").filter(Boolean).map((part) => {
    const [first, last] = part.split("-").map(Number);
    return [first, last ?? first];
  });
}

/** A fill of one colour: solid, hatched up or down, crossed, or dotted. */
function fill(context, colour, way) {
  if (way === "solid") return colour;
  const tile = new OffscreenCanvas(8, 8), pen = tile.getContext("2d");
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 2;
  pen.beginPath();
  if (way === "up" || way === "cross") { pen.moveTo(-2, 10); pen.lineTo(10, -2); }
  if (way === "down" || way === "cross") { pen.moveTo(-2, -2); pen.lineTo(10, 10); }
  if (way === "dots") { pen.arc(4, 4, 2, 0, 7); pen.fill(); }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

function colour(number) { return number === null || number === undefined ? "#8b95a1" : COLOURS[number % COLOURS.length]; }

/** The number of the experiment of a machine such as "3/Server"; undefined for others. */
function experiment(machine) { return /^\d+\//.test(machine ?? "") ? Number.parseInt(machine, 10) : undefined; }

/** The machine of a block, or its reservation; "" for none. */
export function machineOf({ machine }) { return (machine ?? "").replace(/^\/reservations\/(?=\d+$)/, "reservation "); }

/** Seconds of a tick, so that at most so many are shown. */
function step(span, most) {
  const steps = [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400, 604800, 2592000];
  return steps.find((one) => span / one <= most) ?? span / most;
}

/** The seconds of HH:MM:SS, or of a number of seconds; NaN for other texts. */
export function secondsOf(text) {
  const parts = text.trim().split(":");
  return parts.length > 3 || parts.some((one) => !/^\d+(\.\d+)?$/.test(one)) ? NaN : parts.reduce((sum, one) => 60 * sum + Number(one), 0);
}

export function clockText(seconds) {
  const whole = Math.floor(seconds), days = Math.floor(whole / 86400);
  const part = (size, most) => String(Math.floor(whole / size) % most).padStart(2, "0");
  return `${days ? `${days} d ` : ""}${part(3600, 24)}:${part(60, 60)}:${part(1, 60)}`;
}

/** A text of the algorithm, whose times are seconds, with times as `clockText` has them. */
export function withClockTimes(text) {
  const end = "(?=$|[;, ])", number = "(\\d+(?:\\.\\d+)?)";
  return text
    ?.replace(new RegExp(`\\bfrom ${number} to ${number}${end}`, "g"), (_, from, to) => `from ${clockText(Number(from))} to ${clockText(Number(to))}`)
    .replace(new RegExp(`\\b(at|until) ${number}${end}`, "g"), (_, word, seconds) => `${word} ${clockText(Number(seconds))}`);
}

export class Chart {
  constructor(canvas, picked) {
    this.canvas = canvas;
    this.picked = picked;
    this.blocks = [];
    this.hosts = 1;
    this.now = 0;
    this.span = 7200;
    this.begin = -this.span / 3;
    this.following = true;
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    canvas.addEventListener("pointermove", (event) => this.point(event));
  }

  follow() {
    if (this.following) this.begin = Math.max(this.now - this.span / 3, -this.span / 50);
  }

  zoom(factor) {
    const middle = this.following ? this.now : this.begin + this.span / 2;
    this.span = Math.min(Math.max(this.span * factor, 10), 86400 * 365);
    this.begin = middle - this.span / (this.following ? 3 : 2);
    this.draw();
  }

  move(part) {
    this.following = false;
    this.begin += this.span * part;
    this.draw();
  }

  x(time) { return LEFT + ((time - this.begin) / this.span) * (this.width - LEFT); }
  y(host) { return (host / this.hosts) * (this.height - BOTTOM); }

  draw() {
    const ratio = devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = styled("plot");
    pen.fillRect(0, 0, this.width, this.height);
    this.follow();
    this.#axes(pen);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, this.width - LEFT, this.height - BOTTOM);
    pen.clip();
    for (const block of this.blocks) this.#block(pen, block);
    pen.strokeStyle = styled("now");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(this.x(this.now), 0);
    pen.lineTo(this.x(this.now), this.height - BOTTOM);
    pen.stroke();
    pen.restore();
  }

  #axes(pen) {
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = styled("quiet");
    pen.strokeStyle = styled("grid");
    pen.lineWidth = 1;
    pen.textBaseline = "top";
    pen.textAlign = "center";
    // Labels are as wide as the last of them, which has the most days.
    const label = pen.measureText(clockText(this.begin + this.span)).width + APART;
    const tick = step(this.span, Math.max(1, Math.min(8, Math.floor((this.width - LEFT) / label))));
    for (let at = Math.ceil(Math.max(this.begin, 0) / tick) * tick; at < this.begin + this.span; at += tick) {
      const x = Math.round(this.x(at)) + 0.5;
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x, this.height - BOTTOM);
      pen.stroke();
      const half = pen.measureText(clockText(at)).width / 2;
      if (x > LEFT + 4 && x < this.width) pen.fillText(clockText(at), Math.min(x, this.width - half - 2), this.height - BOTTOM + 5);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const each = Math.max(1, Math.ceil((this.hosts * 16) / (this.height - BOTTOM)));
    let last = -APART;
    for (let host = 0; host < this.hosts; host += each) {
      const y = Math.max(this.y(host + 0.5), 8); // or half of the first label would be outside
      if (y - last < APART) continue;
      pen.fillText(`host ${host}`, LEFT - 8, y);
      last = y;
    }
  }

  #block(pen, block) {
    const start = this.x(block.start), end = this.x(block.end ?? Math.max(this.now, block.start));
    if (end < LEFT || start > this.width) return;
    const [way] = KINDS[block.kind] ?? ["solid"];
    pen.globalAlpha = block.lost ? 0.25 : block.phase === "planned" ? 0.45 : 0.9;
    pen.fillStyle = fill(pen, colour(block.number ?? experiment(block.machine)), way);
    pen.strokeStyle = styled("text");
    for (const [first, last] of ranges(block.hosts)) {
      const top = this.y(first), tall = this.y(last + 1) - top, width = Math.max(end - start, 1);
      const bordered = tall >= BORDERED && width >= BORDERED, height = Math.max(bordered ? tall - 1 : tall, 1);
      pen.fillRect(start, top, width, height);
      if (bordered) { // a border of a narrow block would hide its colour
        pen.lineWidth = 1;
        pen.setLineDash(block.phase === "planned" ? [4, 3] : []);
        pen.strokeRect(start + 0.5, top + 0.5, width, height - 1);
      }
      const name = machineOf(block) || (block.number ? String(block.number) : "");
      if (name && width > pen.measureText(name).width + 10 && height > 12 && way === "solid") {
        pen.setLineDash([]);
        pen.globalAlpha = 1;
        pen.fillStyle = "#1b1f24";
        pen.textAlign = "left";
        pen.textBaseline = "middle";
        if (block.phase !== "planned" || matchMedia("(prefers-color-scheme: light)").matches) pen.fillText(name, Math.max(start, LEFT) + 5, top + height / 2);
        pen.globalAlpha = block.lost ? 0.25 : block.phase === "planned" ? 0.45 : 0.9;
        pen.fillStyle = fill(pen, colour(block.number ?? experiment(block.machine)), way);
      }
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  /** What is at a place of the chart, or null. */
  at(x, y) {
    const time = this.begin + ((x - LEFT) / (this.width - LEFT)) * this.span;
    const host = Math.floor((y / (this.height - BOTTOM)) * this.hosts);
    const found = this.blocks.filter((one) => one.start <= time && time < (one.end ?? this.now));
    return found.find((one) => ranges(one.hosts).some(([first, last]) => first <= host && host <= last)) ?? null;
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.picked(this.at(event.clientX - box.left, event.clientY - box.top));
  }
}

/** Draw a small sample of a kind into a canvas; as what is planned is drawn, if that is meant. */
export function sample(canvas, kind, planned = false) {
  canvas.width = 44;
  canvas.height = 28;
  const pen = canvas.getContext("2d");
  pen.globalAlpha = planned ? 0.45 : 1;
  pen.fillStyle = fill(pen, "#7b8591", KINDS[kind][0]);
  pen.fillRect(0, 0, 44, 28);
  if (!planned) return;
  pen.lineWidth = 3;
  pen.strokeStyle = styled("text");
  pen.setLineDash([8, 6]);
  pen.strokeRect(1.5, 1.5, 41, 25);
}
