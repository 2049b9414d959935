// Values that are edited: typed or dragged, where Python can run the program again. The
// new run takes the place of the one before; what differs from the original glows.

import { Channel } from "./channel.js";
import { textButton } from "./controls.js";
import { Differences } from "./differences.js";
import { element, setText } from "./dom.js";
import { Edited, isUndo, isValue } from "./edited.js";
import { message } from "./messages.js";
import { succeed } from "./successor.js";

const SAYS_NOTHING_AFTER = 8000; // ms
const SLACK = 4; // px that a click may move
const PER_STEP = 3; // px of a drag
const DRAGGED = ":is(.leaf, .data, .cell, .slot, .gradient)[data-place]";

export class Edits extends Edited {
  constructor(trace, channel) {
    super();
    this.channel = channel;
    const [label, key, undo] = [message("editing.undo"), message("editing.key"), () => this.undo()];
    this.undoing = textButton(label, label, key, undo);
    this.ending = element("button", { onclick: () => this.undo(1) }, message("editing.end"));
    this.form = element("form");
    this.form.onsubmit = (event) => {
      event.preventDefault();
      const typed = this.input.value;
      const same = typed === this.text || Number(typed.trim() || NaN) === Number(this.text);
      if (same && this.describedAt === this.stepOf(this.what)) this.say(message("editing.same"));
      else this.set(this.what, typed, null);
    };
    const is = { className: "badge", title: this.undoing.title, onclick: undo };
    this.badge = element("button", is, message("editing.badge"));
    this.note.before(element("span", "ways", this.undoing, this.ending), this.form);
    this.box.addEventListener("keydown", (event) => {
      if (isUndo(event) && event.target !== this.input) this.undo(), event.preventDefault();
      if (event.key === "Escape") this.player.root.focus({ preventScroll: true }), this.choose("", "");
    });
    this.begin(trace);
  }

  // The run that all edits are made from.
  begin(trace) {
    this.runs = [{ edits: [], trace, say: "" }]; // an edit: what, position, text
    this.gesture = null;
    this.asked ||= 0;
    this.shown = this.asked + 1; // the first question whose answer may be shown
    this.what = "";
    setText(this.note, "");
  }

  get isOpen() {
    return this.runs.length > 1 || !this.form.hidden;
  }

  belongTo(player) {
    const { differing } = this.runs.at(-1);
    this.differences = differing ? new Differences(differing) : null;
    player.root.classList.add("listens");
    player.root.classList.toggle("edited", Boolean(differing));
    player.sentence.append(this.badge);
    player.graph.grab = (event) => this.grab(event);
    super.belongTo(player);
  }

  async connect() {
    return this;
  }

  mark(view) {
    const { differences, player } = this;
    if (differences) differences.mark(player, 1, differences.stepOf(1, view.position));
    super.mark(view);
  }

  render() {
    super.render(this.runs.at(-1).say);
    const count = this.runs.length - 1;
    this.badge.hidden = this.undoing.hidden = !count;
    this.ending.hidden = count < 2;
    if (!this.what) this.form.hidden = true;
    this.box.hidden &&= this.form.hidden;
  }

  async choose(what, name) {
    this.what = what;
    this.form.hidden = true;
    this.say("");
    if (!isValue(what)) return;
    const { position } = this.player;
    const described = await this.describe(what, position);
    if (described?.text && this.what === what) {
      this.fillForm(described.name || name, described);
      this.describedAt = position;
    }
    this.render();
  }

  async describe(what, position) {
    const question = { what, position, edits: this.runs.at(-1).edits };
    return this.channel.ask("describe", question).catch((error) => this.complain(error));
  }

  complain({ message: words }) {
    this.say(`⚠ ${words.replace(/^what_if: /, "")}`);
    return null;
  }

