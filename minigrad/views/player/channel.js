// The wire between a page and Python, by way of the widget around its frame.

import { message } from "./messages.js";

export class Channel {
  constructor(port) {
    this.port = port;
    this.me = String(Math.random()); // a widget may be shown in several places
    this.count = 0;
    this.asked = new Map(); // id -> question under way
    this.waiting = new Map(); // kind -> the newest question that was not sent yet
    this.onShown = () => {}; // what a live player is to show, which Python says unasked
    port.onmessage = ({ data }) => this.hear(data);
  }

  // What Python answers. While a question is under way only the newest of its kind
  // waits; those it overtakes are answered with undefined.
  ask(kind, content) {
    return new Promise((resolve, reject) => {
      this.waiting.get(kind)?.resolve(undefined);
      this.waiting.set(kind, { kind, content, resolve, reject });
      if (![...this.asked.values()].some((one) => one.kind === kind)) this.sendNext(kind);
    });
  }

  sendNext(kind) {
    const question = this.waiting.get(kind);
    this.waiting.delete(kind);
    if (!question) return;
    this.count += 1;
    const id = `${this.me} ${this.count}`;
    this.asked.set(id, question);
    this.port.postMessage({ kind, id, content: question.content });
  }

  // What Python says; an answer has the id of its question.
  hear({ kind, id, content, refused, gone }) {
    if (kind === "shown") this.onShown(content);
    const question = this.asked.get(id);
    if (!question) return; // asked by another page of the same widget
    this.asked.delete(id);
    if (gone) question.reject(new Error(message("editing.gone")));
    else if (refused !== undefined) question.reject(new Error(refused));
    else question.resolve(content);
    this.sendNext(question.kind);
  }
}
