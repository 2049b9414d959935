// Questions, lines to be ordered, a box to write in: one form each.
// What is committed goes to Python as a message; what Python says comes back as HTML
// in the trait "outcome".

function element(tag, is = {}, ...children) {
  const made = Object.assign(document.createElement(tag), is);
  made.append(...children);
  return made;
}

// Text whose parts between backticks are code.
function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
}

// One field for each question; a value is "" as long as nothing is chosen.
function questions(spec, form) {
  const values = {};
  for (const question of spec.questions) {
    const { id, text, choices, program } = question;
    values[id] = spec.kept?.[id] ?? "";
    const number = id ? [element("b", {}, `${id}. `)] : [];
    const field = element("fieldset", {}, element("legend", {}, ...number, ...withCode(text)));
    if (program) field.append(element("pre", {}, program));
    const name = `minigrad-${spec.key}-${id}`;
    for (const choice of choices) {
      const is = { type: "radio", name, value: choice, checked: choice === values[id] };
      const input = element("input", { ...is, onchange: () => { values[id] = choice; } });
      field.append(element("label", {}, input, ...withCode(choice)));
    }
    if (!choices.length) {
      const is = { type: "text", placeholder: "a short answer", ariaLabel: `Answer to question ${id}` };
      const oninput = ({ target }) => { values[id] = target.value; };
      field.append(element("input", { ...is, value: values[id], oninput }));
    }
    form.append(field);
  }
  return () => {
    const open = spec.questions.find(({ id }) => !values[id].trim());
    return open
      ? { missing: open.id ? `Answer question ${open.id} first.` : "Choose an answer first." }
      : { answer: values };
  };
}

// Two lists. A line is dragged to its place; or Enter or a double click moves it over,
// and Alt with an arrow moves it up or down in the program. A letter chooses its line.
function order(spec, form) {
  const lines = new Map(spec.lines.map(({ id, text }) => [id, text]));
  const mine = (spec.kept ?? []).filter((id) => lines.has(id));
  let chosen = "";
  let dragged = "";

  const list = (ariaLabel) => element("ul", { role: "listbox", ariaLabel, tabIndex: 0 });
  const rest = list("Lines left over");
  const program = list("Your program");
  const idOf = (id) => `minigrad-${spec.key}-${id}`;
  const idsOf = (ul) =>
    ul === program ? mine : [...lines.keys()].filter((id) => !mine.includes(id));

  const choose = (id) => {
    chosen = id;
    for (const ul of [rest, program]) {
      for (const item of ul.children) {
        item.ariaSelected = String(item.id === idOf(id));
      }
      ul.setAttribute("aria-activedescendant", idsOf(ul).includes(id) ? idOf(id) : "");
    }
  };
  const redraw = () => {
    for (const ul of [rest, program]) {
      ul.replaceChildren(...idsOf(ul).map((id) => {
        const text = [element("b", {}, id), element("code", {}, lines.get(id))];
        return element("li", { role: "option", id: idOf(id), draggable: true }, ...text);
      }));
    }
    choose(chosen);
  };

  // Into the program, before the line that is at this place now; -1 takes it out.
  const put = (id, place) => {
    const was = mine.indexOf(id);
    if (was >= 0) mine.splice(was, 1);
    if (place >= 0) mine.splice(was >= 0 && was < place ? place - 1 : place, 0, id);
    chosen = id;
    redraw();
  };
  const add = () => chosen && !mine.includes(chosen) && put(chosen, mine.length);
  const remove = () => mine.includes(chosen) && put(chosen, -1);
  const move = (by) => {
    const place = mine.indexOf(chosen);
    if (place < 0 || place + by < 0 || place + by >= mine.length) return;
    put(chosen, by > 0 ? place + 2 : place - 1);
  };

  const placeAt = (y) => {
    const middles = [...program.children].map((item) => {
      const { top, bottom } = item.getBoundingClientRect();
      return (top + bottom) / 2;
    });
    const place = middles.findIndex((middle) => y < middle);
    return place < 0 ? mine.length : place;
  };
  for (const ul of [rest, program]) {
    const over = ul === rest ? add : remove;
    ul.addEventListener("dblclick", over);
    const idUnder = ({ target }) => {
      const item = (target.closest ? target : target.parentElement).closest("li");
      return idsOf(ul).find((id) => item?.id === idOf(id));
    };
    ul.addEventListener("mousedown", (event) => choose(idUnder(event) ?? chosen));
    ul.addEventListener("dragstart", (event) => {
      dragged = idUnder(event);
      if (!dragged) return;
      event.dataTransfer.setData("text/plain", lines.get(dragged));
      event.stopPropagation();
    });
    ul.addEventListener("dragend", () => { dragged = ""; redraw(); });
    ul.addEventListener("focus", () => {
      const ids = idsOf(ul);
      if (!ids.includes(chosen) && ids.length) choose(ids[0]);
    });
    ul.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        over();
        const ids = idsOf(ul);
        if (ids.length) choose(ids[0]);
      }
      const typed = idsOf(ul).find((id) => id.startsWith(event.key));
      if (typed && !event.ctrlKey && !event.metaKey) choose(typed);
      if (!step) return;
      event.preventDefault();
      const ids = idsOf(ul);
      if (event.altKey) move(step);
      else choose(ids[ids.indexOf(chosen) + step] ?? chosen);
    });
    ul.addEventListener("dragover", (event) => {
      if (!dragged) return;
      event.preventDefault();
      event.stopPropagation();
      const place = ul === program ? placeAt(event.clientY) : -1;
      for (const [i, item] of [...program.children].entries()) {
        item.classList.toggle("minigrad-before", i === place);
        item.classList.toggle("minigrad-after", i === mine.length - 1 && place === mine.length);
      }
    });
    ul.addEventListener("drop", (event) => {
      if (!dragged) return;
      event.preventDefault();
      event.stopPropagation();
      put(dragged, ul === program ? placeAt(event.clientY) : -1);
      dragged = ""; // what was dragged is drawn anew, and hears no end
    });
  }
  const button = (text, title, onclick) => element("button", { type: "button", title, onclick }, text);
  const buttons = element("div", {},
    button("Add ↓", "Put the chosen line into your program (Enter)", add),
    button("Remove ↑", "Take the chosen line out of your program (Enter)", remove),
    button("Earlier", "Move the chosen line up (Alt and arrow up)", () => move(-1)),
    button("Later", "Move the chosen line down (Alt and arrow down)", () => move(1)),
  );
  redraw();
  form.append(
    element("b", {}, "Lines left over"), rest, buttons,
    element("b", {}, "Your program: drag lines here"), program,
  );
  return () => ({ answer: [...mine] });
}

