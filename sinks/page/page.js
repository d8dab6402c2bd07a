/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a live run: frames of docs/page.md come in, and every view draws what is newest when it can. */
"use strict";

const FRAME = {hello: 1, message: 2, raster: 3, edges: 4, marks: 5, answer: 6};
const STALE_MS = 3000, HISTORY = 600, MOST_MARKS = 2000, MOST_ROWS = 100, MOST_LISTED = 200, MOST_ITEMS = 4000, DELAY_BINS = 40, DISK_WARN_S = 1800;
const MOST_BURSTS = 256, MOST_CRITICALITY = 128, MOST_TRIAL_COUNTS = 4e6, TRIAL_ROWS = 200;
const OKABE_ITO = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 6]];
const VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"]
  .map(hex => [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16)));
const SIGNIFICANT_Q = 0.05;
const Q_STEPS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];

const by = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* ---- what is known ---- */

function emptyRun() {
  return {
    hello: null, status: null, rates: null, window: null, windows: [], graph: null, edges: [], edgesInAll: 0, densities: new Map(), bursts: new Map(), response: null, trials: [], criticality: [],
    triggers: [], triggerCounts: new Map(), items: new Map(), clockAt: 0, clockEvery: 0, drawn: 0, ended: false, trusted: false, controls: false, refused: null,
  };
}

const page = {
  run: emptyRun(), link: "connecting", age: NaN, ageAt: 0, paused: false, back: 0, view: "overview", marked: null,
  marks: [], frames: 0, chosen: null,
};

/* ---- numbers and words ---- */

/* A time of the stream in seconds, as finely as hops may follow each other. */
const seconds = value => value === null || !Number.isFinite(value) ? "–" : String(Number(value.toFixed(3)));

function digits(value, count = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5) return Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
  if (size < 1e-4) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 1000 ? Math.ceil(Math.log10(size)) : count)));
}

const whole = value => Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
const interval = ([low, high]) => `(${digits(low)},${digits(high)}]`;
const unitName = unit => page.run.hello.units[unit]?.[0] ?? `#${unit}`;
/* So few tests cannot give a q that is significant: what it is says nothing. */
const isTooEarly = item => item.least_q > SIGNIFICANT_Q;
const shortQ = item => item.q === null ? "not tested" : isTooEarly(item) ? "too early" : digits(item.q, 2);
const qCell = item => [shortQ(item), item.q === null || isTooEarly(item) ? "n not" : "n"];
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

function durationText(seconds) {
  const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].find(([size]) => seconds >= 2 * size) ?? [1, "s"];
  return seconds > 4e7 ? "more than a year" : `${digits(seconds / size, 2)} ${unit}`;
}

function ageText(ms) {
  if (!Number.isFinite(ms)) return "no spike yet";
  if (ms < 1000) return `data ${Math.round(ms / 10) * 10} ms old`;
  return ms < 120000 ? `data ${digits(ms / 1000, 2)} s old` : `data ${Math.round(ms / 60000)} min old`;
}

/* Fills a table's body in place, so that focus and scrolling stay where they are. `fill` gives the cells of an item as
 * text, or as [text, class]. */
function fillTable(id, items, fill, prepare) {
  const body = by(id).tBodies[0];
  while (body.rows.length > items.length) body.deleteRow(-1);
  items.forEach((item, index) => {
    const row = body.rows[index] ?? body.insertRow();
    fill(item, index).forEach((cell, column) => {
      const [text, kind] = Array.isArray(cell) ? cell : [cell, column > 0 ? "n" : "name"];
      const place = row.cells[column] ?? row.insertCell();
      if (place.textContent !== text) place.textContent = text;
      if (place.className !== kind) place.className = kind;
    });
    prepare?.(row, item, index);
  });
}

function setText(id, text) {
  const element = by(id);
  if (element.textContent !== text) element.textContent = text;
}

/* ---- drawing ---- */

/* The canvas at the screen's resolution; null while it is not shown. */
function canvasOf(id) {
  const canvas = by(id), scale = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale), height = Math.round(canvas.clientHeight * scale);
  if (width < 20 || height < 20) return null;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const at = canvas.getContext("2d");
  at.setTransform(scale, 0, 0, scale, 0, 0);
  at.clearRect(0, 0, width, height);
  at.font = '12px system-ui, "Liberation Sans", sans-serif';
  return {at, width: width / scale, height: height / scale};
}

function niceStep(span, most) {
  const rough = span / most, size = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(times => times * size).find(step => step >= rough);
}

function viridis(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1), low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return VIRIDIS[low].map((value, i) => Math.round(value + (VIRIDIS[low + 1][i] - value) * (place - low)));
}

const viridisText = share => `rgb(${viridis(share).join(",")})`;

/* ---- raster: a ring of columns, painted once each, and two copies a frame ---- */

/* Columns of a canvas: a browser copies all of one that was painted since it was last drawn. */
const TILE = 256;

const raster = {
  tiles: [], cells: null, sums: null, rows: 0, columns: 0, first: 0, next: 0, edge: 0, peak: 1, shades: null, waiting: [],

  begin(hello) {
    this.rows = hello.rows;
    this.columns = hello.columns;
    this.cells = new Uint8Array(this.rows * this.columns);
    this.sums = new Uint32Array(this.columns);
    this.first = this.next = this.edge = 0;
    this.peak = 1;
    this.waiting = [];
    this.tiles = [];
    for (let from = 0; from < this.columns; from += TILE) {
      const canvas = document.createElement("canvas");
      canvas.width = Math.min(TILE, this.columns - from);
      canvas.height = this.rows;
      this.tiles.push(canvas.getContext("2d"));
    }
    this.makeShades();
  },

  /* One ink, stronger where one cell holds more spikes; the strongest is the most seen, to the next power of two. */
  makeShades() {
    const dark = document.documentElement.dataset.theme === "dark", ink = dark ? 0xf0ede8 : 0x1d1916;
    this.shades = new Uint32Array(256);
    for (let count = 1; count < 256; count++) {
      const share = this.peak <= 1 ? 1 : 0.5 + 0.5 * Math.log(count) / Math.log(this.peak);
      this.shades[count] = (Math.round(255 * Math.min(share, 1)) << 24 | ink) >>> 0;
    }
  },

  place: function (column) { return ((column % this.columns) + this.columns) % this.columns; },

  /* What comes while the display is paused waits, the newest of it, so that nothing overwrites what is looked at. */
  take(view) {
    page.run.drawn = view.getFloat64(16, true);
    if (view.getUint32(12, true) !== this.rows) return;
    if (!page.paused) return this.add(view);
    this.waiting.push(view);
    const end = ({first, count}) => first + count, newest = end(this.columnsOf(view));
    while (end(this.columnsOf(this.waiting[0])) < newest - this.columns) this.waiting.shift();
  },

  goOn() {
    this.waiting.forEach(view => this.add(view));
    this.waiting = [];
  },

  columnsOf: view => ({first: Number(view.getBigInt64(0, true)), count: view.getUint32(8, true)}),

  add(view) {
    const {first: from, count} = this.columnsOf(view), {rows} = this, bytes = new Uint8Array(view.buffer, view.byteOffset + 24);
    if (this.next === this.first) this.first = this.next = this.edge = from;
    while (this.next < from) this.clear(this.next++); /* columns that this browser was too slow for */
    let most = 0;
    for (let i = 0; i < count; i++) {
      const cells = bytes.subarray(i * rows, (i + 1) * rows), at = this.place(from + i);
      this.cells.set(cells, at * rows);
      this.sums[at] = cells.reduce((sum, value) => sum + value, 0);
    }
    for (const value of bytes) if (value > most) most = value;
    this.next = from + count;
    this.first = Math.max(this.first, this.next - this.columns);
    if (most > this.peak) {
      while (this.peak < most) this.peak *= 2;
      this.repaint();
    } else {
      this.paint(from, this.next);
    }
  },

  clear(column) {
    const at = this.place(column);
    this.cells.fill(0, at * this.rows, (at + 1) * this.rows);
    this.sums[at] = 0;
    this.tiles[Math.floor(at / TILE)].clearRect(at % TILE, 0, 1, this.rows);
  },

  paint(from, to) {
    while (from < to) {
      const at = this.place(from), count = Math.min(to - from, this.columns - at, TILE - at % TILE);
      const tile = this.tiles[Math.floor(at / TILE)], image = tile.createImageData(count, this.rows), pixels = new Uint32Array(image.data.buffer);
      for (let i = 0; i < count; i++) {
        let cell = (at + i) * this.rows;
        for (let row = 0; row < this.rows; row++, cell++)
          if (this.cells[cell] !== 0) pixels[row * count + i] = this.shades[this.cells[cell]];
      }
      tile.putImageData(image, at % TILE, 0);
      from += count;
    }
  },

  repaint() {
    this.makeShades();
    for (const tile of this.tiles) tile.clearRect(0, 0, TILE, this.rows);
    this.paint(this.first, this.next);
  },

  draw() {
    const {hello} = page.run, to = canvasOf("raster");
    if (!to || !hello) return;
    const {at, width, height} = to;
    const labels = this.rows <= 60 ? Math.min(90, Math.ceil(10 + Math.max(...hello.units.map(unit => at.measureText(unit[0]).width)))) : 52;
    const room = height - 22, across = Math.floor(width - labels - 4);
    const row = Math.min(room / this.rows, 44), bottom = Math.round(row * this.rows);
    const shown = this.shown(), from = Math.max(shown - across, this.first);
    at.save();
    at.translate(labels, 0);
    at.imageSmoothingEnabled = row < 1;
    this.copy(at, from, shown, across, bottom);
    if (row < 3) this.copy(at, from, shown, across - 1, bottom); /* a lone spike is wide enough to be seen */
    if (row >= 5) {
      at.fillStyle = css("--panel");
      for (let i = 1; i <= this.rows; i++) at.fillRect(0, Math.round(i * row) - Math.max(1, Math.round(row * 0.2)), across, Math.max(1, Math.round(row * 0.2)));
    }
    this.drawAxes(at, shown, across, row, bottom, labels);
    this.drawChosen(at, across, row, labels);
    this.drawMarks(at, shown, across, row, bottom);
    at.restore();
    this.tell(across);
  },

  glide() {
    const behind = this.next - this.edge;
    this.edge = behind > 400 ? this.next : this.edge + Math.ceil(behind * 0.3);
  },

  copy(at, from, to, across, bottom) {
    while (from < to) {
      const place = this.place(from), count = Math.min(to - from, this.columns - place, TILE - place % TILE);
      at.drawImage(this.tiles[Math.floor(place / TILE)].canvas, place % TILE, 0, count, this.rows, across - (to - from), 0, count, bottom);
      from += count;
    }
  },

  /* Stream time along the bottom, a column a pixel, up to the column `shown`. */
  drawTimes(at, shown, across, bottom) {
    const second = 1 / page.run.hello.column_s, step = niceStep(across / second, Math.max(2, across / 110));
    at.fillStyle = at.strokeStyle = css("--soft");
    at.textBaseline = "top";
    at.beginPath();
    at.moveTo(0, bottom + 0.5);
    at.lineTo(across, bottom + 0.5);
    for (let time = Math.ceil(Math.max(shown - across, this.first) / second / step) * step; time * second <= shown; time += step) {
      const x = across - (shown - time * second);
      at.moveTo(x, bottom);
      at.lineTo(x, bottom + 4);
      const text = `${digits(time, 6)} s`, wide = at.measureText(text).width;
      if (x - wide / 2 > 0 && x + wide / 2 < across) at.fillText(text, x - wide / 2, bottom + 6);
    }
    at.stroke();
  },

  /* The newest column on the screen: the display glides after what has come. */
  shown() { return Math.round(this.edge - (page.paused ? page.back : 0)); },

  drawAxes(at, shown, across, row, bottom, labels) {
    const {hello} = page.run;
    this.drawTimes(at, shown, across, bottom);
    at.textBaseline = "middle";
    at.textAlign = "right";
    const every = row < 16 ? Math.ceil(20 / row) : 1; /* the first one is moved down, to be whole */
    for (let i = 0; i < this.rows; i += every) {
      const unit = i * hello.units_per_row;
      at.fillText(this.rows <= 60 ? unitName(unit) : `#${unit}`, -6, Math.max((i + 0.5) * row, 6), labels - 8);
    }
    at.textAlign = "left";
  },

  /* The row of the unit that is chosen in the graph or on the array: by an arrow and its name. */
  drawChosen(at, across, row, labels) {
    if (page.chosen === null) return;
    const y = (Math.floor(page.chosen / page.run.hello.units_per_row) + 0.5) * row, high = Math.max(row, 16);
    at.fillStyle = css("--panel");
    at.fillRect(-labels, y - high / 2, labels - 1, high);
    at.fillStyle = at.strokeStyle = css("--mark");
    at.textAlign = "right";
    at.fillText(`▸ ${unitName(page.chosen)}`, -6, Math.max(y, 6), labels - 8);
    at.textAlign = "left";
    at.strokeRect(-0.5, y - Math.max(row, 5) / 2, across + 1, Math.max(row, 5));
  },

  /* Back in what is kept, or forth; while the display is paused. */
  scroll(columns) {
    page.back = Math.max(0, Math.min(page.back + columns, Math.max(0, this.edge - this.first - 200)));
    redraw = changed.raster = true;
  },

  /* Rings around the spikes of an occurrence, joined, and a tick below: shape and not colour alone. */
  drawMarks(at, shown, across, row, bottom) {
    const {hello} = page.run;
    at.strokeStyle = css("--mark");
    at.lineWidth = 1.5;
    for (const mark of page.marks) {
      const xs = mark.columns.map(column => across - (shown - column));
      if (xs[0] < 0 || xs[xs.length - 1] > across) continue;
      const ys = mark.units.map(unit => (Math.floor(unit / hello.units_per_row) + 0.5) * row);
      at.beginPath();
      xs.forEach((x, i) => i === 0 ? at.moveTo(x, ys[i]) : at.lineTo(x, ys[i]));
      xs.forEach((x, i) => { at.moveTo(x + 4, ys[i]); at.arc(x, ys[i], 4, 0, 2 * Math.PI); });
      at.moveTo(xs[0], bottom - 6);
      at.lineTo(xs[0], bottom);
      at.stroke();
    }
    at.lineWidth = 1;
  },

  tell(across) {
    const {hello, status, drawn} = page.run;
    const units = hello.units_per_row > 1 ? `${hello.units.length} units, ${hello.units_per_row} a row` : `${hello.units.length} units`;
    const missing = status && status.last && status.spikes > drawn ? `, ${whole(status.spikes - drawn)} of the run's spikes not drawn` : "";
    setText("raster-what", `${units}, ${digits(across * hello.column_s, 2)} s, ${digits(hello.column_s * 1000)} ms a column, ` +
      `strongest: ${this.peak} ${this.peak > 1 ? "spikes" : "spike"}; ${whole(drawn)} spikes${missing}`);
    setText("raster-mark", page.marked ? `marked: ${itemText(page.marked)}, ${page.marks.length} times` : "");
  },
};