  fillForm(name, { text, number, step }) {
    this.text = text;
    this.input = element("input", { type: "text", value: text, spellcheck: false, autocomplete: "off" });
    this.form.replaceChildren(element("label", "", name, this.input));
    if (number !== null) {
      const most = 2 * Math.abs(number) || 1;
      const is = { type: "range", min: -most, max: most, step, value: number };
      const slider = element("input", { ...is, ariaLabel: message("editing.slider", { name }) });
      let gesture = {};
      slider.oninput = () => this.set(this.what, (this.input.value = slider.value), gesture);
      slider.onchange = () => (gesture = {});
      this.input.oninput = () => (slider.value = this.input.value);
      this.form.append(slider);
    }
    this.form.hidden = false;
  }

  say(words) {
    this.input?.setAttribute("aria-invalid", String(Boolean(words)));
    super.say(words);
  }

  // The step at which a value is edited: once more at the same, if it was edited last.
  stepOf(what, { edits } = this.runs.at(-1)) {
    const last = edits.at(-1);
    return last?.what === what ? last.position : this.player.position;
  }

  // Runs the program with another value. What belongs to one gesture is one edit; the
  // newest value of what was edited last takes the place of the one before.
  async set(what, text, gesture) {
    const goesOn = gesture !== null && gesture === this.gesture;
    const run = this.runs.at(goesOn ? -2 : -1);
    const position = this.stepOf(what, run);
    const before = run.edits.at(-1)?.what === what ? run.edits.slice(0, -1) : run.edits;
    const next = [...before, { what, position, text }];
    const number = (this.asked += 1);
    const silent = setTimeout(() => this.say(message("editing.silent")), SAYS_NOTHING_AFTER);
    this.player.pause();
    try {
      const answer = await this.channel.ask("edit", { edits: next });
      if (!answer || number < this.shown) return;
      if (gesture !== null && gesture === this.gesture) this.runs.pop();
      this.gesture = gesture;
      if (what === this.what) Object.assign(this, { text, describedAt: position });
      this.runs.push({ edits: next, ...answer });
      this.say("");
      this.show();
    } catch (error) {
      this.complain(error);
    } finally {
      clearTimeout(silent);
    }
  }

  // Back to the run before the newest edit, or to a run by its number.
  undo(keep = this.runs.length - 1) {
    if (this.runs.length < 2) return;
    this.runs.length = keep;
    this.gesture = null;
    this.shown = this.asked + 1;
    this.say("");
    this.show();
  }

  show() {
    succeed(this.player, this.runs.at(-1).trace);
    if (this.form.hidden || document.activeElement?.closest(".edits form")) return;
    const { what, player: { position } } = this;
    this.describe(what, position).then((described) => {
      if (!described?.text || what !== this.what) return;
      this.input.value = this.text = described.text;
      this.describedAt = position;
    });
  }

  // A number of the picture is dragged to the side; whether that begins here.
  grab({ clientX: left, clientY, pointerId }) {
    const under = document.elementsFromPoint(left, clientY);
    const what = under.map((one) => one.closest(DRAGGED)).find(Boolean)?.dataset.place;
    if (!what) return false;
    const { root } = this.player;
    const [gesture, listening] = [{}, new AbortController()];
    const { signal } = listening;
    const described = this.describe(what, this.player.position);
    let [by, text] = [0, ""];
    root.addEventListener("pointermove", async ({ clientX }) => {
      by = clientX - left;
      if (!text && Math.abs(by) < SLACK) return;
      this.player.graph.dragged = true;
      root.setPointerCapture(pointerId);
      const { number, step } = (await described) || { number: null, step: 0 };
      const next = String(Number((number + Math.round(by / PER_STEP) * step).toPrecision(6)));
      if (number !== null && next !== text) this.set(what, (text = next), gesture);
    }, { signal });
    for (const end of ["pointerup", "pointercancel"]) root.addEventListener(end, () => listening.abort(), { signal });
    return true;
  }
}

export function editsOver(trace, port) {
  return new Edits(trace, new Channel(port));
}
