// Questions of a recording: nothing goes past one until an answer is committed, and the
// answer stays beside the outcome.

import { element } from "./dom.js";
import { message } from "./messages.js";

const SHOWN_FOR = 4; // stops after the question

export class Asks {
  constructor(player) {
    this.player = player;
    this.answers = player.options.answers || {}; // position -> number of the choice
    this.places = player.trace.events.flatMap(({ k }, index) => (k === "ask" ? [index + 1] : []));
    this.box = element("section", { className: "ask", hidden: true, ariaLabel: message("ask.name") });
    this.shown = null;
  }

  // How far one may go: to the first question without an answer.
  limit(position) {
    if (this.player.presenter.on) return position;
    const open = this.places.find((place) => this.answers[place] === undefined);
    return open === undefined ? position : Math.min(open, position);
  }

  waitsAt(position) {
    const { on } = this.player.presenter;
    return !on && this.isAt(position) && this.answers[position] === undefined;
  }

  isAt(position) {
    return this.places.includes(position);
  }

  // A presenter asks a room: without a form, and without an answer given before.
  again() {
    this.shown = null;
    const { player } = this;
    player.go(player.position);
    this.show(player);
  }

  show({ position }) {
    const place = this.places.findLast((one) => one <= position);
    const { on } = this.player.presenter;
    const asking = on ? this.isAt(position) : this.waitsAt(position);
    this.player.root.classList.toggle("asking", asking);
    const since = place ? this.player.stopAt(position) - this.player.stopAt(place) : 0;
    this.box.hidden = !place || since > SHOWN_FOR;
    if (this.box.hidden) return;
    const answered = this.answers[place] !== undefined;
    const now = `${place} ${answered} ${position > place}`;
    if (now === this.shown) return;
    this.shown = now;
    const event = this.player.trace.events[place - 1];
    if (on) this.box.replaceChildren(...this.onWall(event, position > place));
    else if (answered) this.box.replaceChildren(...this.outcome(event, place, position > place));
    else this.box.replaceChildren(this.form(event, place));
  }

  onWall(event, known) {
    const choices = event.choices.map((one) => element("li", known && one === event.answer ? "right" : "", one));
    const said = message(known ? "ask.is" : "ask.now", { answer: event.answer });
    return [
      element("p", "question", event.question),
      element("ul", "", ...choices),
      element("p", known ? "right" : "note", said),
    ];
  }

  form(event, place) {
    const legend = element("legend", event.say === event.question ? "unseen" : "", event.question);
    const choices = event.choices.map((words, value) => {
      return element("label", "", element("input", { type: "radio", name: `ask ${place}`, value }), ` ${words}`);
    });
    const commit = element("button", { className: "primary", type: "submit" }, message("ask.commit"));
    this.note = element("span", { className: "note", role: "status" }, message("ask.first"));
    const form = element("form", "", element("fieldset", "", legend, ...choices), commit, this.note);
    form.onsubmit = (submitted) => {
      submitted.preventDefault();
      this.commit(form, place);
    };
    return form;
  }

  commit(form, place) {
    const chosen = form.querySelector("input:checked");
    if (!chosen) {
      this.note.textContent = message("ask.choose");
      this.note.classList.add("warn");
      return;
    }
    this.answers[place] = Number(chosen.value);
    this.player.options.onAnswer?.(this.answers);
    this.shown = null;
    this.show({ position: this.player.position });
    this.player.root.focus({ preventScroll: true });
  }

  outcome(event, place, known) {
    const answer = event.choices[this.answers[place]];
    const said = element("p", "", message("ask.said", { question: event.question, answer }));
    if (!known) return [said, element("p", "note", message("ask.go-on"))];
    const right = answer === event.answer;
    const words = message(right ? "ask.right" : "ask.wrong", { answer: event.answer });
    return [said, element("p", right ? "right" : "wrong", words)];
  }

  // Where the way on is closed: to the choices.
  focus() {
    this.box.querySelector("input:checked, input")?.focus();
  }
}