/* ---- episodes ---- */

function chainText(item) {
  return item.names.map((name, i) => i === 0 ? name : ` –${interval(item.delays_ms[i - 1])}→ ${name}`).join("");
}

/* In a line of a table: a delay that all links have stands behind the names once. */
function rowText(item) {
  const delays = item.delays_ms.map(interval);
  return delays.every(delay => delay === delays[0]) ? `${item.names.join(" → ")} ${delays[0]}` : chainText(item);
}

/* By name, of what was counted once and of what is watched. */
const itemText = id => page.run.items.has(id) ? chainText(page.run.items.get(id)) : id;

/* Those of the newest window that are part of no other, by what stands out most; the marked one comes first, and stays
 * though it is a part, or no longer among them. */
function listed(told) {
  const items = told.episodes.filter(item => item.folded_under === null || item.id === page.marked), known = page.run.items.get(page.marked);
  if (known && !items.some(item => item.id === page.marked))
    items.push({...known, count: null, expected: null, p: null, q: null, not_tested: "it is not counted now", standing: Infinity});
  return items.sort((a, b) => (b.id === page.marked) - (a.id === page.marked) || a.standing - b.standing);
}

/* A run that is over has no first test to come. */
const BY_THE_END = "not tested by the end";
const notTestedText = reason => reason === BY_THE_END || page.run.status?.last && reason === "waits for its first test" ? BY_THE_END
  : `not tested: ${reason}`;
const testText = item => item.not_tested ? notTestedText(item.not_tested)
  : `p ${digits(item.p)}, ${plural(item.tests, "test")}${isTooEarly(item) ? `, too early: q cannot be less than ${digits(item.least_q, 2)} yet` : ""}`;

/* Why no episode is counted: none is looked for, or only in a window before this one, or limits keep all back. */
function nothingText(told) {
  const {hello, status} = page.run, edges = status?.edges ?? 0;
  const pairs = edges > 0 ? `; in this one ${plural(edges, "pair")} ${edges === 1 ? "is" : "are"}, see Connections` : "";
  if (told.left_out?.count > 0) return "nothing that is frequent has such a p or q so far";
  if (!hello.discovers) return `no episodes are looked for (mine.every is 0), and none is named under track`;
  if (told.spikes === 0) return "no spikes in the window";
  if (told.list_age_s === null) return `episodes were not looked for yet (mine.every says how often)${pairs}`;
  return `nothing was frequent in the window${told.list_age_s > 0 ? ` ${digits(told.list_age_s, 2)} s before` : ""}` +
    `${pairs || " (mine.min_rate_hz or mine.min_count say how often that is)"}`;
}

/* Stretches that even a strong link takes for a q of SIGNIFICANT_Q. */
const LEAST_STRETCHES = 4;

/* What was found, in the words of the terminal. */
function foundText(told) {
  if (told.counted === 0) return nothingText(told);
  const parts = told.significant_parts > 0 ? `, ${plural(told.significant_parts, "significant part")}` : "";
  const significant = told.chains > 0 ? `${plural(told.chains, "chain")}${parts} (q of ${SIGNIFICANT_Q} or less) of ` : "";
  const early = told.episodes.filter(isTooEarly).length, folded = told.episodes.filter(item => item.folded_under !== null).length;
  const found = told.list_age_s > 0 ? `, frequent in the window ${digits(told.list_age_s, 2)} s before` : "";
  const {status} = page.run, isEarly = told.chains === 0 && status && status.test_length_s !== null && status.tests < LEAST_STRETCHES;
  const untested = isEarly ? `, no q${status.last ? "" : " yet"}: it takes ${LEAST_STRETCHES} stretches of ${seconds(status.test_length_s)} s or more${status.last ? "; the run ended" : ""}` : "";
  const none = told.chains === 0 && status?.tests >= LEAST_STRETCHES ? `, no q of ${SIGNIFICANT_Q} or less${status.last ? "" : " so far"}` : "";
  return `${significant}${whole(told.counted)} counted${found}${early > 0 ? `, ${whole(early)} too early to say` : ""}${told.counted > told.episodes.length
    ? `, the ${told.episodes.length} that stand out most here` : ""}${folded > (told.significant_parts ?? 0) ? `, ${whole(folded)} of them folded into longer ones` : ""}${untested}${none}`;
}

let series = null;

/* The episodes whose lines are drawn: the marked one with what chance gives, else the best five. */
function lines(items) {
  const marked = items.find(item => item.id === page.marked);
  return marked ? [marked] : items.slice(0, 5);
}

function drawEpisodes() {
  const {window: told, windows, status} = page.run;
  if (!told) {
    setText("episodes-what", "no window yet");
    return;
  }
  const items = listed(told), shown = lines(items), left = told.left_out;
  setText("episodes-what", `${foundText(told)}; window ${seconds(told.from_s)} to ${seconds(told.to_s)} s${told.partial ? " (not full)" : ""}` +
    (left ? `; ${whole(left.count)} beyond the limits left out` : ""));
  fillTable("episodes", items.slice(0, MOST_ROWS),
    item => [rowText(item), [item.count === null ? "–" : whole(item.count), "n"], [digits(item.expected), "n"],
      [item.expected > 0 ? digits(item.count / item.expected) : "–", "n"], qCell(item)],
    (row, item) => {
      makeMarkable(row, item.id);
      row.title = `${chainText(item)}: ${testText(item)}`;
    });
  by("series").hidden = by("series-what").hidden = shown.length === 0;
  setText("series-what", `count in each window against stream time${page.marked && shown.length > 0 ? `; ${testText(shown[0])}` : ""}`);
  drawDelays(page.run.items.get(page.marked));
  if (shown.length > 0) drawSeries(shown, windows);
}

let delays = null;

/* How many of the marked occurrences have each delay, link by link: between what the links allow. */
function countDelays(item) {
  const low = Math.min(...item.delays_ms.map(([from]) => from)), high = Math.max(...item.delays_ms.map(([, to]) => to));
  const width = (high - low) / DELAY_BINS, bins = Array.from({length: DELAY_BINS + 1}, (_, i) => low + i * width);
  const links = item.delays_ms.map(() => new Array(DELAY_BINS + 1).fill(0));
  for (const {columns} of page.marks)
    links.forEach((counts, i) => {
      const delay = (columns[i + 1] - columns[i]) * page.run.hello.column_s * 1000;
      counts[Math.max(0, Math.min(DELAY_BINS - 1, Math.ceil((delay - low) / width - 1e-6) - 1))]++;
    });
  return [bins, ...links];
}

function drawDelays(item) {
  const hidden = !item || page.marks.length === 0 || page.marks[0].units.length !== item.names.length;
  by("delays").hidden = by("delays-what").hidden = hidden;
  if (hidden) return;
  setText("delays-what", `delays in ms of ${whole(page.marks.length)} occurrences of ${item.names.join(" → ")}, the newest`);
  const of = item.id + document.documentElement.dataset.theme;
  const styles = item.delays_ms.map((_, i) => ({label: `${item.names[i]} → ${item.names[i + 1]}`, stroke: OKABE_ITO[i % OKABE_ITO.length],
    dash: DASHES[i % DASHES.length], width: 1.5, paths: uPlot.paths.stepped({align: 1}), points: {show: false}}));
  delays = plot(by("delays"), delays, of, styles, countDelays(item), {x: "delay, ms", y: "occurrences"});
}

