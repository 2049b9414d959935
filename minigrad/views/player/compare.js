// Two recordings in one player: two pictures that step together by one slider, grey but
// for what differs.

import { textButton } from "./controls.js";
import { Differences } from "./differences.js";
import { element, setText } from "./dom.js";
import { blankState } from "./folding.js";
import { Found } from "./found.js";
import { onKey } from "./keys.js";
import { message } from "./messages.js";
import { start } from "./page.js";
import { LEAST_SCALE } from "./picture.js";
import { Player } from "./player.js";
import { pictureOf } from "./saving.js";

const REST = blankState();

export class Comparison extends Player {
  constructor(root, data, options = {}) {
    super(root, joined(data), { ...options, side: true }); // what differs is not edited
    if (!options.position) this.goToDifference();
  }

  build() {
    const { root, trace } = this;
    const { data, differences } = trace;
    Object.assign(this, { data, differences, changes: data.changes });
    this.prepare();
    root.classList.add("mg-comparison");
    this.next = textButton(message("compare.next"), message("compare.next"), "d", () => this.goOn());
    this.next.hidden = !data.changes.some(({ say }) => say);
    const sentence = element("div", "sentence", this.say, this.next);
    const lead = element("p", { className: "difference", hidden: !data.lead }, data.lead);
    const both = (this.stage = element("div", "sides"));
    this.sides = data.traces.map((one, which) => {
      const place = element("div", "side");
      both.append(place);
      // Before the side's own: its keys are those of both.
      place.addEventListener("keydown", (event) => {
        this.onKey(event);
        event.stopImmediatePropagation();
      });
      const side = new Player(place, one, {
        level: this.level,
        side: true,
        onMove: (at) => this.follow(which, at),
      });
      const title = (side.title = data.titles[which]);
      side.sentence.prepend(element("h2", "", title));
      place.tabIndex = -1;
      side.say.ariaLive = null;
      // Landmarks of the two sides have different names.
      for (const part of place.querySelectorAll("section[aria-label], [role=region]")) {
        part.ariaLabel = message("compare.side", { name: part.ariaLabel, side: title });
      }
      return side;
    });
    trace.events.forEach((event) => {
      event.say = [...new Set(event.of.map((one) => one.say))].join(" ");
    });
    this.found = new Found(this);
    root.replaceChildren(lead, sentence, this.found.box, both, this.buildBar(), this.help);
    const tall = Math.max(...this.sides.map((side) => side.graph.readableHeight()));
    root.style.setProperty("--tall", `${tall}px`);
    for (const side of this.sides) side.root.style.removeProperty("--tall");
    new ResizeObserver(() => this.arrange()).observe(root);
    this.arrange();
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  // Beside each other where both can be read as a whole, else above each other.
  arrange() {
    if (this.presenter.on) return;
    const room = this.root.clientWidth / 2 - 40;
    const wide = Math.max(0, ...this.sides.map(({ graph }) => graph.picture?.size[0] || 0));
    this.root.classList.toggle("abreast", wide * LEAST_SCALE <= room);
  }

  // The side that has the focus, else the first: what is asked of one picture goes there.
  get active() {
    return this.sides.find(({ root }) => root.contains(document.activeElement)) || this.sides[0];
  }

  get ways() {
    return ["below", "abreast"];
  }

  get graphs() {
    return this.sides.map((side) => side.graph);
  }

  get graph() {
    const both = this.graphs;
    return {
      svg: both.find(({ svg }) => svg)?.svg,
      zoom: (by) => both.forEach((one) => one.zoom(by)),
      fit: () => both.forEach((one) => one.fit()),
    };
  }

  // Both, one above the other.
  pictureNow() {
    const drawn = this.sides.filter(({ graph }) => graph.svg);
    const all = drawn.map((side) => pictureOf(side.graph, `${side.title}: ${side.say.textContent}`));
    const width = Math.max(...all.map((one) => one.width));
    let height = 0;
    const texts = all.map((one) => {
      const text = one.text.replace("<svg ", `<svg y="${height}" `);
      height += one.height;
      return text;
    });
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return { text: `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${texts.join("")}</svg>`, width, height };
  }

  get tip() {
    return this.active.tip;
  }

  get numbers() {
    return this.active.numbers;
  }

  onKey(event) {
    const ofSide = ["Escape", "="].includes(event.key) && this.help.hidden && this.found.box.hidden;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && event.target.type !== "search";
    if (event.key === "d" && plain) this.goOn();
    else onKey(ofSide ? this.active : this, event);
  }

  show(to, since, stop) {
    this.moved = true;
    this.sides.forEach((side, which) => {
      const at = this.differences.steps[to][which];
      side.root.classList.toggle("waits", to > 0 && this.differences.steps[Math.max(0, since)][which] === at);
      side.go(at);
    });
    this.moved = false;
    this.mark(since, to);
    this.showWords({ state: REST, event: null }, stop);
    const alike = to > 0 && this.sides[0].say.textContent === this.sides[1].say.textContent;
    if (alike) setText(this.sides[1].say, message("compare.alike"));
  }

  // A side was moved by what is clicked in it: the other goes along.
  follow(side, at) {
    if (this.moved !== false) return;
    this.position = -1;
    this.go(this.differences.stepOf(side, at));
  }

  // Gives both pictures what differs at a position, and what has come to since another.
  mark(since, to) {
    this.news = this.changes.find(({ at, say }) => say && at > since && at <= to)?.say || "";
    this.differing = this.differences.at(to).size;
    this.sides.forEach((side, which) => {
      side.graph.drew = () => this.differences.mark(side, which, to, since);
      side.graph.drew();
    });
  }

  // What has come to differ; else whether anything does.
  sayStep() {
    const before = !this.position || this.changes.every(({ at, say }) => at > this.position || !say);
    const count = this.differing;
    const none = !this.next || this.next.hidden;
    const other = none ? this.data.say : message(before ? "compare.so-far" : count ? "compare.no-more" : "compare.again", { count });
    setText(this.say, this.news || other);
    this.root.classList.toggle("news", Boolean(this.news));
  }

  // The stops at which something comes to differ.
  places() {
    const found = this.changes.filter(({ say }) => say).map(({ at }) => (at ? this.stopAt(at) : 0));
    return [...new Set(found)];
  }

  goToDifference() {
    this.goToStop(this.places()[0] ?? 0);
  }

  goOn() {
    const places = this.places();
    const next = places.find((one) => one > this.stopNow()) ?? places[0];
    if (next !== undefined) this.goToStop(next);
  }

  // At the slider: where forward ends, and where something comes to differ.
  lay() {
    this.layRegions();
    this.regions.append(...this.marksOf(this.places()));
  }

  setLevel(level) {
    this.moved = true;
    for (const side of this.sides) side.setLevel(level);
    super.setLevel(level);
  }

  showEngine() {
    for (const side of this.sides) side.showEngine();
  }

  inspect() {
    const open = this.sides.some(({ root }) => root.classList.contains("inspecting"));
    for (const side of this.sides) side.inspect(!open);
  }

  isAtRest() {
    const closed = this.help.hidden && this.found.box.hidden && !this.presenter.on;
    return closed && !this.playing && this.sides.every((side) => side.isAtRest());
  }
}

// Both as one recording, in which a step is one of both, or of one while the other waits.
function joined(data) {
  const differences = new Differences(data);
  const { steps } = differences;
  const events = steps.slice(1).map((now, place) => {
    const of = data.traces.flatMap(({ events }, side) => events.slice(steps[place][side], now[side]));
    const lvl = Math.min(...of.map((one) => one.lvl));
    return { k: of[0].k, lvl, d: 0, say: "", of };
  });
  const graph = { nodes: [], edges: [] };
  return { meta: data.meta, sources: [], values: {}, ctxs: [], graph, events, data, differences };
}

export function startComparison() {
  start(Comparison);
}
