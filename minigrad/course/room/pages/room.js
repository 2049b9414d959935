// Three pages: the instructor's board, the wall, and a learner's own buttons.
// Text from others goes into the page as text alone, by textContent.

const KINDS = { "/board": "board", "/projector": "projector" };
const kind = location.pathname.startsWith("/slides/") ? "slides" : (KINDS[location.pathname] ?? "learner");
const LETTERS = "abcdefgh";
const SIGNS = { solved: "✓", wrong: "✗", crashed: "!" };
const view = document.querySelector("#view");
const status = document.querySelector("#status");
document.body.className = kind;

let hello = null;
let seen = null;
let socket = null;
let joining = false;
let wait = 500;

// The secret leaves the address bar at once: a wall shows that, too.
const given = location.hash.slice(1);
if (given) history.replaceState(null, "", location.pathname);
const place = `minigrad room ${kind}`;
if (/^[\w-]{20,}$/.test(given)) sessionStorage.setItem(place, given);
let secret = sessionStorage.getItem(place);

// el("p", { class: "big" }, "text", el(...)): an element, with text as text.
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((one) => one != null && one !== false));
  return made;
}

// Text of the course, with what stands between backticks as code.
const coded = (text) => text.split("`").map((part, place) => (place % 2 ? el("code", {}, part) : part));