function drawSeries(shown, windows) {
  const chance = shown.length === 1, of = shown.map(item => item.id).join() + document.documentElement.dataset.theme;
  const times = windows.map(told => told.to_s);
  const value = (id, told, key) => told.counts.get(id)?.[key] ?? null;
  const data = [times, ...shown.map(item => windows.map(told => value(item.id, told, 0)))];
  if (chance) data.push(windows.map(told => value(shown[0].id, told, 1)));
  const styles = shown.map((item, i) => ({label: chainText(item), stroke: OKABE_ITO[i], dash: DASHES[i], width: 1.5, spanGaps: true, points: {show: times.length < 40}}));
  if (chance) styles.push({label: "by chance", stroke: css("--soft"), dash: [4, 4], width: 1.5});
  series = plot(by("series"), series, of, styles, data, {x: "stream time, s", y: "count"});
}

/* A line as it is drawn, for the legend: its colour and its dashes. */
function lineSample({stroke, dash}) {
  let at = 0;
  const pieces = (dash ?? []).map((length, i) => `${i % 2 === 0 ? stroke : "transparent"} ${at}px ${at += length}px`);
  return pieces.length > 0 ? `repeating-linear-gradient(90deg, ${pieces.join(", ")})` : stroke;
}

/* A line plot that is made anew only where its lines are others: `of` says which they are. `names.near`: without the 0. Where there is no room it stays
 * what it was. */
function plot(place, old, of, styles, data, names, log = false) {
  const width = place.clientWidth, height = place.clientHeight - 8 - 22 * Math.ceil(styles.length / 2);
  if (width < 60 || height < 60) return old;
  const low = height < 150, room = low ? {} : {label: names.x}; /* a low one says in its caption what is along it */
  if (old?.of === of && (old.height < 150) === low) {
    if (old.width !== width || old.height !== height) old.setSize({width, height});
    old.setData(data);
    return old;
  }
  old?.destroy();
  const ink = css("--soft"), grid = {stroke: css("--line"), width: 1};
  return Object.assign(new uPlot({
    width, height, cursor: {points: {size: 5}}, legend: {markers: {width: 0, fill: (_, i) => lineSample(styles[i - 1])}},
    scales: {x: {time: false, distr: log ? 3 : 1}, y: {range: (chart, low, high) => names.near && high > low ? [low - (high - low) / 20, high + (high - low) / 20] : [Math.min(0, low), high > 0 ? high * 1.05 : 1]}},
    axes: [{...room, size: low ? 26 : 50, stroke: ink, grid, ticks: grid}, {label: names.y, stroke: ink, grid, ticks: grid, size: 60}],
    series: [{label: names.x}, ...styles],
  }, data, place), {of});
}

function mark(id) {
  page.marked = page.marked === id ? null : id;
  page.marks = [];
  if (!page.run.trusted && page.marked)
    page.run.refused = "to mark occurrences, open the page by the address that synfire printed";
  else
    send(page.marked ? `mark ${page.marked}` : "unmark");
  changed.episodes = changed.raster = changed.responses = true;
}

/* ---- the array ---- */

const places = {
  begin(hello) {
    const known = hello.units.filter(unit => unit[1] !== null && unit[2] !== null);
    const side = Math.ceil(Math.sqrt(hello.units.length));
    this.known = known.length > 0;
    this.missing = this.known ? hello.units.length - known.length : 0;
    this.of = hello.units.map(([, x, y], unit) => this.known ? (x === null ? null : [x, y]) : [unit % side, -Math.floor(unit / side)]);
    this.circle = hello.units.map((_, unit) => {
      const angle = 2 * Math.PI * unit / hello.units.length - Math.PI / 2;
      return [Math.cos(angle), -Math.sin(angle)];
    });
    const some = this.of.filter(place => place !== null);
    this.box = this.boxOf(some);
    this.pitch = this.known ? this.pitchOf(some) : 1;
  },

  boxOf(some) {
    const xs = some.map(place => place[0]), ys = some.map(place => place[1]);
    const least = list => list.reduce((a, b) => Math.min(a, b), Infinity), most = list => list.reduce((a, b) => Math.max(a, b), -Infinity);
    return {x: [least(xs), most(xs)], y: [least(ys), most(ys)]};
  },

  /* The median distance to the nearest other place: of electrodes their pitch. */
  pitchOf(some) {
    const unique = [...new Map(some.map(place => [place.join(), place])).values()].slice(0, 1500), nearest = [];
    for (const [x, y] of unique) {
      let best = Infinity;
      for (const [u, v] of unique) {
        const distance = (x - u) ** 2 + (y - v) ** 2;
        if (distance > 0 && distance < best) best = distance;
      }
      if (Number.isFinite(best)) nearest.push(Math.sqrt(best));
    }
    nearest.sort((a, b) => a - b);
    return nearest.length > 0 ? nearest[nearest.length >> 1] : 100;
  },

  /* From micrometres to a rectangle of the canvas, equal in x and y. */
  fit(box, margin, left, top, width, height) {
    const wide = box.x[1] - box.x[0] + margin, high = box.y[1] - box.y[0] + margin, scale = Math.min(width / wide, height / high);
    const x0 = left + (width - scale * wide) / 2, y0 = top + (height - scale * high) / 2;
    return {scale, at: ([x, y]) => [x0 + (x - box.x[0] + margin / 2) * scale, y0 + (box.y[1] - y + margin / 2) * scale]};
  },
};

function drawScaleBar(at, fit, x, y, room) {
  const step = niceStep(room / fit.scale, 4), length = step * fit.scale;
  at.fillStyle = css("--soft");
  at.fillRect(x, y, length, 2);
  at.textBaseline = "middle";
  at.fillText(step >= 1000 ? `${digits(step / 1000)} mm` : `${digits(step)} µm`, x + length + 6, y);
}

/* At most about so many from low to high: of a logarithmic scale 1, 2 and 5 of each decade, or where these are few or
   many others. */
function roundValues(low, high, log, most) {
  const decades = Array.from({length: 40}, (_, i) => 10 ** (i - 20)), within = values => values.filter(value => value >= low && value <= high);
  if (log)
    for (const steps of [[1, 2, 5], [1]]) {
      const found = within(decades.flatMap(decade => steps.map(step => step * decade)));
      if (found.length > 2 && found.length <= most + 1) return found;
    }
  const step = niceStep(high - low, most), from = Math.ceil(low / step - 1e-9);
  return Array.from({length: Math.floor(high / step + 1e-9) - from + 1}, (_, i) => (from + i) * step);
}

function drawColourBar(at, x, top, height, low, high, log, unit) {
  for (let i = 0; i < height; i++) {
    at.fillStyle = viridisText(1 - i / height);
    at.fillRect(x, top + i, 12, 1.5);
  }
  at.fillStyle = css("--soft");
  at.textBaseline = "middle";
  for (const value of roundValues(low, high, log, Math.max(2, Math.floor(height / 40)))) {
    const y = top + height * (1 - (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)));
    at.fillRect(x + 12, y - 0.5, 4, 1);
    at.fillText(digits(value, 2), x + 19, y);
  }
  at.textBaseline = "bottom";
  at.fillText(unit, x, top - 9);
}

/* Logarithmic once the highest of the rates is more than four times the median, as `synfire plot array` has it, until
   somebody chooses; and then it stays, so that colours do not change back and forth. */
function isLogarithmic(active) {
  const choice = by("array-log"), sorted = Float64Array.from(active).sort();
  if (!choice.dataset.chosen && sorted.length && sorted.at(-1) > 4 * sorted[sorted.length >> 1]) choice.checked = true;
  return choice.checked;
}

let arrayPoints = [], arraySide = 0;

function drawArray() {
  const {rates: ofUnits, hello} = page.run, to = canvasOf("array");
  if (!to || !ofUnits || !hello) return;
  const {at, width, height} = to, sums = new Map();
  ofUnits.forEach((rate, unit) => {
    const place = places.of[unit];
    if (place !== null) sums.set(place.join(), {place, rate: (sums.get(place.join())?.rate ?? 0) + (rate ?? 0)});
  });
  const rates = [...sums.values()].map(one => one.rate), active = rates.filter(rate => rate > 0);
  const high = rates.reduce((a, b) => Math.max(a, b), 0) || 1, least = active.reduce((a, b) => Math.min(a, b), high);
  const log = isLogarithmic(active) && least < high, low = log ? least : 0;
  const fit = places.fit(places.box, places.pitch, 8, 6, width - 86, height - 34), side = Math.max(places.pitch * fit.scale * 0.94, 4);
  at.strokeStyle = css("--line");
  for (const {place, rate} of sums.values()) {
    const [x, y] = fit.at(place);
    if (rate > 0) {
      const share = log ? Math.log(rate / low) / Math.log(high / low) : rate / high;
      at.fillStyle = viridisText(share);
      at.fillRect(x - side / 2, y - side / 2, side, side);
    } else {
      at.strokeRect(x - side / 2 + 0.5, y - side / 2 + 0.5, Math.max(side - 1, 1), Math.max(side - 1, 1));
    }
  }
  arraySide = side;
  arrayPoints = places.of.map(place => place === null ? null : fit.at(place));
  if (page.chosen !== null && arrayPoints[page.chosen]) {
    const [x, y] = arrayPoints[page.chosen];
    at.strokeStyle = css("--mark");
    at.lineWidth = 3;
    at.strokeRect(x - side / 2 - 1, y - side / 2 - 1, side + 2, side + 2);
    at.lineWidth = 1;
  }
  drawColourBar(at, width - 66, 24, height - 50, low, high, log, "Hz");
  if (places.known) drawScaleBar(at, fit, 10, height - 10, width / 2);
  const shared = sums.size < hello.units.length - places.missing ? `, ${hello.units.length - places.missing} units: those of one place added` : "";
  setText("array-what", `${places.known ? `${sums.size} places` : "no positions known: units in order, row by row"}${shared}, ` +
    `${active.length} active (others empty), over the window`);
  setText("array-chosen", page.chosen === null ? "" : `▸ ${unitName(page.chosen)}: ${digits(ofUnits[page.chosen])} Hz`);
}

/* ---- the graph ---- */

const edgeKeys = ["from", "to", "low", "high", "count", "weight", "p", "q", "least_q"];

function takeEdges(view) {
  const run = page.run, told = view.getUint32(4, true);
  run.edgesInAll = view.getUint32(0, true);
  run.edges = [];
  for (let i = 0; i < told; i++)
    run.edges.push(Object.fromEntries(edgeKeys.map((key, k) => [key, view.getFloat32(8 + 4 * (edgeKeys.length * i + k), true)])));
}

/* Not tested, or so few times that no q says anything. */
const hasNoVerdict = edge => Number.isNaN(edge.q) || isTooEarly(edge);

/* What the sliders leave; the strongest first. */
function shownEdges() {
  const limit = Q_STEPS[by("graph-q").value], untested = by("graph-untested").checked;
  const most = page.run.edges.reduce((a, edge) => Math.max(a, edge.weight), 0), least = (by("graph-w").value / 100) ** 2 * most;
  setText("graph-q-is", String(limit));
  setText("graph-w-is", digits(least));
  return page.run.edges.filter(edge => (hasNoVerdict(edge) ? untested : edge.q <= limit) && (least === 0 || edge.weight >= least));
}

/* Steps from a unit along the edges that are shown; an edge of tiling has no direction. */
function reachOf(edges, from, undirected) {
  const next = new Map(), level = new Map([[from, 0]]), queue = [from];
  const add = (a, b) => next.set(a, [...(next.get(a) ?? []), b]);
  for (const edge of edges) {
    add(edge.from, edge.to);
    if (undirected) add(edge.to, edge.from);
  }
  for (const unit of queue)
    for (const other of next.get(unit) ?? [])
      if (!level.has(other)) {
        level.set(other, level.get(unit) + 1);
        queue.push(other);
      }
  return level;
}

