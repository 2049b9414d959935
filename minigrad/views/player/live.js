// The live player: inputs above a player, which shows what Python records with them.

import { Channel } from "./channel.js";
import { element, leaveFrame } from "./dom.js";
import { Edits } from "./edits.js";
import { message } from "./messages.js";
import { fitFrame, followTheme, recall, remember } from "./page.js";
import { Player } from "./player.js";
import { succeed } from "./successor.js";

const TYPED_AFTER = 400; // ms without a key: what was typed is meant
const SAID_AFTER = 600; // ms without a change: a screen reader hears what is so now
const WAITS_AFTER = 600;
const SILENT_AFTER = 8000;

export function startLive() {
  followTheme();
  const root = document.getElementById("player");
  const { port1, port2 } = new MessageChannel();
  root.live = new Live(root, new Channel(port1));
  parent.postMessage("minigrad live", "*", [port2]);
  fitFrame(root);
}

class Live {
  constructor(root, channel) {
    this.root = root;
    this.channel = channel;
    this.memory = `minigrad player ${root.dataset.key}`;
    this.fields = null; // name -> field
    this.change = ""; // the newest change made here
    this.changes = 0;
    this.form = element("form", { className: "live", ariaLabel: message("live.name") });
    this.form.onsubmit = (event) => event.preventDefault();
    this.form.addEventListener("keydown", ({ key }) => key === "Escape" && leaveFrame());
    this.status = element("p", { className: "status", role: "status" });
    this.printed = element("pre", { className: "printed", ariaLabel: message("live.printed") });
    this.drawn = element("div", "drawn");
    this.told = element("p", { className: "unseen", ariaLive: "polite" });
    this.place = element("div");
    root.replaceChildren(this.form, this.place);
    channel.onShown = (text) => this.show(JSON.parse(text));
  }

  // Also what is wrong with the inputs, what was printed, what was drawn (HTML), and the change
  // that led to it.
  show({ trace, inputs, values, problems, printed, drawn, by }) {
    const fresh = !this.fields;
    if (fresh) this.build(inputs);
    const mine = by.startsWith(this.channel.me);
    const newest = !mine || by === this.change;
    for (const [name, field] of this.fields) {
      if (!mine) field.put(values[name]);
      if (newest) field.complain(problems[name]);
    }
    this.printed.hidden = !printed;
    this.printed.textContent = printed;
    this.drawn.innerHTML = drawn;
    this.replace(trace);
    if (newest) this.say("");
    if (!fresh) this.tellSoon();
  }

  build(inputs) {
    const change = () => this.changed();
    this.fields = new Map();
    for (const name in inputs) this.fields.set(name, new Field(name, inputs[name], change));
    const boxes = [...this.fields.values()].map((field) => field.box);
    this.form.append(...boxes, this.status, this.printed, this.drawn, this.told);
  }

  changed() {
    this.changes += 1;
    this.change = `${this.channel.me} ${this.changes}`;
    const values = Object.fromEntries([...this.fields].map(([name, field]) => [name, field.value()]));
    if (!this.waits) {
      const say = (key, after) => setTimeout(() => this.say(message(key)), after);
      this.waits = [say("live.waits", WAITS_AFTER), say("live.silent", SILENT_AFTER)];
    }
    const ended = (error) => {
      this.waits?.forEach(clearTimeout);
      this.waits = null;
      this.say(error ? message("live.failed", { error: error.message }) : "");
    };
    const question = { values, by: this.change };
    const answered = (answer) => answer && question.by === this.change && ended();
    this.channel.ask("inputs", question).then(answered, ended);
  }

  // Under the inputs: what is waited for, what went wrong, or how the run ended.
  say(words) {
    const { error } = this.player?.trace.meta || {};
    this.status.classList.toggle("stopped", Boolean(words || error));
    this.status.textContent = words || (error ? message("live.stopped", { error }) : "");
  }

  tellSoon() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      this.told.textContent = message("live.told", { say: this.player.say.textContent });
    }, SAID_AFTER);
  }

  // Another trace in the place of the one shown, at the step that corresponds.
  replace(trace) {
    const onSuccessor = (player) => (this.root.player = this.player = player);
    if (this.player) {
      this.player.edits.begin(trace);
      succeed(this.player, trace);
      return;
    }
    onSuccessor(new Player(this.place, trace, {
      position: Number(recall(this.memory)) || 0,
      edits: new Edits(trace, this.channel),
      onSuccessor,
      onMove: (at) => remember(this.memory, at),
    }));
  }
}

// One argument: its label, what to change it with, and what is wrong with it.
class Field {
  constructor(name, input, change) {
    this.change = change;
    const [id, isSwitch] = [`input-${name}`, input.kind === "switch"];
    const type = isSwitch ? "checkbox" : "text";
    this.has = isSwitch ? "checked" : "value"; // true or false, else a text
    this.entry = element("input", { id, type, spellcheck: false, autocomplete: "off" });
    this.entry.oninput = () => this.typed();
    this.entry.onchange = () => this.meant();
    this.problem = element("p", { className: "problem", id: `${id}-problem`, role: "alert" });
    this.entry.setAttribute("aria-describedby", this.problem.id);
    const label = element("label", { htmlFor: id }, name);
    const slider = input.kind === "slider" ? this.sliderOf(name, input) : null;
    this.box = element("div", `field of-${input.kind}`, label, slider, this.entry, this.problem);
  }

  sliderOf(name, { low, high, step }) {
    const is = { className: "slider", type: "range", min: low, max: high, step };
    this.slider = element("input", { ...is, ariaLabel: message("live.slider", { name }) });
    this.slider.oninput = () => {
      this.entry.value = this.slider.value;
      this.meant();
    };
    return this.slider;
  }

  value() {
    return this.entry[this.has];
  }

  put(value) {
    this.last = this.entry[this.has] = value;
    this.moveSlider();
  }

  typed() {
    this.moveSlider();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.meant(), TYPED_AFTER);
  }

  // A box that is left, or Enter in it, says again what has been sent already.
  meant() {
    clearTimeout(this.later);
    const now = this.value();
    if (now === this.last) return;
    this.last = now;
    this.change();
  }

  moveSlider() {
    const number = Number(this.entry.value);
    if (this.slider && Number.isFinite(number)) this.slider.value = String(number);
  }

  complain(problem) {
    this.problem.textContent = problem ? message("live.problem", { problem }) : "";
    this.entry.ariaInvalid = String(Boolean(problem));
  }
}
