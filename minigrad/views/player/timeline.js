// The bytes that are kept alive, owner by owner, along the steps.

import { element, setText, svgElement } from "./dom.js";
import { bytesOnce, isHeld } from "./memory.js";
import { message } from "./messages.js";
import { bytesWords } from "./values.js";

/** @typedef {{ node: string | null, of: string, items: Held[] }} Owner */
/** @typedef {{ at?: number, until?: number, key?: string }} Span */
/** @typedef {ReturnType<Memory["stateAt"]>} Moments */

const MOST_OWNERS = 6;
const MOST_BARS = 40; // more are drawn as the time in which any of them is held
const CURVE_HEIGHT = 100;

export class Timeline {
  /** @param {Memory} memory @param {Player} player @param {Choose} choose */
  constructor(memory, player, choose) {
    this.memory = memory;
    this.player = player;
    this.choose = choose;
    this.box = element("details", "memory");
    this.box.hidden = !memory.items.length;
    this.box.open = Boolean(player.trace.meta.memory);
    this.summary = element("summary");
    this.chart = element("div", "chart");
    this.box.append(this.summary, this.chart);
    this.owners = shownOwners(memory.owners());
    this.lay();
  }

  // Anew for each level: the steps are other ones.
  lay() {
    if (this.box.hidden) return;
    /** @type {Moments | null} */
    this.held = null;
    this.now = element("i", "now");
    this.picture = element("div", "tracks");
    this.picture.role = "img";
    this.picture.onclick = (event) => this.goTo(event);
    this.sums = this.owners.map(() => element("span", "sum"));
    this.labels = this.owners.map((owner) => this.label(owner));
    const labels = element("div", "owners");
    const sums = element("div", "sums");
    labels.append(element("span", "total", message("memory.total")), ...this.labels);
    this.total = element("span", "sum total");
    sums.append(this.total, ...this.sums);
    this.picture.append(this.curve());
    this.picture.append(...this.owners.map((owner) => this.track(owner)));
    this.veil = element("i", "veil"); // over what is still to come
    this.picture.append(this.veil, this.now);
    this.chart.replaceChildren(labels, this.picture, sums);
  }

  /** @param {Owner} owner */
  label({ node, of }) {
    if (!node) return element("span", "owner", of);
    const button = element("button", "owner", of);
    button.title = message("steps.of", { name: of });
    button.onclick = () => this.choose(`node ${node}`, of);
    return button;
  }

  /** @param {number} position */
  share(position) {
    return this.player.shareOf(this.player.stopAt(position));
  }

  /** @param {Owner} owner */
  track({ items }) {
    const track = element("div", "held");
    for (const item of items.length > MOST_BARS ? spansOf(items) : items) {
      const bar = element("i", item.key === "grad" ? "bar grad" : "bar");
      const from = this.share(item.at);
      const to = item.until === undefined ? 1 : this.share(item.until);
      bar.style.left = `${from * 100}%`;
      bar.style.width = `${Math.max(0, to - from) * 100}%`;
      if (item.until !== undefined) bar.classList.add("ends");
      track.append(bar);
    }
    return track;
  }

  curve() {
    const box = { viewBox: `0 0 1000 ${CURVE_HEIGHT}`, preserveAspectRatio: "none" };
    const svg = svgElement("svg", { ...box, class: "curve" });
    const most = this.memory.most.bytes || 1;
    /** @param {number} bytes */
    const high = (bytes) => CURVE_HEIGHT * (1 - (0.94 * bytes) / most);
    const steps = this.memory.curve.map(({ at, bytes }) => {
      return `H${(this.share(at) * 1000).toFixed(1)}V${high(bytes).toFixed(1)}`;
    });
    const path = `M0 ${CURVE_HEIGHT}${steps.join("")}H1000V${CURVE_HEIGHT}Z`;
    svg.append(svgElement("path", { d: path }));
    return svg;
  }

  /** @param {View} view */
  show({ position }) {
    if (this.box.hidden) return;
    const held = this.memory.stateAt(position);
    if (held !== this.held) this.showHeld(held, position);
    this.held = held;
    const here = `${100 * this.player.shareOf(this.player.stopNow())}%`;
    this.now.style.left = this.veil.style.left = here;
  }

  /** @param {Moments} held @param {number} position */
  showHeld(held, position) {
    const bytes = bytesWords(held.bytes);
    const { most } = held;
    const fields = {
      bytes,
      most: bytesWords(most.bytes),
      step: this.player.stopAt(most.at),
    };
    const summary = most.bytes ? "memory.summary" : "memory.summary.none";
    setText(this.summary, message(summary, fields));
    setText(this.total, bytes);
    /** @type {string[]} */
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

  /** @param {MouseEvent} event */
  goTo(event) {
    const place = this.picture.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - place.left) / place.width));
    this.player.goToStop(Math.round(part * (this.player.stops.length - 1)));
  }
}

/** @param {Span[]} items @returns {Span[]} */
function spansOf(items) {
  /** @type {Span[]} */
  const spans = [];
  for (const { at, until = Infinity } of [...items].sort((one, other) => one.at - other.at)) {
    const last = spans.at(-1);
    if (last && at <= last.until) last.until = Math.max(last.until, until);
    else spans.push({ at, until });
  }
  return spans.map((span) => (span.until === Infinity ? { at: span.at } : span));
}

/**
 * Those that hold most, in the order of time, and the rest as one.
 * @param {Owner[]} owners @returns {Owner[]}
 */
function shownOwners(owners) {
  if (owners.length <= MOST_OWNERS) return owners;
  /** @param {Owner} owner */
  const weight = ({ items }) => Math.max(...items.map((item) => item.bytes));
  const heavy = new Set([...owners].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_OWNERS - 1));
  const rest = owners.filter((owner) => !heavy.has(owner));
  const of = message("memory.others", { count: rest.length });
  /** @type {Owner} */
  const others = { node: null, of, items: rest.flatMap((owner) => owner.items) };
  return [...owners.filter((owner) => heavy.has(owner)), others];
}