/* What the sliders ask for. */
function soughtText() {
  const untested = by("graph-untested").checked ? " or not tested, or too early" : "", weight = by("graph-w").value > 0 ? `, weight ${by("graph-w-is").textContent} or more` : "";
  return `q ${by("graph-q-is").textContent} or less${untested}${weight}`;
}

function reachText(level) {
  const steps = Math.max(...level.values()), units = level.size - 1;
  return `▸ ${unitName(page.chosen)} reaches ${units === 0 ? "no other unit" : `${units} ${units === 1 ? "unit" : "units"} in up to ${steps} ${steps === 1 ? "step" : "steps"}`}`;
}

let graphPoints = [];

function drawGraph() {
  const {hello, graph, edges, edgesInAll} = page.run;
  if (!hello || !graph) {
    setText("graph-what", hello && !hello.graph ? "no graph is drawn (graph.enabled is false)" : "no graph yet");
    return;
  }
  const shown = shownEdges(), undirected = graph.metric === "sttc";
  const level = page.chosen === null ? null : reachOf(shown, page.chosen, undirected);
  const some = edges.length < edgesInAll ? `, the ${whole(edges.length)} that stand out most here` : "", left = graph.left_out;
  const sought = shown.length < edges.length ? ` (${soughtText()})` : "";
  setText("graph-what", `${whole(shown.length)} of ${whole(edgesInAll)} edges${sought}${some}, by ${undirected ? "spike-time tiling" : "episodes"}` +
    `${left ? `; ${whole(left.count)} beyond the limits left out` : ""}` +
    `${graph.pairs_by_chance ? `; of ${whole(graph.pairs_tested)} pairs chance passes about ${digits(graph.pairs_by_chance)}` : ""}`);
  setText("graph-reach", level ? reachText(level) : "");
  drawEdges(shown, level, undirected);
  fillTable("edges", shown.slice(0, MOST_ROWS), edge => [
    `${unitName(edge.from)} ${undirected ? "–" : "→"} ${unitName(edge.to)} ${interval([edge.low, edge.high])}`,
    [digits(edge.count, 6), "n"], [digits(edge.weight), "n"],
    qCell({...edge, q: Number.isNaN(edge.q) ? null : edge.q})]);
  const motifs = [...graph.match.map(motif => ({name: motif.pattern, ...motif})), ...(graph.census ?? [])];
  by("motifs").hidden = motifs.length === 0;
  fillTable("motifs", motifs, motif => [motif.name, [`${motif.truncated ? "≥ " : ""}${whole(motif.count)}`, "n"],
    [digits(motif.rewired?.mean), "n"], [digits(motif.rewired?.z), "n"]]);
}

function drawEdges(shown, level, undirected) {
  const {hello} = page.run, to = canvasOf("graph");
  if (!to) return;
  const {at, width, height} = to, spread = places.known ? places.of : places.circle;
  const fit = places.known ? places.fit(places.box, Math.max(places.pitch, 1), 8, 8, width - 16, height - 34)
                           : places.fit({x: [-1, 1], y: [-1, 1]}, 0.25, 8, 8, width - 16, height - 16);
  graphPoints = spread.map(place => place === null ? null : fit.at(place));
  const most = shown.reduce((a, edge) => Math.max(a, Math.abs(edge.weight)), 0) || 1, arrows = !undirected && shown.length <= 1500;
  const tested = css("--accent"), untested = css("--soft");
  for (let i = shown.length - 1; i >= 0; i--) {
    const edge = shown[i], from = graphPoints[edge.from], end = graphPoints[edge.to];
    if (!from || !end || edge.from === edge.to) continue;
    const inReach = level === null || level.has(edge.from) && level.has(edge.to), strong = !hasNoVerdict(edge) || undirected;
    at.globalAlpha = !inReach ? 0.08 : strong ? 0.85 : shown.length > 400 ? 0.18 : 0.4;
    at.strokeStyle = at.fillStyle = strong ? tested : untested;
    at.lineWidth = 0.6 + 2.4 * Math.abs(edge.weight) / most;
    drawEdge(at, from, end, undirected ? 0 : 0.12, arrows);
  }
  at.globalAlpha = 1;
  at.lineWidth = 1;
  drawUnits(at, level, width);
  if (places.known) drawScaleBar(at, fit, 10, height - 10, width / 2);
}

/* Bent to one side, so that both directions of a pair are seen; the arrow stands in the middle. */
function drawEdge(at, [x0, y0], [x1, y1], bend, arrow) {
  const mx = (x0 + x1) / 2 - (y1 - y0) * bend, my = (y0 + y1) / 2 + (x1 - x0) * bend, length = Math.hypot(x1 - x0, y1 - y0);
  at.beginPath();
  at.moveTo(x0, y0);
  at.quadraticCurveTo(mx, my, x1, y1);
  at.stroke();
  if (!arrow || length < 14) return;
  const x = (x0 + x1) / 4 + mx / 2, y = (y0 + y1) / 4 + my / 2, ux = (x1 - x0) / length, uy = (y1 - y0) / length, size = 3 + at.lineWidth;
  at.beginPath();
  at.moveTo(x + ux * size, y + uy * size);
  at.lineTo(x - ux * size - uy * size * 0.7, y - uy * size + ux * size * 0.7);
  at.lineTo(x - ux * size + uy * size * 0.7, y - uy * size - ux * size * 0.7);
  at.fill();
}

function drawUnits(at, level, width) {
  const many = graphPoints.length > 300, ink = css("--ink"), soft = css("--soft");
  graphPoints.forEach((point, unit) => {
    if (!point) return;
    const steps = level?.get(unit), size = many ? 1.6 : 4;
    const isOut = level && steps === undefined; /* a ring: not by its colour alone */
    at.fillStyle = at.strokeStyle = isOut ? soft : ink;
    at.beginPath();
    at.arc(point[0], point[1], unit === page.chosen ? size + 3 : size, 0, 2 * Math.PI);
    if (isOut) at.stroke();
    else at.fill();
  });
  nameUnits(at, level, width);
}

/* The chosen one, what it reaches, the others: a name that would stand on another is left out. */
function nameUnits(at, level, width) {
  const rank = unit => unit === page.chosen ? 0 : level?.has(unit) ? 1 : 2, drawn = [], ink = css("--ink"), soft = css("--soft");
  const units = graphPoints.map((_, unit) => unit).filter(unit => graphPoints[unit] && (graphPoints.length <= 70 || unit === page.chosen));
  at.textBaseline = "bottom";
  at.strokeStyle = css("--panel");
  at.lineWidth = 3;
  for (const unit of units.sort((a, b) => rank(a) - rank(b))) {
    const [x, y] = graphPoints[unit], steps = level?.get(unit), label = steps > 0 ? `${unitName(unit)} · ${steps}` : unitName(unit);
    const wide = at.measureText(label).width, left = x + 5 + wide > width ? x - 5 - wide : x + 5;
    if (drawn.some(box => left < box.right && box.left < left + wide && Math.abs(y - box.y) < 13)) continue;
    drawn.push({left, right: left + wide, y});
    at.fillStyle = level && steps === undefined ? soft : ink;
    at.strokeText(label, left, y - 3);
    at.fillText(label, left, y - 3);
  }
  at.lineWidth = 1;
}

/* The unit that a click on the graph or on the array is nearest to; of several at one place one click after the other. */
function chooseAt(event, points, room) {
  const box = event.currentTarget.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const distances = points.map(point => point ? Math.hypot(point[0] - x, point[1] - y) : Infinity);
  const nearest = distances.reduce((a, b) => Math.min(a, b), Infinity);
  const here = nearest < room ? points.map((_, unit) => unit).filter(unit => distances[unit] === nearest) : [];
  choose(here[here.indexOf(page.chosen) + 1] ?? null);
}

function choose(unit) {
  page.chosen = unit;
  redraw = changed.graph = changed.array = changed.raster = changed.responses = true;
}

/* ---- densities ---- */

let density = null;

function quantityText(quantity) {
  const [kind, ...rest] = quantity.split(" "), of = rest.join(" ");
  if (kind === "isi") return `intervals of ${of}`;
  if (kind === "delay") return `delay of ${itemText(of.split(" ")[0])}`;
  return kind === "rate" ? `rate of ${of}` : "positions of spikes";
}

function drawDensity() {
  const {densities} = page.run, list = by("density-of");
  const names = [...densities.keys()];
  while (list.options.length > names.length) list.remove(list.options.length - 1);
  names.forEach((name, i) => {
    const option = list.options[i] ?? list.appendChild(document.createElement("option"));
    if (option.value !== name) option.value = name;
    if (option.textContent !== quantityText(name)) option.textContent = quantityText(name);
  });
  const told = densities.get(list.value), plane = told?.grid.rows > 0;
  setText("density-none", told ? "" : "none is configured (`density` in the configuration), or there are fewer than 50 samples yet");
  by("density").hidden = !told || plane;
  by("density-plane").hidden = !plane;
  setText("density-what", told ? densityText(told) : "");
  if (told) (plane ? drawPlane : drawLine)(told);
}

function densityText(told) {
  const [kind] = told.quantity.split(" ");
  const unit = kind === "position" ? " of the covariance root" : told.grid.axis === "log" ? " of the natural logarithm" : kind === "rate" ? " Hz" : " s";
  const outside = told.outside > 0 ? `; ${digits(100 * told.outside, 2)} % lie outside` : "";
  return `bandwidth ${digits(told.h)}${unit}, ${seconds(told.from_s)} to ${seconds(told.to_s)} s${outside}`;
}

function drawLine(told) {
  const log = told.grid.axis === "log", milli = told.quantity.startsWith("rate") ? 1 : 1000;
  const xs = told.values.map((_, i) => told.grid.start + i * told.grid.step).map(x => milli * (log ? Math.exp(x) : x));
  const ys = told.values.map(value => log || value === null ? value : value / milli), unit = milli === 1 ? "Hz" : "ms";
  const of = told.quantity + document.documentElement.dataset.theme;
  density = plot(by("density"), density, of, [{label: "density", stroke: OKABE_ITO[0], width: 2, fill: "#0072b233"}],
    [xs, ys], {x: `${quantityText(told.quantity)}, ${unit}`, y: log ? "per unit of ln" : `per ${unit}`}, log);
}

function drawPlane(told) {
  const to = canvasOf("density-plane");
  if (!to) return;
  const {at, width, height} = to, {start, step, count, row_start, row_step, rows} = told.grid;
  const most = told.values.reduce((a, b) => Math.max(a, b ?? 0), 0) || 1;
  const box = {x: [start - step / 2, start + step * (count - 0.5)], y: [row_start - row_step / 2, row_start + row_step * (rows - 0.5)]};
  const fit = places.fit(box, 0, 8, 6, width - 100, height - 34);
  told.values.forEach((value, i) => {
    const column = i % count, row = Math.floor(i / count), corner = (a, b) => fit.at([start + step * (a - 0.5), row_start + row_step * (b - 0.5)]).map(Math.round);
    const [left, top] = corner(column, row + 1), [right, bottom] = corner(column + 1, row);
    at.fillStyle = viridisText((value ?? 0) / most);
    at.fillRect(left, top, right - left, bottom - top);
  });
  drawColourBar(at, width - 80, 24, height - 50, 0, most, false, "per µm²");
  drawScaleBar(at, fit, 10, height - 10, width / 2);
}