function because(spec, form) {
  const box = element("textarea", { rows: 4, placeholder: "Because ...", ariaLabel: "Because", value: spec.kept ?? "" });
  form.append(box);
  return () => {
    const text = box.value.trim();
    return text ? { answer: text } : { missing: "Write a sentence first." };
  };
}

const MOVES = ["wheel", "keydown", "pointerdown"];
const SETTLES = 4000; // ms in which a player below takes its height

// What was said comes to the top, and with it what is shown below it, until somebody
// moves on.
function reveal(outcome) {
  const page = outcome.ownerDocument;
  const show = () => outcome.scrollIntoView({ block: "start" });
  const sizes = new ResizeObserver(show);
  sizes.observe(outcome.closest(".widget-vbox") ?? outcome);
  const stop = () => {
    sizes.disconnect();
    for (const kind of MOVES) page.removeEventListener(kind, stop, true);
  };
  for (const kind of MOVES) page.addEventListener(kind, stop, true);
  setTimeout(stop, SETTLES);
}

// As Shift+Enter in a cell does: on to the next one. This one has run already.
function goOn(form) {
  const here = form.closest(".jp-Notebook-cell");
  if (!here) return;
  const cells = [...here.closest(".jp-Notebook").querySelectorAll(".jp-Notebook-cell")];
  (cells[cells.indexOf(here) + 1] ?? here).focus();
}

const PATIENCE = 10000; // ms after which a form that got no answer says so
const NO_ANSWER =
  "Python hasn't answered this form yet. If nothing is running, run this cell again " +
  "(Shift+Enter); if that doesn't help, restart the kernel (Kernel > Restart).";

// A form asks Python for a sign of life, so that nobody fills one in that nothing reads.
function sayIfUnheard(model, form) {
  const line = element("p", { role: "status" });
  form.append(line);
  const waiting = setTimeout(() => { line.textContent = NO_ANSWER; }, PATIENCE);
  const heard = () => {
    clearTimeout(waiting);
    line.textContent = "";
    model.off("msg:custom", heard);
  };
  model.on("msg:custom", heard);
  model.send({ ping: true });
  return heard;
}

const KINDS = { questions, order, because, button: () => () => ({ answer: "" }) };

function render({ model, el }) {
  const spec = model.get("spec");
  const form = element("form", { className: "minigrad-form" });
  // The notebook's own keys (d d deletes a cell) must not work in here.
  form.dataset.lmSuppressShortcuts = "true";
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") el.closest(".jp-Notebook-cell")?.focus();
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault(); // Enter would press the button that has the focus
      goOn(form);
    }
    event.stopPropagation();
  });
  const head = element("div", { className: "minigrad-head" });
  if (spec.title) head.append(element("b", {}, spec.title), element("br"));
  head.append(...withCode(spec.text ?? ""));
  form.append(head);

  const committed = KINDS[spec.kind](spec, form);
  const press = element("button", { type: "submit", title: spec.about ?? "", className: "minigrad-commit" }, spec.press);
  const outcome = element("div", { className: "minigrad-outcome", role: "status", tabIndex: -1 });
  const show = () => { outcome.innerHTML = model.get("outcome"); };
  model.on("change:outcome", show);
  show();
  const lock = () => {
    if (!model.get("locked")) return;
    const mine = form.contains(form.ownerDocument.activeElement);
    for (const field of form.querySelectorAll("fieldset")) field.disabled = true;
    press.hidden = true;
    if (!mine) return;
    outcome.focus({ preventScroll: true });
    reveal(outcome);
  };
  model.on("change:locked", lock);
  lock();
  form.append(press, outcome);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { answer, missing } = committed();
    if (missing) outcome.textContent = missing;
    else model.send({ answer });
  });
  el.append(form);
  const stop = sayIfUnheard(model, form);
  return () => {
    stop();
    model.off("change:outcome", show);
    model.off("change:locked", lock);
  };
}

export default { render };
