// SPDX-License-Identifier: Apache-2.0
// The page's own script in a document of the least it asks for, without a browser:
//     node page_dom.js PAGE_FOLDER FRAMES [CODE...]
// takes the frames (each a length of four bytes and that many), draws every view, and prints as JSON what stands in each element
// with an id, rows of tables as lists, and what each CODE gives then.
"use strict";
const fs = require("fs"), path = require("path"), vm = require("vm");
const [folder, frames, ...codes] = process.argv.slice(2);
const html = fs.readFileSync(path.join(folder, "index.html"), "utf8"), elements = new Map(), saved = [];

const pen = () => new Proxy({}, {
  get: (of, name) => name === "measureText" ? text => ({width: 7 * String(text).length})
    : name === "createImageData" ? (width, height) => ({data: new Uint8ClampedArray(4 * width * height)})
    : name in of ? of[name] : () => undefined,
  set: (of, name, value) => { of[name] = value; return true; },
});

class Element {
  constructor(tag, id = "") {
    Object.assign(this, {tagName: tag.toUpperCase(), id, hidden: false, className: "", dataset: {}, style: {}, children: [], handlers: {}, attributes: {},
      value: "", checked: false, clientWidth: 800, clientHeight: 400, own: "", tBodies: [], rows: [], cells: [], classList: {toggle() {}}});
    if (tag === "table") this.tBodies.push(new Element("tbody"));
  }
  get textContent() { return this.own + this.children.map(child => typeof child === "string" ? child : child.textContent).join(""); }
  set textContent(text) { this.own = String(text); this.children = []; }
  get options() { return this.children; }
  get lastChild() { const {parent} = this; return Object.assign(this.children.at(-1), {remove: () => this.children.pop()}); }
  append(...all) {
    this.children.push(...all);
    for (const child of all) if (child.id) elements.set(child.id, child);
  }
  appendChild(child) { this.children.push(child); return child; }
  replaceChildren(...all) { this.own = ""; this.children = all; }
  insertRow() { const row = new Element("tr"); this.rows.push(row); return row; }
  deleteRow(at) { this.rows.splice(at, 1); }
  insertCell() { const cell = new Element("td"); this.cells.push(cell); return cell; }
  remove(at) { this.children.splice(at, 1); }
  setAttribute(name, value) { this.attributes[name] = value; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(name, handler) { this.handlers[name] = handler; }
  click() { if (this.download) saved.push({name: this.download, href: this.href}); this.handlers.click?.({target: this, currentTarget: this}); }
  querySelectorAll() { return this.children.filter(child => child instanceof Element); }
  getContext() { return this.pen ??= Object.assign(pen(), {canvas: this}); }
  getBoundingClientRect() { return {left: 0, top: 0}; }
  closest() { return null; }
  showModal() {}
  close() {}
  toBlob(take, type) { take({text: `${type}|${this.width}x${this.height}`}); }
}

for (const [, tag, id] of html.matchAll(/<([a-z]+)[^>]*? id="([^"]+)"/g)) elements.set(id, new Element(tag, id));
for (const [, id, head] of html.matchAll(/<table id="([^"]+)">.*?<thead><tr>(.*?)<\/tr>/gs))
  elements.get(id).tHead = {rows: [{cells: [...head.matchAll(/<th[^>]*>(.*?)<\/th>/gs)].map(([, text]) => ({textContent: text}))}]};
for (const [, id, value] of html.matchAll(/<input[^>]*? id="([^"]+)"[^>]*? value="([^"]+)"/g)) elements.get(id).value = value;
for (const [, id] of html.matchAll(/<input[^>]*? id="([^"]+)"[^>]*? checked/g)) elements.get(id).checked = true;
const root = new Element("html"), main = new Element("main");
const document = {
  documentElement: root, title: "", cookie: "", getElementById: id => elements.get(id), createElement: tag => new Element(tag), addEventListener() {},
  querySelector: () => main, querySelectorAll: () => [], createElementNS: (_, tag) => new Element(tag), body: new Element("body"),
};
class uPlot {
  constructor(options, data) { Object.assign(this, {options, data, series: options.series, height: options.height, width: options.width, ctx: pen()}); }
  setData(data) { this.data = data; }
  setSize() {}
  destroy() {}
}
uPlot.paths = {stepped: () => null};
class WebSocket { send() {} }
class AudioContext {
  currentTime = 1; beeps = 0;
  createOscillator() { return {frequency: {}, connect: on => on, start: () => { this.beeps++; }, stop() {}}; }
  createGain() { return {gain: {setValueAtTime() {}, linearRampToValueAtTime() {}}, connect: on => on}; }
}
const world = vm.createContext({
  document, uPlot, WebSocket, AudioContext, performance, TextDecoder, console, setTimeout() {}, requestAnimationFrame() {}, location: {host: "", hash: ""},
  getComputedStyle: () => ({getPropertyValue: () => "#000"}), matchMedia: () => ({matches: false, addEventListener() {}}),
  URL: {createObjectURL: blob => blob.text, revokeObjectURL() {}}, Blob: class { constructor(parts, {type}) { this.text = `${type}|${parts.join("")}`; } },
});
world.window = Object.assign(world, {devicePixelRatio: 1, addEventListener() {}});
vm.runInContext(fs.readFileSync(path.join(folder, "page.js"), "utf8"), world);
const bytes = fs.readFileSync(frames);
for (let at = 0; at < bytes.length;) {
  const length = bytes.readUInt32LE(at), frame = bytes.subarray(at + 4, at + 4 + length);
  world.frame = new Uint8Array(frame).buffer;
  vm.runInContext("take(frame)", world);
  at += 4 + length;
}
const seen = {};
vm.runInContext("for (const view of Object.values(views)) view.draw()", world);
vm.runInContext("tellState()", world);
for (const [id, element] of elements)
  seen[id] = element.tBodies.length > 0 ? element.tBodies[0].rows.map(row => row.cells.map(cell => cell.textContent)) : element.textContent;
seen.gave = codes.map(code => vm.runInContext(code, world) ?? null);
seen.saved = saved;
console.log(JSON.stringify(seen));