/* ---- the population: its rate, and network bursts ---- */

/* A scale up the left side from 0 to `high`; what it is of stands above it. */
function drawHeights(at, left, top, height, high, unit) {
  at.fillStyle = css("--soft");
  at.textBaseline = "middle";
  at.textAlign = "right";
  for (const value of roundValues(0, high, false, Math.max(2, Math.floor(height / 40)))) {
    const y = top + height * (1 - value / high);
    at.fillRect(left - 4, Math.round(y), 4, 1);
    at.fillText(digits(value), left - 7, Math.max(y, top + 2));
  }
  at.textAlign = "left";
  at.textBaseline = "bottom";
  at.fillText(unit, 4, top - 4);
}

/* Bars over network bursts, with a step at each end; one that goes on is open to the right. */
function drawBursts(at, shown, across, top, bottom) {
  const {hello, bursts} = page.run, columns = ns => ns * 1e-9 / hello.column_s;
  for (const told of bursts.values()) {
    const goesOn = told.event === "begin", from = Math.max(0, across - (shown - columns(told.first_ns)));
    const to = Math.min(across, goesOn ? across : across - (shown - columns(told.last_ns)));
    if (to <= 0 || from >= across) continue;
    const wide = Math.max(to - from, 1);
    at.fillStyle = css("--mark");
    at.globalAlpha = 0.16;
    at.fillRect(from, top, wide, bottom - top);
    at.globalAlpha = 1;
    at.fillRect(from, top - 7, wide, 2);
    at.fillRect(from, top - 7, 1, 6);
    if (!goesOn) at.fillRect(from + wide - 1, top - 7, 1, 6);
  }
}

function drawRate() {
  const to = canvasOf("population"), {hello} = page.run;
  if (!to || raster.next === raster.first) return;
  const {at, width, height} = to, left = 56, top = 30, bottom = height - 24, across = Math.floor(width - left - 4), shown = raster.shown();
  const from = Math.max(shown - across, raster.first);
  let most = 1;
  for (let column = from; column < shown; column++) most = Math.max(most, raster.sums[raster.place(column)]);
  drawHeights(at, left, top, bottom - top, most / hello.column_s, "spikes of all units a second");
  at.save();
  at.translate(left, 0);
  drawBursts(at, shown, across, top, bottom);
  at.fillStyle = css("--ink");
  for (let column = from; column < shown; column++) {
    const high = (bottom - top) * raster.sums[raster.place(column)] / most;
    at.fillRect(across - (shown - column), bottom - high, 1, high);
  }
  raster.drawTimes(at, shown, across, bottom);
  at.restore();
}

/* What the newest bursts are like, those that are over. */
function burstsText(over, count) {
  const {hello} = page.run, mean = of => over.reduce((sum, told) => sum + of(told), 0) / over.length;
  const rule = `${hello.bursts.spikes} spikes within ${digits(hello.bursts.within_ms)} ms`;
  if (over.length === 0) return `no burst is over yet (${rule})`;
  const apart = over.length > 1 ? `, one each ${digits((over[0].first_ns - over.at(-1).first_ns) * 1e-9 / (over.length - 1))} s` : "";
  return `${plural(count, "network burst")} so far (${rule}); the newest ${over.length}: ${digits(mean(told => (told.last_ns - told.first_ns) * 1e-6))} ms, ` +
    `${digits(mean(told => told.spikes))} spikes, ${digits(mean(told => told.units))} units in the mean${apart}`;
}

function drawPopulation() {
  const {hello, bursts} = page.run;
  if (!hello?.bursts) return;
  const newest = [...bursts.values()].sort((a, b) => b.burst - a.burst), over = newest.filter(told => told.event === "end");
  setText("population-what", burstsText(over, newest.length > 0 ? newest[0].burst + 1 : 0));
  drawRate();
  fillTable("bursts", newest.slice(0, MOST_ROWS), told => [[whole(told.burst), "n"], [seconds(told.first_ns * 1e-9), "n"],
    told.event === "begin" ? ["goes on", "n"] : [digits((told.last_ns - told.first_ns) * 1e-6, 4), "n"], [whole(told.spikes), "n"], [whole(told.units), "n"]]);
}

/* ---- criticality: the branching ratio ---- */

let criticality = null;

const ratioText = told => `${digits(told.branching_ratio, 4)}${told.branching_low === null ? "" : ` (${digits(told.branching_low, 4)} to ${digits(told.branching_high, 4)})`}`;

function drawCriticality() {
  const {hello, criticality: all} = page.run;
  if (!hello?.criticality) return;
  const {every_s, length_s, bin_ms} = hello.criticality, newest = all.at(-1), of = name => all.map(told => told[name]);
  const rule = `each ${digits(every_s)} s of the last ${digits(length_s)} s, in bins of ${digits(bin_ms)} ms`;
  setText("criticality-what", newest ? `branching ratio ${ratioText(newest)} at ${seconds(newest.to_s)} s, ${rule}${newest.missed ? `; ${whole(newest.missed)} left out` : ""}` : `no branching ratio yet: ${rule}`);
  setText("criticality-doubt", newest ? newest.cautions.map(({caution, text}) => `${caution}: ${text}`).join("\n") : "");
  if (newest)
    criticality = plot(by("criticality-series"), criticality, document.documentElement.dataset.theme,
      [["lower end", 5, 1], ["branching ratio", 0, 2], ["upper end", 5, 1]].map(([label, colour, width]) => ({label, stroke: OKABE_ITO[colour], width, points: {show: true}})),
      [of("to_s"), of("branching_low"), of("branching_ratio"), of("branching_high")], {x: "stream time, s", y: "branching ratio", near: true});
  fillTable("criticality", all.slice(-MOST_ROWS).reverse(), told => [[seconds(told.from_s), "n"], [seconds(told.to_s), "n"], [whole(told.spikes), "n"],
    [digits(told.branching_ratio, 4), "n"], [digits(told.branching_low, 4), "n"], [digits(told.branching_high, 4), "n"], [digits(told.timescale_s), "n"],
    [told.cautions.map(({caution}) => caution).join(", "), "name"]]);
}

/* ---- responses to a stimulus ---- */

/* What has come since the message before: the spikes of one trial, or of several where messages were left out. */
function takeTrials(told) {
  const {run} = page, before = run.response;
  run.response = told;
  if (!before || told.trials <= before.trials) return;
  const of = key => told[key].map((item, i) => item.bins.map((count, bin) => count - before[key][i].bins[bin]));
  run.trials.push({trials: told.trials - before.trials, units: of("units"), chains: of("chains")});
  const counts = (told.units.length + told.chains.length) * told.bins_exposed_ns.length;
  if (run.trials.length > Math.min(TRIAL_ROWS, Math.max(1, MOST_TRIAL_COUNTS / counts))) run.trials.shift();
}

/* What the histogram is of: the marked chain, the chosen unit, or all units. */
function subjectOf(told) {
  const chain = told.chains.findIndex(item => item.id === page.marked), sum = lists => lists.reduce((all, bins) => all.map((count, bin) => count + bins[bin]));
  if (chain >= 0) return {name: itemText(page.marked), bins: told.chains[chain].bins, of: trial => trial.chains[chain], one: "occurrences"};
  if (page.chosen !== null) return {name: unitName(page.chosen), bins: told.units[page.chosen].bins, of: trial => trial.units[page.chosen], one: "spikes"};
  return {name: "all units", bins: sum(told.units.map(item => item.bins)), of: trial => sum(trial.units), one: "spikes"};
}

/* Milliseconds around the marker to pixels. */
function aroundMarker(told, width) {
  const left = 56, across = width - left - 76, last = told.from_ms + told.bin_ms * told.bins_exposed_ns.length;
  return {left, across, last, x: ms => left + across * (ms - told.from_ms) / (last - told.from_ms)};
}

function drawMarker(at, {x}, top, bottom) {
  const {from_ms, to_ms} = page.run.hello.responses;
  at.fillStyle = css("--mark");
  at.globalAlpha = 0.12;
  at.fillRect(x(from_ms), top, x(to_ms) - x(from_ms), bottom - top);
  at.globalAlpha = 1;
  at.fillRect(Math.round(x(0)), top, 1, bottom - top);
}

function drawMilliseconds(at, told, place, bottom) {
  at.fillStyle = css("--soft");
  at.textBaseline = "top";
  at.textAlign = "center";
  at.fillRect(place.left, bottom, place.across, 1);
  for (const ms of roundValues(told.from_ms, place.last, false, Math.max(2, place.across / 80))) {
    at.fillRect(Math.round(place.x(ms)), bottom, 1, 4);
    at.fillText(digits(ms), place.x(ms), bottom + 6);
  }
  at.textAlign = "right";
  at.fillText("ms after it", place.left + place.across + 74, bottom + 6);
  at.textAlign = "left";
}

const binRate = (told, count, bin) => told.bins_exposed_ns[bin] > 0 ? count / (told.bins_exposed_ns[bin] * 1e-9) : NaN;

function drawHistogram(told, subject) {
  const to = canvasOf("psth");
  if (!to) return;
  const {at, width, height} = to, place = aroundMarker(told, width), top = 22, bottom = height - 22;
  const rates = subject.bins.map((count, bin) => binRate(told, count, bin)), most = rates.reduce((a, b) => b > a ? b : a, 0) || 1;
  drawMarker(at, place, top, bottom);
  drawHeights(at, place.left, top, bottom - top, most, `${subject.name}: ${subject.one} a second`);
  at.fillStyle = css("--accent");
  rates.forEach((rate, bin) => {
    const from = place.x(told.from_ms + bin * told.bin_ms), high = (bottom - top) * rate / most;
    if (rate > 0) at.fillRect(from, bottom - high, Math.max(place.across / rates.length - 0.5, 0.5), high);
  });
  drawMilliseconds(at, told, place, bottom);
}

/* Lines of cells, of which the strongest is `most`; what is less than `least`, or not known, is left empty. */
function drawCells(at, told, place, top, row, lines, least, most, shade) {
  const wide = place.across / told.bins_exposed_ns.length;
  lines.forEach((line, i) => line.forEach((value, bin) => {
    if (!(value >= least)) return;
    at.fillStyle = shade(value / most);
    at.fillRect(place.left + bin * wide, top + i * row, wide + 0.3, Math.max(row - (row > 3 ? 0.5 : 0), 0.6));
  }));
}

/* The newest trials below each other, the newest at the bottom. */
function drawTrials(told, subject) {
  const to = canvasOf("psth-trials");
  if (!to) return;
  const {at, width, height} = to, place = aroundMarker(told, width), top = 18, bottom = height - 4, {trials} = page.run;
  const room = Math.floor((bottom - top) / 2), some = trials.slice(-room), lines = some.map(trial => subject.of(trial).map(count => count / trial.trials));
  const most = lines.flat().reduce((a, b) => Math.max(a, b), 0) || 1, ink = css("--ink");
  at.fillStyle = css("--soft");
  at.textBaseline = "top";
  const several = some.some(trial => trial.trials > 1) ? "; a row of several trials has their mean" : "";
  at.fillText(trials.length === 0 ? "trials: none yet since this page was opened" : `trials: the newest ${lines.length}, the last at the bottom${several}`, 4, 0);
  drawMarker(at, place, top, bottom);
  drawCells(at, told, place, top, Math.min((bottom - top) / Math.max(lines.length, 1), 14), lines, 1e-9, most, share => {
    at.globalAlpha = 0.35 + 0.65 * share;
    return ink;
  });
  at.globalAlpha = 1;
}