// Pieces of a bar, each [percent, class].
function meter(...parts) {
  const pieces = parts.map(([width, name]) => {
    const one = el("i", { class: name });
    one.style.width = `${width}%`;
    return one;
  });
  return el("div", { class: "meter" }, pieces);
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const bar = (...children) => el("div", { class: "bar" }, children);
const soft = (...children) => el("p", { class: "soft" }, children);
const heading = (words) => el("h2", {}, words);

function choose(label, key, options, onchange) {
  const made = el("select", { "data-key": key, "aria-label": label }, options);
  made.addEventListener("change", () => onchange(made.value));
  return made;
}

// Drawing anew keeps what has the focus: buttons are known by their data-key.
function draw(...parts) {
  const focused = document.activeElement?.dataset?.key;
  view.replaceChildren(...parts.flat(Infinity).filter(Boolean));
  if (focused) view.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

function button(words, key, action, more = {}) {
  const shortcut = more.shortcut;
  const attributes = { "data-key": key, onclick: action, type: "button", ...more };
  if (shortcut) attributes["aria-keyshortcuts"] = shortcut;
  delete attributes.shortcut;
  return el("button", attributes, words, shortcut ? el("kbd", {}, shortcut) : null);
}

// ---- the line to the room

function connect() {
  if (!secret) return draw(form());
  if (kind === "slides") return enter();
  // A hub may serve this page below another address.
  socket = new WebSocket(new URL("live", location.href.replace(/^http/, "ws")));
  socket.onopen = () => {
    wait = 500;
    status.textContent = "";
    socket.send(JSON.stringify({ secret }));
    unsent.forEach(send);
    unsent.clear();
  };
  socket.onmessage = ({ data }) => hear(JSON.parse(data));
  socket.onclose = () => {
    if (!secret) return;
    const later = kind === "learner" ? " What you press is sent then." : "";
    status.textContent = `The room can't be reached. This page tries again by itself.${later}`;
    setTimeout(connect, wait);
    wait = Math.min(2 * wait, 5000);
  };
}

// The secret opens the slides once: then this address gives them.
async function enter() {
  const reply = await fetch(location.pathname, { method: "POST", headers: { Authorization: `Bearer ${secret}` } });
  const again = sessionStorage.getItem(`${place} opened`) === secret;
  sessionStorage.setItem(`${place} opened`, secret);
  if (reply.ok && !again) return location.reload();
  if (!reply.ok) return draw(form());
  status.textContent = "The slides need a cookie of this address: let the browser keep it.";
}

function hear(news) {
  if (news.gone) {
    secret = null;
    sessionStorage.removeItem(place);
    const why = kind === "learner" ? "" : " Its address is in the terminal.";
    status.textContent = `This page is no part of an open room any more.${why}`;
    draw(kind === "learner" ? form() : null);
    return;
  }
  if (news.hello) {
    hello = news.hello;
    redraw();
  }
  if (news.summary !== undefined) save(news.summary);
  if (news.seen) {
    seen = news.seen;
    redraw();
  }
}

// What a learner pressed last while the room was away is sent once it's back.
const unsent = new Map();
function send(said) {
  if (socket?.readyState === 1) socket.send(JSON.stringify(said));
  else if (kind === "learner") unsent.set(said.what, said);
}
const order = (name, more = {}) => () => send({ do: name, ...more });
const redraw = () => seen && { board, projector, learner }[kind]();

function save(text) {
  const link = el("a", {
    href: URL.createObjectURL(new Blob([text], { type: "text/csv" })),
    download: "room summary.csv",
  });
  link.click();
}

// ---- parts of the board and the wall

const title = (id) => hello.words.exercises[id] ?? "";
const poll = (id) => hello.words.polls[id] ?? ["", []];

// What a learner types, in any notebook of the course: not each imports course.
function joinLine(at = hello.where) {
  const host = at.replace(/^http:\/\//, "");
  const where = host === "127.0.0.1:8765" ? "" : `, ${JSON.stringify(host)}`;
  return el("code", { class: "line" }, `from minigrad import course; course.join("${hello.code}"${where})`);
}
// Without --lan no other computer gets here: no phone, and with a folder no notebook.
const alone = () => /^https?:\/\/(127\.0\.0\.1|localhost|\[?::1\]?)(:|$)/.test(hello.where);
const joinLines = () => [
  hello.folder && el("p", {}, alone() ? "In a notebook: " : "Without a network: ", joinLine(hello.folder)),
  !(hello.folder && alone()) && el("p", {}, alone() ? "In a notebook on this computer: " : "In a notebook: ", joinLine()),
];
const phone = () =>
  !alone() && el("p", {}, "On a phone: ", el("code", {}, hello.where), " with the code ", el("b", {}, hello.code));

function joinPanel() {
  const what = soft("Only ids are sent, never what you write: course.sent() shows them, course.leave() ends it.");
  return el(
    "section",
    { class: "join", "aria-label": "How to join" },
    !alone() && el("img", { src: hello.qr, alt: "QR code of the address, for a phone" }),
    el("div", {}, joinLines(), phone(), what),
  );
}

function mistakes() {
  const cards = seen.mistakes.map((each) => {
    const [name, looks, question] = hello.words.mistakes[each.id];
    const where = each.in.length > 3 ? [...each.in.slice(0, 3), "…"] : each.in;
    return el(
      "li",
      { class: "card" },
      el("p", {}, el("b", {}, `${each.learners} × `, coded(name)), el("span", { class: "soft" }, ` ${where.join(", ")}`)),
      kind === "board" && !seen.vote && looks && soft(coded(looks)),
      el("p", { class: "ask" }, coded(question)),
    );
  });
  return [heading("Mistakes now, and what to ask"), cards.length ? el("ol", {}, cards) : soft("None at the moment.")];
}

// The choices, and their bars once the vote is closed.
function voteRows(vote) {
  const [, choices] = poll(vote.id);
  const both = vote.bars.length > 1;
  const rows = [...LETTERS.slice(0, vote.choices)].map((letter, place) => {
    const tracks = vote.bars.map((bars, round) => {
      const all = bars.reduce((sum, one) => sum + one, 0) || 1;
      const said = `${bars[place]} of ${all}${both ? (round ? ", after" : ", before") : ""}`;
      return el(
        "div",
        { class: round ? "track second" : "track", role: "img", "aria-label": said },
        meter([(100 * bars[place]) / all, "first"]),
        el("span", {}, String(bars[place])),
      );
    });
    const words = choices[place] && el("span", { class: "words" }, coded(choices[place]));
    const counted = tracks.length > 0 && el("div", { class: "tracks" }, tracks);
    return [el("span", { class: "letter" }, letter), el("div", { class: "choice" }, words, counted)];
  });
  return [el("div", { class: "votes" }, rows), both && soft("Upper bar: before the discussion. Lower bar: after it.")];
}

function voteHead(vote) {
  const round = vote.round > 1 ? "after the discussion: " : "";
  const answered = `${round}${vote.answered} of ${seen.learners} have answered`;
  const asks = coded(poll(vote.id)[0] || vote.id);
  return [
    kind === "projector" ? el("h1", { class: "big" }, asks) : el("p", {}, asks),
    soft(vote.open ? answered : count(vote.answered, "answer")),
  ];
}

// ---- the instructor's board

let showing = { join: null, keys: false };
const showsJoin = () => showing.join ?? !seen.rows.length;

function board() {
  draw(
    header(),
    showing.keys && keys(),
    showsJoin() && joinPanel(),
    el("div", {}, grid(), el("div", { class: "lists" }, queue(), stuck(), predictions())),
    el("aside", {}, voteBox(), mistakes(), ending()),
  );
}

function header() {
  const names = [...new Set([...seen.lessons, seen.lesson])].filter(Boolean);
  const options = names.map((name) =>
    el("option", { value: name, selected: name === seen.chosen }, name === "gym" ? "gym" : `lesson ${name}`),
  );
  const most = `where most are${seen.lesson ? ` (${seen.lesson})` : ""}`;
  options.unshift(el("option", { value: "", selected: !seen.chosen }, most));
  const { fast, lost } = seen.pace;
  const pace = `too fast: ${fast}, lost: ${lost}`;
  const counts = [count(seen.learners, "learner"), `${seen.stuck} stuck`, count(seen.hands, "hand"), pace];
  return bar(
    el("h1", { class: "big" }, `Room ${hello.code}`),
    choose("Which lesson", "lesson", options, (lesson) => send({ do: "lesson", lesson })),
    counts.map((words) => el("span", {}, words)),
    (fast || lost) > 0 && button("Heard", "heard", order("heard")),
    el("span", { class: "grow" }),
    button("How to join", "join", () => show("join", !showsJoin()), { shortcut: "j" }),
    button("Wall", "wall", () => window.open(hello.projector, "_blank", "noopener"), { shortcut: "p" }),
    button("Keys", "keys", () => show("keys", !showing.keys), { shortcut: "?" }),
  );
}

function show(what, now) {
  showing = { ...showing, [what]: now };
  redraw();
}

function keys() {
  const known = [
    ["v", "ask a new question"],
    ["c", "close the vote: the bars appear"],
    ["a", "vote again, after the discussion"],
    ["x", "take the vote off the wall"],
    ["h", "the first in the queue was helped"],
    ["← →", "another lesson"],
    ["j", "how to join"],
    ["p", "open the wall"],
  ];
  return el("ul", { class: "bar card" }, known.map(([key, does]) => el("li", {}, el("kbd", {}, key), ` ${does}`)));
}

function grid() {
  const names = seen.exercises.map((each) => each.id);
  const many = seen.rows.length > 32;
  const fitting = Math.floor((innerWidth - 400) / (90 + names.length * 24)); // the gym has many exercises
  const columns = Math.max(1, Math.min(many ? 3 : 2, fitting));
  const high = Math.ceil(seen.rows.length / columns);
  const rows = seen.rows.map((row, place) => [place % high ? null : titles(names, place > 0), line(row, names)]);
  const made = el("div", { class: many ? "grid many" : "grid", role: "table", "aria-label": "Learners and exercises" }, rows);
  made.style.columns = columns;
  made.style.setProperty("--count", names.length);
  return made;
}

function titles(names, again) {
  const cells = names.map((name) =>
    el("span", { class: name.length > 6 ? "cell tall" : "cell", role: "columnheader", title: title(name) }, name.replace(/^\d\d|^gym/, "")),
  );
  const made = el("div", { class: "row head", role: "row" }, el("span", { role: "columnheader" }, "learner"), cells);
  if (again) made.style.breakBefore = "column";
  return made;
}

function line(row, names) {
  const cells = names.map((name) => {
    const [state, attempts, mistake] = row.cells[name] ?? ["", 0, ""];
    const looks = mistake ? `, ${hello.words.mistakes[mistake]?.[0] ?? ""}` : "";
    const said = state ? `${name} ${title(name)}: ${state}, ${count(attempts, "check")}${looks}` : `${name}: not tried`;
    const text = state ? SIGNS[state] + (state !== "solved" && attempts > 1 ? attempts : "") : "";
    return el("span", { class: `cell ${state}`, role: "cell", title: said, "aria-label": said }, text);
  });
  const marks = [row.hand ? "▲ " : "", row.name, row.pace === "lost" ? " ?" : "", row.pace === "fast" ? " »" : ""];
  const name = el("span", { class: "name", role: "rowheader", title: row.name }, marks.join(""));
  return el("div", { class: row.stuck ? "row stuck" : "row", role: "row" }, name, cells);
}

function voteBox() {
  const vote = seen.vote;
  if (!vote) {
    const sizes = [2, 3, 4, 5, 6].map((n) => el("option", { value: n, selected: n === asking }, `${n} choices`));
    const size = choose("How many choices", "size", sizes, (chosen) => (asking = Number(chosen)));
    const ask = () => send({ do: "ask", choices: asking });
    return [heading("Vote"), bar(button("Ask a question", "ask", ask, { shortcut: "v" }), size)];
  }
  return [
    heading(`Vote on the wall: ${vote.id}`),
    voteHead(vote),
    vote.bars.length > 0 && voteRows(vote),
    bar(
      vote.open && button("Close", "close-vote", order("closed"), { shortcut: "c" }),
      !vote.open && vote.round === 1 && button("Again, after discussion", "again", order("again"), { shortcut: "a" }),
      button("Off the wall", "off", order("off"), { shortcut: "x" }),
    ),
  ];
}

let asking = 4;

function queue() {
  const up = seen.rows.filter((row) => row.hand).sort((a, b) => a.hand - b.hand);
  const rows = up.map((row, place) => [
    el("span", { class: "who" }, `${place + 1}. ${row.name}`),
    row.stuck && el("span", { class: "soft" }, row.stuck[0]),
    button("Helped", `helped ${row.id}`, order("helped", { member: row.id }), place ? {} : { shortcut: "h" }),
  ]);
  return list("Waiting for help ▲", rows);
}

function stuck() {
  const rows = seen.rows.filter((row) => row.stuck).sort((a, b) => b.stuck[1] - a.stuck[1]);
  const items = rows.map(({ name, stuck: [where, minutes, attempts] }) => [
    el("span", { class: "who" }, name),
    el("span", {}, `${where}, ${minutes} min, ${count(attempts, "check")}`),
  ]);
  return list("Over 6 minutes on one exercise", items);
}

function predictions() {
  const here = seen.polls.filter((each) => each.id.startsWith(`${seen.lesson}.`) && each.id !== seen.vote?.id);
  const rows = here.map((each) => [
    el("span", { title: poll(each.id)[0] }, each.id),
    el("span", { class: "soft" }, count(each.answered, "answer")),
    button(each.open ? "On the wall" : "Bars again", `poll ${each.id}`, order("ask", { id: each.id })),
  ]);
  return list("Predictions", rows);
}

const MOST = 6;
function list(name, rows) {
  if (!rows.length) return null;
  const more = rows.length - MOST;
  const first = rows.slice(0, MOST).map((row) => el("li", { class: "bar" }, row));
  return el("section", {}, heading(name), el("ol", {}, first), more > 0 && soft(`and ${more} more`));
}

let sure = false;
function ending() {
  const close = () => {
    if (sure) send({ do: "close" });
    sure = !sure;
    redraw();
  };
  return [
    heading("At the end"),
    bar(
      button("Save the counts", "summary", order("summary")),
      button(sure ? "Delete everything and close?" : "Close the room", "close", close),
    ),
  ];
}

function shortcuts(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (!seen || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const names = ["", ...seen.lessons];
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step) {
    const at = names.indexOf(seen.chosen) + step;
    send({ do: "lesson", lesson: names[(at + names.length) % names.length] });
  }
  const found = view.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
  if (!found) return;
  event.preventDefault();
  found.click();
}
if (kind === "board") addEventListener("keydown", shortcuts);

// ---- the wall

function projector() {
  const vote = seen.vote;
  if (vote) draw(voteHead(vote), voteRows(vote), joinPanel());
  else if (!seen.lesson) draw(joinPanel());
  else draw(el("div", { class: "two" }, progress(), el("section", {}, mistakes())), joinPanel());
  fit();
}

const ROWS = 6; // of the gym's exercises those that most have tried
const STATES = { solved: "solved", wrong: "wrong", crashed: "stopped by an error" };
function progress() {
  const states = Object.keys(STATES);
  const tried = (each) => states.reduce((sum, name) => sum + each[name], 0);
  const most = [...seen.exercises].sort((a, b) => tried(b) - tried(a)).slice(0, ROWS);
  const rows = seen.exercises.filter((each) => most.includes(each)).map((each) => {
    const said = states.map((name) => `${each[name]} ${STATES[name]}`).join(", ");
    const pieces = states.map((name) => [(100 * each[name]) / Math.max(seen.learners, 1), name]);
    return [
      el("span", { class: "words" }, each.id.replace("gym.", "").split(/(?=[A-Z])/).map((part) => [el("wbr"), part])),
      el("div", { role: "img", "aria-label": said }, meter(...pieces)),
      states.map((name) => el("span", {}, each[name] ? `${each[name]} ${SIGNS[name]}` : "")),
    ];
  });
  const legend = Object.entries(STATES).map(([name, words]) => el("span", {}, el("i", { class: name }), ` ${SIGNS[name]} ${words}`));
  return el(
    "section",
    {},
    el("h1", { class: "big" }, seen.lesson === "gym" ? "The gym" : `Lesson ${seen.lesson}`),
    el("p", {}, `${count(seen.learners, "learner")}, ${seen.stuck} stuck`),
    el("div", { class: "progress" }, rows),
    el("p", { class: "bar legend" }, legend),
  );
}

// The largest type with which all is on the wall, in hundredths of its width; in the
// smallest that can be read, the mistakes that fewest make give way.
function fit() {
  const fits = (size) => {
    document.body.style.fontSize = `${size}vw`;
    return view.scrollHeight <= view.clientHeight && view.scrollWidth <= view.clientWidth;
  };
  let [low, high] = [2.05, 4.8];
  while (high - low > 0.1) {
    const size = (low + high) / 2;
    if (fits(size)) low = size;
    else high = size;
  }
  const cards = [...view.querySelectorAll(".card")];
  while (!fits(low) && cards.length > 1) cards.pop().remove();
}
if (kind === "projector") addEventListener("resize", redraw);

// ---- a learner's own page

function form() {
  if (kind !== "learner") {
    status.textContent = "Open this page by the address in the terminal.";
    return null;
  }
  const code = el("input", { id: "code", inputmode: "numeric", autocomplete: "off", maxlength: 6, value: /^\d{6}$/.test(given) ? given : null });
  const name = el("input", { id: "name", autocomplete: "off", maxlength: 24 });
  const made = el(
    "form",
    {},
    el("p", {}, el("label", { for: "code" }, "The code on the wall"), code),
    el("p", {}, el("label", { for: "name" }, "A name that the instructor sees; empty: a made-up one"), name),
    soft("It stays on the instructor's laptop until the room closes."),
    el("button", {}, "Join"),
  );
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (joining) return;
    joining = true;
    try {
      const reply = await fetch("join", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ code: code.value.trim(), name: name.value }),
      });
      const words = { 403: "That isn't the code of this room.", 429: "Too many wrong codes: wait a minute.", 503: "The room is full." };
      if (!reply.ok) throw new Error(words[reply.status] ?? `The room answered ${reply.status}.`);
      secret = (await reply.json()).token;
      sessionStorage.setItem(place, secret);
      status.textContent = "";
      connect();
    } catch (error) {
      status.textContent = error.message;
    } finally {
      joining = false;
    }
  });
  return made;
}

