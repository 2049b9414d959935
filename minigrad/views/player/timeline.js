// The bytes that are kept alive, owner by owner, along the steps.

import { element, setText, svgElement } from "./dom.js";
import { bytesOnce, isHeld } from "./memory.js";
import { message } from "./messages.js";
import { bytesWords } from "./values.js";

const MOST_OWNERS = 6;
const MOST_BARS = 40; // more are drawn as the time in which any of them is held
const CURVE_HEIGHT = 100;

export class Timeline {
  constructor(player) {
    this.player = player;
    this.memory = player.memory;
    this.summary = element("summary");
    this.chart = element("div", "chart");
    const is = { className: "memory", hidden: !this.memory.items.length, open: Boolean(player.trace.meta.memory) };
    this.box = element("details", is, this.summary, this.chart);
    this.owners = shownOwners(this.memory.owners());
  }

  // Anew for each level: the steps are other ones.
  lay() {
    if (this.box.hidden) return;
    this.held = null;
    this.now = element("i", "now");
    this.veil = element("i", "veil"); // over what is still to come
    const tracks = this.owners.map((owner) => this.track(owner));
    const is = { className: "tracks", role: "img", onclick: (event) => this.goTo(event) };
    this.picture = element("div", is, this.curve(), ...tracks, this.veil, this.now);
    this.total = element("span");
    this.sums = this.owners.map(() => element("span"));
    this.labels = this.owners.map((owner) => this.label(owner));
    const labels = element("div", "owners", element("span", "", message("memory.total")), ...this.labels);
    this.chart.replaceChildren(labels, this.picture, element("div", "sums", this.total, ...this.sums));
  }

  label({ node, of }) {
    if (!node) return element("span", "owner", of);
    const onclick = () => this.player.found.stepsOf(`node ${node}`, of);
    return element("button", { className: "owner", title: message("steps.of", { name: of }), onclick }, of);
  }

  share(position) {
    return this.player.shareOf(this.player.stopAt(position));
  }

  track({ items }) {
    const bars = (items.length > MOST_BARS ? spansOf(items) : items).map(({ at, until, key }) => {
      const ends = until < Infinity;
      const bar = element("i", `bar ${key === "grad" ? key : ""} ${ends ? "ends" : ""}`);
      const from = this.share(at);
      bar.style.left = `${from * 100}%`;
      bar.style.width = `${Math.max(0, (ends ? this.share(until) : 1) - from) * 100}%`;
      return bar;
    });
    return element("div", "held", ...bars);
  }

  curve() {
    const most = this.memory.most.bytes || 1;
    const high = (bytes) => CURVE_HEIGHT * (1 - (0.94 * bytes) / most);
    const steps = this.memory.curve.map(({ at, bytes }) => {
      return `H${(this.share(at) * 1000).toFixed(1)}V${high(bytes).toFixed(1)}`;
    });
    const path = svgElement("path", { d: `M0 ${CURVE_HEIGHT}${steps.join("")}H1000V${CURVE_HEIGHT}Z` });
    const box = { viewBox: `0 0 1000 ${CURVE_HEIGHT}`, preserveAspectRatio: "none" };
    return svgElement("svg", { class: "curve", ...box }, path);
  }

  show({ position }) {
    if (this.box.hidden) return;
    const held = this.memory.stateAt(position);
    if (held !== this.held) this.showHeld(held, position);
    this.held = held;
    const here = `${100 * this.player.shareOf(this.player.stopNow())}%`;
    this.now.style.left = this.veil.style.left = here;
  }

  showHeld(held, position) {
    const { most } = held;
    const bytes = bytesWords(held.bytes);
    const fields = { bytes, most: bytesWords(most.bytes), step: this.player.stopAt(most.at) };
    const summary = most.bytes ? "memory.summary" : "memory.summary.none";
    setText(this.summary, message(summary, fields));
    setText(this.total, bytes);
    const parts = [];
    this.owners.forEach((owner, index) => {
      const own = bytesOnce(owner.items.filter((item) => isHeld(item, position)));
      const words = own ? bytesWords(own) : message("memory.none");
      setText(this.sums[index], words);
      const later = owner.items.every(({ at }) => at > position);
      for (const one of [this.labels[index], this.sums[index]]) one.classList.toggle("later", later);
      if (own) parts.push(message("memory.part", { owner: owner.of, bytes: words }));
    });
    const all = parts.join(", ") || message("memory.nobody");
    this.picture.ariaLabel = message("memory.sentence", { ...fields, parts: all });
  }

  goTo(event) {
    const place = this.picture.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - place.left) / place.width));
    this.player.goToStop(Math.round(part * (this.player.stops.length - 1)));
  }
}

function spansOf(items) {
  const spans = [];
  for (const { at, until = Infinity } of items.toSorted((one, other) => one.at - other.at)) {
    const last = spans.at(-1);
    if (at <= last?.until) last.until = Math.max(last.until, until);
    else spans.push({ at, until });
  }
  return spans;
}

// Those that hold most, in the order of time, and the rest as one.
function shownOwners(owners) {
  if (owners.length <= MOST_OWNERS) return owners;
  const weight = ({ items }) => Math.max(...items.map((item) => item.bytes));
  const heavy = new Set([...owners].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_OWNERS - 1));
  const rest = owners.filter((owner) => !heavy.has(owner));
  const of = message("memory.others", { count: rest.length });
  const others = { node: null, of, items: rest.flatMap((owner) => owner.items) };
  return [...owners.filter((owner) => heavy.has(owner)), others];
}