function drawUnitRates(told) {
  const to = canvasOf("psth-units");
  if (!to) return;
  const {at, width, height} = to, place = aroundMarker(told, width), top = 18, bottom = height - 4, row = Math.min((bottom - top) / told.units.length, 14);
  const lines = told.units.map(item => item.bins.map((count, bin) => binRate(told, count, bin)));
  const most = lines.reduce((all, line) => line.reduce((a, b) => b > a ? b : a, all), 0) || 1;
  at.fillStyle = css("--soft");
  at.textBaseline = "top";
  at.fillText("units, in order from the top: spikes a second", 4, 0);
  drawCells(at, told, place, top, row, lines, 0, most, viridisText);
  at.fillStyle = css("--mark");
  at.fillRect(Math.round(place.x(0)), top, 1, row * told.units.length);
  if (page.chosen !== null) at.fillText(`▸ ${unitName(page.chosen)}`, 4, Math.min(Math.max(top + (page.chosen + 0.5) * row - 6, top), bottom - 12));
  drawColourBar(at, width - 66, 34, height - 44, 0, most, false, "Hz");
}

const evokedOf = (told, item) => (item.spikes - item.baseline_spikes / told.baseline_windows) / told.trials;
const responseCells = (told, item) => [[digits(evokedOf(told, item)), "n"], [digits(item.reliability, 2), "n"], [digits(item.baseline_reliability, 2), "n"],
  [digits(item.latency_ms), "n"], [digits(item.jitter_ms), "n"]];

function drawResponses() {
  const {hello, response: told} = page.run;
  if (!hello?.responses) return;
  const {marker, from_ms, to_ms, baseline} = hello.responses, windows = `${digits(from_ms)} to ${digits(to_ms)} ms after ${marker} beside ${plural(baseline, "window")} before`;
  if (!told) {
    setText("responses-what", `no trial yet: ${windows}`);
    return;
  }
  setText("responses-what", `${plural(told.trials, "trial")} of ${plural(told.markers, "marker")}, the last at ${seconds(told.marker_ns * 1e-9)} s: ${plural(told.spikes, "spike")} of ` +
    `${plural(told.answers, "unit")}${told.exposed < 1 ? `, ${digits(100 * told.exposed, 2)} % of its windows recorded` : ""}; ${windows}; no test (synfire responses)`);
  const subject = subjectOf(told), most = [...told.units].sort((a, b) => Math.abs(evokedOf(told, b)) - Math.abs(evokedOf(told, a)) || a.unit - b.unit);
  drawHistogram(told, subject);
  drawTrials(told, subject);
  drawUnitRates(told);
  fillTable("responses", most.slice(0, MOST_ROWS), item => [item.name, ...responseCells(told, item)], (row, item) => {
    row.tabIndex = 0;
    row.dataset.unit = item.unit;
    row.setAttribute("aria-selected", String(item.unit === page.chosen));
  });
  by("response-chains").hidden = told.chains.length === 0;
  fillTable("response-chains", told.chains, item => [itemText(item.id), ...responseCells(told, item)], (row, item) => makeMarkable(row, item.id));
}

/* ---- triggers ---- */

/* Bursts and rules have no spikes of their own. */
const lastedText = times => times.length > 0 ? ((times[times.length - 1] - times[0]) * 1e-6).toFixed(2) : "–";

function drawTriggers() {
  const {hello, status, triggers, triggerCounts} = page.run;
  if (!hello) return;
  const named = status?.triggers ?? [], watched = hello.watch.filter(one => one.trigger === null), all = watched.length + named.length;
  setText("triggers-what", all > 0 ? `${all} watched` : "nothing is watched (`watch` or `triggers` in the configuration, or --episodes FILE)");
  by("watched").hidden = watched.length === 0 && named.length > 0;
  fillTable("watched", watched, ({id}) => {
    const newest = triggerCounts.get(id);
    return [itemText(id), [whole(newest?.occurrence ?? 0), "n"], [newest ? seconds(newest.time_ns * 1e-9) : "–", "n"],
      newest ? qCell(newest) : ["–", "n"]];
  }, (row, {id}) => makeMarkable(row, id));
  by("named").hidden = named.length === 0;
  const restsOn = name => hello.watch.find(one => one.trigger === name)?.id;
  fillTable("named", named, trigger => [restsOn(trigger.name) ? `${trigger.name}: ${itemText(restsOn(trigger.name))}` : trigger.name, [trigger.armed ? "Disarm" : "Arm", "act"], armedCell(trigger), [whole(trigger.completed), "n"], [whole(trigger.sent), "n"], [whole(trigger.sham), "n"], [whole(trigger.withheld), "n"],
    [digits(trigger.chance_per_min), "n"]], (row, trigger) => {
    makeMarkable(row, restsOn(trigger.name));
    offerArming(row.cells[1], trigger);
  });
  const isWatched = trigger => hello.watch.some(one => one.trigger === null && one.episode === trigger.name);
  /* Those that complete together come in the order of their chains. */
  fillTable("triggers", [...triggers].sort((a, b) => b.time_ns - a.time_ns || b.seq - a.seq), trigger => {
    return [[(trigger.time_ns * 1e-9).toFixed(3), "n"], [isWatched(trigger) ? itemText(trigger.id) : trigger.name, "name"], [lastedText(trigger.spike_times_ns), "n"], [whole(trigger.occurrence), "n"], [trigger.age_ms === null ? "–" : trigger.age_ms.toFixed(2), "n"]];
  });
}

/* Who armed it, and since when. */
function armedCell(trigger) {
  if (!trigger.armed) return [`! not armed: ${trigger.not_armed}`, "warn"];
  const since = trigger.armed_at_s === null ? "the start" : `${digits(trigger.armed_at_s, 4)} s`;
  return [`✓ armed by ${trigger.armed_by} since ${since}${trigger.armed_s === null ? "" : `, ${digits(trigger.armed_s, 2)} s more`}`, "good"];
}

function offerArming(cell, {name, armed}) {
  let button = cell.firstElementChild;
  if (!button) {
    button = document.createElement("button");
    button.textContent = cell.textContent;
    cell.replaceChildren(button);
  }
  button.disabled = page.run.ended;
  button.setAttribute("aria-label", `${armed ? "disarm" : "arm"} ${name}`);
  button.onclick = event => {
    event.stopPropagation();
    order(`${armed ? "disarm" : "arm"} ${name}`);
  };
}

/* What waits for the token; the token itself is kept by the run's side of the connection alone. */
let ordered = null;

function order(text) {
  if (page.run.controls) return send(text);
  ordered = text;
  by("control-token").value = "";
  setText("control-refused", "");
  by("control").showModal();
}

function giveToken() {
  const token = by("control-token").value.trim();
  if (token) send(`control ${token}`);
  by("control-token").value = "";
}

/* The answer to a token, or to an order. */
function takeAnswer({trusted, controls, refused}) {
  Object.assign(page.run, {trusted, controls, refused});
  changed.triggers = true;
  if (!by("control").open) return;
  setText("control-refused", refused ?? "");
  if (!controls) return;
  by("control").close();
  send(ordered);
}

/* A row that a click or Enter on marks the occurrences of; a rule has none. */
function makeMarkable(row, id) {
  if (id === undefined) {
    row.removeAttribute("tabindex");
    delete row.dataset.id;
    return;
  }
  row.tabIndex = 0;
  row.dataset.id = id;
  row.setAttribute("aria-selected", String(id === page.marked));
}

/* ---- health ---- */

const LOSSES = [["late", "late"], ["out_of_range", "of no unit"], ["dropped", "no room"], ["leaps", "broken times"], ["missing_spikes", "never came"],
  ["gap_lost", "frames missing"], ["malformed", "frames malformed"], ["markers_late", "markers late"], ["markers_dropped", "markers: no room"],
  ["markers_left_out", "markers: broken times"], ["missing_markers", "markers that never came"]];

function stateText(state) {
  if (state === "live" || state === "ok") return [`✓ ${state}`, "good"];
  return state === "ended" || state === "stopped" ? [`■ ${state}`, ""] : state === "stalled" ? ["! stalled", "warn"] : [`✗ ${state}`, "bad"];
}

/* `watch` is done each time that spikes come and not by hop. */
const shareOfHop = stage => stage.share;

/* What recorders have, and how long their disks last; the name of what is not recorded is told as well. */
function recordingFigures(sinks) {
  const recorders = sinks.filter(sink => sink.name.startsWith("hdf5 ")), sum = key => recorders.reduce((all, sink) => all + sink[key], 0);
  const left = recorders.reduce((least, sink) => Math.min(least, sink.disk_left_s ?? Infinity), Infinity), lost = sum("spikes_lost");
  return [["recording", recorders.length > 0 ? `${whole(sum("spikes"))} spikes${lost > 0 ? `, ${whole(lost)} lost` : ""}` : "none", lost > 0],
    ["disk left", Number.isFinite(left) ? durationText(left) : "–", left < DISK_WARN_S]];
}

/* What costs nothing while all is well: in the overview only where it is not. */
function lossFigures(status) {
  return [["lost to the windows", "window_dropped"], ["given up by the watch", "watch_overflows"], ["decisions not told", "decisions_lost"],
    ["features not told", "features_lost"], ["not analysed: repeats", "dedup_dropped"], ["not analysed: blanked", "blank_dropped"],
    ["not analysed: after a trigger", "trigger_dropped"]].map(([name, key]) => [name, whole(status[key]), status[key] > 0])
    .filter(([name,, isBad], i) => isBad || i < 2);
}

/* Of each its name, its value, and whether it is one to look at. */
function healthFigures(status) {
  return [
    ["spikes", whole(status.spikes)], ["active units", `${status.unit_rates_hz.filter(rate => rate > 0).length} of ${status.unit_rates_hz.length}`],
    ...recordingFigures(status.sinks),
    ["due to watched", `${digits(status.latency?.p50_ms, 2)} ms, p99 ${digits(status.latency?.p99_ms, 2)} ms`],
    ["device", `${status.device}${status.device_state === "ok" || !status.device_state ? "" : `: ${status.device_state}`}`, status.device_state === "sick"],
    ["tested last", status.not_tested ?? (status.tests === 0 ? "nothing" : whole(status.tested))], ...lossFigures(status),
    ["tests made", `${whole(status.tests)}${status.test_length_s === null ? "" : `, in stretches of ${seconds(status.test_length_s)} s`}${status.tests_missed ? `, ${whole(status.tests_missed)} left out` : ""}`],
    ["stream time", `${seconds(status.time_ns * 1e-9)} s`], ["rate", `${digits(status.rate_hz)} Hz`], ["episodes counted", whole(status.tracked)],
    ["found", status.list_age_s === null ? "not yet" : `${seconds(status.list_age_s)} s ago${status.list_every_s === null ? "" : `, each ${seconds(status.list_every_s)} s`}`],
    ["watched", whole(status.watched)], ["edges", whole(status.edges)],
  ];
}

const OVERVIEW_FIGURES = 7;