function learner() {
  const say = (what, value) => () => send({ what, value, to: seen.vote && [seen.vote.id, seen.vote.round] });
  const pace = (value, words) =>
    button(words, value, say("pace", seen.pace === value ? "" : value), { "aria-pressed": String(seen.pace === value) });
  const vote = seen.vote;
  const [asks, said] = vote?.words ?? ["", []];
  const letters = vote?.open ? [...LETTERS.slice(0, vote.choices)] : [];
  const choices = letters.map((letter, place) =>
    button([letter, said[place] && " ", coded(said[place] ?? "")], `vote ${letter}`, say("vote", letter), {
      "aria-pressed": String(vote.mine === letter),
    }),
  );
  const closed = vote && !vote.open ? (vote.mine ? `Closed. You said ${vote.mine}.` : "Closed.") : "No question at the moment.";
  const waiting = seen.before ? `${count(seen.before, "other")} before you` : "you're next";
  const hand = seen.hand ? `Hand down (${waiting})` : "Raise a hand";
  draw(
    el("h1", {}, "You're ", el("span", { class: "who" }, seen.name)),
    soft("Only the instructor sees that name."),
    heading(vote?.round > 1 ? "Vote again, after the discussion" : "Vote"),
    vote?.open && asks && el("p", {}, coded(asks)),
    choices.length ? bar(choices) : soft(closed),
    heading("Help"),
    bar(button(hand, "hand", say("hand", !seen.hand), { "aria-pressed": String(seen.hand) })),
    heading("Pace"),
    bar(pace("fast", "Too fast"), pace("lost", "I'm lost")),
  );
}

connect();