function drawHealth() {
  const {status} = page.run;
  if (!status) return;
  setText("health-what", status.program ?? "");
  const figures = healthFigures(status);
  const list = by("figures");
  while (list.children.length > figures.length) list.lastChild.remove();
  figures.forEach(([name, value, isBad], i) => {
    const place = list.children[i] ?? list.appendChild(document.createElement("div"));
    if (place.children.length === 0) place.append(document.createElement("dt"), document.createElement("dd"));
    if (place.children[0].textContent !== name) place.children[0].textContent = name;
    const text = isBad ? `! ${value}` : value;
    if (place.children[1].textContent !== text) place.children[1].textContent = text;
    place.className = isBad ? "warn" : i < OVERVIEW_FIGURES ? "" : "more";
  });
  fillTable("sources", status.sources, source => {
    const lost = LOSSES.filter(([key]) => source[key] > 0).map(([key, name]) => `${name} ${whole(source[key])}`).join(", ");
    const silent = source.silent_ms > 1000 ? `, silent ${digits(source.silent_ms / 1000, 2)} s` : "", [text, kind] = stateText(status.last && source.state === "live" ? "stopped" : source.state);
    const behind = source.behind_s * 1000 > status.hop_ms ? `, ! ${digits(source.behind_s, 2)} s behind` : "";
    const unproved = source.authentication === "none" ? ", unauthenticated" : "", repeats = source.duplicate > 0 ? `; ${whole(source.duplicate)} repeats of an instant` : "";
    const others = source.other_streams > 0 ? `; ${whole(source.other_streams)} of other streams` : "";
    return [source.name, [text + silent + behind + unproved, behind ? "warn" : kind], [whole(source.spikes), "n"], [(lost || "none") + repeats + others, lost ? "warn" : ""]];
  });
  fillTable("sinks", status.sinks, sink => {
    const lost = sink.dropped + sink.failed, refused = sink.refused > 0 ? ` (${whole(sink.refused)} refused)` : "";
    const full = sink.state === "ok" && sink.disk_left_s !== null && sink.disk_left_s < DISK_WARN_S;
    const state = full ? [`! disk full in ${durationText(sink.disk_left_s)}`, "warn"] : stateText(sink.state);
    return [sink.name + refused, state, [whole(sink.published), "n"], [whole(lost), lost ? "n warn" : "n"],
      [sink.spikes + sink.spikes_lost > 0 ? whole(sink.spikes) : "–", "n"], [sink.spikes_lost > 0 ? whole(sink.spikes_lost) : "–", sink.spikes_lost ? "n bad" : "n"]];
  }, (row, sink) => { row.title = sink.note ?? ""; });
  fillTable("stages", status.stages, stage => {
    const share = shareOfHop(stage);
    return [stage.name, [digits(stage.last_ms), "n"], [digits(stage.p50_ms), "n"], [digits(stage.p99_ms), "n"], [digits(stage.max_ms), "n"],
      [share === null ? "–" : share > 0 && share < 1e-4 ? "< 0.01 %" : `${digits(100 * share, 2)} %`, ""], [whole(stage.missed), stage.missed ? "n warn" : "n"], [stage.device || "–", ""]];
  }, (row, stage) => {
    const share = shareOfHop(stage) ?? 0, cell = row.cells[5], text = cell.textContent;
    const bar = document.createElement("span");
    bar.className = share > 1 ? "share over" : "share";
    bar.style.width = `${Math.min(share, 1) * 8}em`;
    cell.replaceChildren(bar, text);
  });
}

/* ---- saving ---- */

/* What each view draws and lists. */
const PICTURES = {criticality: ["criticality-series"], responses: ["psth", "psth-trials", "psth-units"], population: ["population"], raster: ["raster"], episodes: ["series", "delays"], array: ["array"], graph: ["graph"], density: ["density", "density-plane"]};
const TABLES = {criticality: ["criticality"], responses: ["responses", "response-chains"], population: ["bursts"], episodes: ["episodes"], graph: ["edges", "motifs"], triggers: ["watched", "named", "triggers"], health: ["sources", "sinks", "stages"]};

function download(view, kind, blob) {
  const link = document.createElement("a"), at = page.run.status ? `-${seconds(page.run.status.time_ns * 1e-9)}s` : "";
  link.href = URL.createObjectURL(blob);
  link.download = `${page.run.hello?.stream ?? "synfire"}-${view}${at}.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* A cell of the page as one of CSV: without spaces in numbers, what is not known empty. */
function csvCell(text) {
  const plain = text === "–" ? "" : text.replaceAll("\u202f", "");
  return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const csvLines = rows => rows.map(row => [...row.cells].filter(cell => cell.className !== "act").map(cell => csvCell(cell.textContent)).join(",")).join("\n");

/* The tables that are shown, as they stand, one below the other. */
function saveTable(view) {
  const shown = TABLES[view].map(by).filter(table => !table.hidden && table.tBodies[0].rows.length > 0);
  const text = shown.map(table => `${csvLines([table.tHead.rows[0], ...table.tBodies[0].rows])}\n`).join("\n");
  download(view, "csv", new Blob([text], {type: "text/csv"}));
}

/* The canvases that are shown, as they stand, one below the other on the page's ground; what the view says above them. */
function savePicture(view) {
  const shown = PICTURES[view].map(by).filter(place => !place.hidden).flatMap(place => place.getContext ? [place] : [...place.querySelectorAll("canvas")])
    .filter(canvas => canvas.width > 0);
  const scale = window.devicePixelRatio || 1, head = Math.round(26 * scale), whole = document.createElement("canvas"), at = whole.getContext("2d");
  whole.width = shown.reduce((most, canvas) => Math.max(most, canvas.width), Math.round(400 * scale));
  whole.height = shown.reduce((sum, canvas) => sum + canvas.height, head);
  at.fillStyle = css("--panel");
  at.fillRect(0, 0, whole.width, whole.height);
  at.fillStyle = css("--ink");
  at.font = `${12 * scale}px system-ui, "Liberation Sans", sans-serif`;
  at.fillText(`${views[view].name}: ${by(`${view}-what`).textContent}`, 8 * scale, 17 * scale, whole.width - 16 * scale);
  let top = head;
  for (const canvas of shown) {
    at.drawImage(canvas, 0, top);
    top += canvas.height;
  }
  whole.toBlob(blob => download(view, "png", blob), "image/png");
}

/* ---- what comes ---- */

const changed = {};
const views = {
  raster: {name: "Raster", glides: true, draw: () => raster.draw()},
  episodes: {name: "Episodes", draw: drawEpisodes},
  array: {name: "Array", draw: drawArray},
  graph: {name: "Connections", draw: drawGraph},
  density: {name: "Densities", draw: drawDensity},
  triggers: {name: "Triggers", draw: drawTriggers},
  health: {name: "Health", draw: drawHealth},
  responses: {name: "Responses", draw: drawResponses, isOf: hello => hello.responses !== null},
  population: {name: "Population", glides: true, draw: drawPopulation, isOf: hello => hello.bursts !== null},
  criticality: {name: "Criticality", draw: drawCriticality, isOf: hello => hello.criticality !== null},
};

/* A view of what the run does not look for has no tab. */
const isThere = name => name === "overview" || !views[name].isOf || page.run.hello !== null && views[name].isOf(page.run.hello);
const OVERVIEW = ["raster", "episodes", "array", "graph", "health"];

const allChanged = () => Object.keys(views).forEach(name => { changed[name] = true; });

/* Of what was counted the newest, so that days do not fill the browser; what is marked and what is watched stays. */
function remember({id, names, delays_ms}) {
  const {items, hello} = page.run, stays = key => key === page.marked || hello.watch.some(one => one.id === key);
  items.delete(id);
  items.set(id, {id, names, delays_ms});
  for (const key of items.keys()) {
    if (items.size <= MOST_ITEMS) break;
    if (!stays(key)) items.delete(key);
  }
}

/* What is told while the display is paused waits, of each kind as much as is kept, so that every view stays at the moment
   that is looked at. The state of the run, and what answers a click, goes on. */
const waiting = new Map();

function onceShown(kind, most, take) {
  if (!page.paused) return take();
  if (!waiting.has(kind)) waiting.set(kind, []);
  const list = waiting.get(kind);
  list.push(take);
  if (list.length > most) list.shift();
}

function takeWaiting() {
  for (const list of waiting.values()) list.forEach(take => take());
  waiting.clear();
}

const takers = {
  status(told) {
    const {run} = page, now = performance.now();
    if (run.status && told.time_ns > run.status.time_ns) [run.clockEvery, run.clockAt] = [run.clockAt && now - run.clockAt, now];
    run.status = told;
    run.ended = told.last;
    onceShown("rates", 1, () => { run.rates = told.unit_rates_hz; changed.array = true; });
    changed.health = changed.triggers = true;
    if (told.last) allChanged(); // no view waits for anything any more
  },
  episodes(told) {
    onceShown("episodes", HISTORY, () => {
      const run = page.run;
      run.window = told;
      run.windows.push({hop: told.hop, to_s: told.to_s, counts: new Map(told.episodes.map(item => [item.id, [item.count, item.expected]]))});
      if (run.windows.length > HISTORY) run.windows.shift();
      told.episodes.forEach(remember);
      changed.episodes = true;
    });
  },
  trigger(told) {
    const run = page.run;
    run.triggers.push(told);
    beep();
    if (run.triggers.length > MOST_LISTED) run.triggers.shift();
    run.triggerCounts.set(told.id, told);
    changed.triggers = true;
  },
  graph(told) {
    onceShown("graph", 1, () => { page.run.graph = told; changed.graph = true; });
  },
  burst(told) {
    onceShown("bursts", MOST_BURSTS, () => {
      const {bursts} = page.run;
      bursts.delete(told.burst);
      bursts.set(told.burst, told);
      for (const number of bursts.keys())
        if (bursts.size > MOST_BURSTS) bursts.delete(number);
      changed.population = true;
    });
  },
  criticality(told) {
    onceShown("criticality", MOST_CRITICALITY, () => {
      const {criticality: all} = page.run;
      if (all.length > 0 && all.at(-1).seq >= told.seq) return;
      all.push(told);
      if (all.length > MOST_CRITICALITY) all.shift();
      changed.criticality = true;
    });
  },
  response(told) {
    onceShown("responses", TRIAL_ROWS, () => { takeTrials(told); changed.responses = true; });
  },
  density(told) {
    onceShown(`density of ${told.quantity}`, 1, () => { page.run.densities.set(told.quantity, told); changed.density = true; });
  },
};

function greet(hello) {
  page.run = emptyRun();
  page.run.hello = hello;
  by("control").close();
  page.marks = [];
  page.marked = null;
  page.chosen = null;
  waiting.clear();
  for (const {id, names, delays_ms} of hello.watch) page.run.items.set(id, {id, names, delays_ms});
  raster.begin(hello);
  places.begin(hello);
  setText("stream", hello.stream);
  document.title = `${hello.stream} · synfire`;
  for (const name of Object.keys(views)) by(`tab-${name}`).hidden = !isThere(name);
  if (!isThere(page.view)) show("overview");
  allChanged();
}

function takeMarks(view) {
  const id = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset, 16)), size = view.getUint32(16, true);
  if (id !== page.marked) return;
  const count = (view.byteLength - 24) / 8, at = i => view.getFloat64(24 + 8 * i, true), found = count - size;
  const units = Array.from({length: size}, (_, i) => at(found + i));
  for (let i = 0; i < found; i += size)
    page.marks.push({units, columns: Array.from({length: size}, (_, k) => at(i + k))});
  if (page.marks.length > MOST_MARKS) page.marks.splice(0, page.marks.length - MOST_MARKS);
  changed.episodes = true;
}

function take(buffer) {
  const view = new DataView(buffer), body = new DataView(buffer, 16), kind = view.getUint8(1);
  const json = () => JSON.parse(new TextDecoder().decode(body));
  if (view.getUint8(0) !== 1) throw new Error(`found a frame of version ${view.getUint8(0)}, expected 1`);
  page.frames++;
  page.age = view.getFloat64(8, true);
  page.ageAt = performance.now();
  if (kind === FRAME.hello) greet(json());
  else if (kind === FRAME.raster) { raster.take(body); changed.raster = true; }
  else if (kind === FRAME.edges) onceShown("edges", 1, () => { takeEdges(body); changed.graph = true; });
  else if (kind === FRAME.marks) { takeMarks(body); changed.raster = true; }
  else if (kind === FRAME.answer) takeAnswer(json());
  else if (kind === FRAME.message) { const told = json(); takers[told.topic]?.(told); }
}

/* ---- a beep ---- */

const BEEP_S = 0.08, BEEP_HZ = 880;
let sound = null, quietUntil = 0;

/* A browser makes no sound before it was clicked: the box that asks for beeps is that click. */
function askForBeeps() {
  if (by("triggers-beep").checked) sound ??= new AudioContext();
}

/* One at a time: of triggers within a beep the first is heard. */
function beep() {
  if (!by("triggers-beep").checked || sound === null || sound.currentTime < quietUntil) return;
  const tone = sound.createOscillator(), loudness = sound.createGain();
  quietUntil = sound.currentTime + 2 * BEEP_S;
  tone.frequency.value = BEEP_HZ;
  loudness.gain.setValueAtTime(0.2, sound.currentTime);
  loudness.gain.linearRampToValueAtTime(0, sound.currentTime + BEEP_S);
  tone.connect(loudness).connect(sound.destination);
  tone.start();
  tone.stop(sound.currentTime + BEEP_S);
}

/* ---- the tour ---- */

/* A cookie, since each run may have another port: what else a page keeps is of one port. */
const hasToured = () => document.cookie.includes("synfire-toured=1");

function endTour() {
  by("tour").hidden = true;
  document.cookie = "synfire-toured=1; max-age=31536000; samesite=strict";
}

/* ---- the connection ---- */

let socket = null, wait = 250;

function send(text) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(text);
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/frames`, "synfire-page-1");
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    page.link = "live";
    wait = 250;
    const token = location.hash.slice(1);
    if (token) send(`token ${token}`);
  };
  socket.onmessage = event => take(event.data);
  socket.onclose = () => {
    page.link = "lost";
    setTimeout(connect, wait);
    wait = Math.min(wait * 1.6, 3000);
  };
}

/* How old what is shown is, whatever happens: without a connection it grows on. */
const ageNow = () => page.age + performance.now() - page.ageAt;

/* A recording that was read to its end, of which windows may still be to come. */
const isRead = run => run.status.sources.every(source => source.state === "ended");

/* Does the time of the stream go on from status to status, of a source that is alive or has come to its end? Then nothing is
   stale: an array without a spike is silent, and windows follow what was read. */
const goesOn = run => run.clockAt > 0 && (isRead(run) || run.status.sources.some(source => source.state === "live")) &&
  performance.now() - run.clockAt < Math.max(STALE_MS, 1.5 * Math.min(run.clockEvery, 60000));

/* Spikes are drawn as they come, and windows follow: how far behind they are where that is more than two hops. */
function clockText(status) {
  const at = status.time_ns * 1e-9, newest = raster.next * page.run.hello.column_s, behind = newest - at > 2e-3 * status.hop_ms + 1;
  return `stream ${(behind ? newest : at).toFixed(1)} s, ${behind ? `analysed up to ${at.toFixed(1)} s, ` : ""}${digits(status.rate_hz)} Hz`;
}

function tellState() {
  const link = by("link"), age = ageNow(), old = !(age < STALE_MS) && page.frames > 0, goes = old && goesOn(page.run), stale = old && !goes;
  const [word, kind] = page.link === "connecting" ? ["… connecting", "stale"]
    : page.run.ended ? ["■ run ended", "off"]
    : page.link === "lost" ? ["✗ no connection, trying again", "off"]
    : page.paused ? ["❚❚ display paused", "stale"] : stale ? ["! no new data", "stale"] : [!goes ? "● live" : isRead(page.run) ? "● all read, being analysed" : "● live, no spikes", "live"];
  if (link.textContent !== word) [link.textContent, link.className] = [word, `badge ${kind}`];
  setText("age", page.frames > 0 ? ageText(age) : "");
  setText("note", page.run.refused ?? "");
  document.documentElement.classList.toggle("stale-data", stale || page.link === "lost");
  const status = page.run.status;
  if (status) setText("clock", clockText(status));
}

/* ---- the display ---- */

function show(view) {
  page.view = view;
  by("tabs").querySelectorAll("button").forEach(tab => {
    tab.setAttribute("aria-selected", String(tab.dataset.view === view));
    tab.tabIndex = tab.dataset.view === view ? 0 : -1;
  });
  document.querySelector("main").classList.toggle("overview", view === "overview");
  for (const name of Object.keys(views)) by(`view-${name}`).hidden = !isShown(name);
  allChanged();
}

const isShown = name => page.view === "overview" ? OVERVIEW.includes(name) : page.view === name;

function pause() {
  page.paused = !page.paused;
  page.back = 0;
  if (page.paused) raster.edge = raster.next;
  else {
    raster.goOn();
    takeWaiting();
  }
  by("pause").setAttribute("aria-pressed", String(page.paused));
  setText("pause", page.paused ? "Go on" : "Pause display");
  allChanged();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  if (page.run.hello) raster.repaint();
  allChanged();
}

let redraw = false; /* once more though the display is paused: the view or its size is another */

function drawAll() {
  requestAnimationFrame(drawAll); /* whatever becomes of this one */
  if (!page.paused || redraw) {
    const glides = !page.paused && raster.edge !== raster.next;
    if (glides) raster.glide();
    for (const [name, view] of Object.entries(views))
      if (isShown(name) && (changed[name] || (view.glides && glides))) {
        changed[name] = false;
        view.draw();
      }
  }
  redraw = false;
  tellState();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const inField = ["INPUT", "SELECT"].includes(event.target.tagName), key = event.key;
  const row = event.target.closest?.("tr[data-id]");
  if (by("control").open) {
    if (key === "Enter" && event.target.id === "control-token") giveToken();
    return;
  }
  if (by("keys").open) {
    if (key === "Escape" || key === "?") by("keys").close();
    return;
  }
  const unitRow = event.target.closest?.("tr[data-unit]");
  if (unitRow && key === "Enter") unitRow.cells[0].click();
  else if (unitRow && (key === "ArrowDown" || key === "ArrowUp")) stepRow(unitRow, key === "ArrowDown");
  else if (row && event.target === row && (key === "Enter" || key === " ")) mark(row.dataset.id);
  else if (row && (key === "ArrowDown" || key === "ArrowUp")) stepRow(row, key === "ArrowDown");
  else if (event.target.tagName === "BUTTON" && key === "Enter") return;
  else if (key === " " && !inField && (event.target.tagName !== "BUTTON" || event.target.role === "tab")) pause();
  else if (key === "?") by("keys").showModal();
  else if (key === "t") setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  else if (key === "l") by("array-log").click();
  else if (key === "Escape") { if (page.marked) mark(page.marked); choose(null); }
  else if (/^[0-9]$/.test(key) && !inField) { const name = ["overview", ...Object.keys(views)][Number(key)]; if (isThere(name)) show(name); }
  else if (["graph", "array"].includes(event.target.id) && (key === "ArrowRight" || key === "ArrowLeft")) stepUnit(key === "ArrowRight" ? 1 : -1);
  else if (page.paused && isShown("raster") && (key === "ArrowLeft" || key === "ArrowRight") && !inField) raster.scroll(key === "ArrowLeft" ? 100 : -100);
  else if (event.target.role === "tab" && (key === "ArrowRight" || key === "ArrowLeft")) stepTab(event.target, key === "ArrowRight");
  else return;
  redraw = changed.raster = true;
  event.preventDefault();
}

function stepUnit(by_) {
  const count = page.run.hello?.units.length ?? 1;
  choose(page.chosen === null ? 0 : (page.chosen + by_ + count) % count);
}

const stepRow = (row, forward) => (forward ? row.nextElementSibling : row.previousElementSibling)?.focus();

/* While the display is paused the wheel and a pull go where the arrows go. */
function onWheel(event) {
  if (!page.paused) return;
  event.preventDefault();
  raster.scroll(-(Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY));
}

function onPull(event) {
  if (page.paused && event.buttons === 1) raster.scroll(event.movementX);
}

function stepTab(tab, forward) {
  const step = of => forward ? of.nextElementSibling : of.previousElementSibling;
  let next = step(tab);
  while (next?.hidden) next = step(next);
  next ??= tab;
  next.focus();
  next.click();
}

function begin() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  [["overview", {name: "Overview"}], ...Object.entries(views)].forEach(([name, view], number) => {
    const tab = document.createElement("button");
    tab.role = "tab";
    tab.id = `tab-${name}`;
    tab.dataset.view = name;
    tab.textContent = view.name;
    tab.title = String(number);
    tab.hidden = !isThere(name);
    tab.addEventListener("click", () => { show(name); redraw = true; });
    by("tabs").append(tab);
  });
  by("pause").addEventListener("click", pause);
  by("theme").addEventListener("click", () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); redraw = true; });
  by("help").addEventListener("click", () => by("keys").showModal());
  by("keys-close").addEventListener("click", () => by("keys").close());
  by("tour-again").addEventListener("click", () => { by("keys").close(); by("tour").hidden = false; });
  by("tour-close").addEventListener("click", endTour);
  by("tour").hidden = hasToured();
  by("control-give").addEventListener("click", giveToken);
  by("control-close").addEventListener("click", () => by("control").close());
  by("triggers-beep").addEventListener("input", askForBeeps);
  for (const view of Object.keys(PICTURES)) by(`save-picture-${view}`).addEventListener("click", () => savePicture(view));
  for (const view of Object.keys(TABLES)) by(`save-table-${view}`).addEventListener("click", () => saveTable(view));
  for (const id of ["episodes", "watched", "named", "response-chains"])
    by(id).addEventListener("click", event => { const row = event.target.closest("tr[data-id]"); if (row) { mark(row.dataset.id); redraw = true; } });
  by("responses").addEventListener("click", event => {
    const row = event.target.closest("tr[data-unit]"), unit = row ? Number(row.dataset.unit) : null;
    if (row) choose(unit === page.chosen ? null : unit);
  });
  by("graph").addEventListener("click", event => chooseAt(event, graphPoints, 15));
  by("array").addEventListener("click", event => chooseAt(event, arrayPoints, Math.max(15, arraySide)));
  by("raster").addEventListener("wheel", onWheel, {passive: false});
  by("raster").addEventListener("pointermove", onPull);
  for (const id of ["graph-q", "graph-untested", "graph-w"]) by(id).addEventListener("input", () => { changed.graph = redraw = true; });
  by("array-log").addEventListener("input", () => { by("array-log").dataset.chosen = "yes"; changed.array = redraw = true; });
  by("density-of").addEventListener("input", () => { changed.density = redraw = true; });
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", () => { allChanged(); redraw = true; });
  show("overview");
  connect();
  requestAnimationFrame(drawAll);
}

begin();
