// Puts the parts of a lesson together to slides, by measuring them, and plays them.

const ROOM = 680; // px of height for what is on a slide; the CSS has the padding
const WIDE = 1216;
const LEAST = { "": 490, two: 640 }; // px that a player gets at least, and two pictures
const SPARSE = 0.4; // of a slide: what fills less is put with its neighbour, or set larger
const SIZES = [1.6, 1.45, 1.3, 1.15, 1, 0.93, 0.86, 0.8, 0.74];
const MINUTES = Number(document.body.dataset.minutes);

const deck = document.querySelector(".slides");
const notes = deck.querySelector(":scope > .notes");
let parts = [...deck.querySelectorAll(":scope > .part")];
const is = (part, kind) => part.classList.contains(kind);
const frameOf = (part) => part.querySelector("[data-minigrad-player]");
const least = (frame) => LEAST[frame.dataset.minigradPlayer];
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

function made(tag, name, ...children) {
  const element = document.createElement(tag);
  element.className = name;
  element.append(...children);
  return element;
}

// A card is turned by a key, as all that waits.
function openCards() {
  for (const card of deck.querySelectorAll("details")) {
    const asked = card.querySelector("summary");
    asked.remove();
    card.replaceWith(made("p", "card", ...asked.childNodes), made("div", "fragment", ...card.childNodes));
  }
}

// ---- which part comes on which slide

// What a cell shows goes below its source, or onto the next slide.
function cutInTwo(part) {
  const shown = part.querySelector(".jp-Cell-outputWrapper");
  if (!shown || !part.querySelector(".jp-Cell-inputWrapper")) return [part];
  const cell = part.querySelector(".jp-Cell").cloneNode();
  cell.append(shown);
  const rest = made("div", "part shows", cell);
  part.after(rest);
  return [part, rest];
}

// On a slide of their own for the moment, as wide as they will be.
function measured() {
  Object.assign(deck.style, { width: "1280px", height: "720px" });
  const sheet = made("section", "present", ...parts);
  deck.append(sheet);
  parts = parts.flatMap((part) => (part.offsetHeight > ROOM ? cutInTwo(part) : [part]));
  const heights = new Map(
    parts.map((part) => {
      const frame = frameOf(part);
      return [part, frame ? part.offsetHeight - frame.offsetHeight + least(frame) : part.offsetHeight];
    }),
  );
  sheet.remove();
  return heights;
}

// What stays together: a question, and what it is about.
function units() {
  const found = [];
  for (const part of parts) {
    const before = found.at(-1);
    if (is(part, "asks") && before && !is(before.at(-1), "player")) before.push(part);
    else found.push([part]);
  }
  return found;
}

function grouped(heights) {
  const high = (unit) => sum(unit.map((part) => heights.get(part)));
  const filled = (group) => sum(group.map(high));
  const groups = [];
  for (const unit of units()) {
    const last = groups.at(-1);
    if (!last || is(unit[0], "head") || filled(last) + high(unit) > ROOM) groups.push([unit]);
    else last.push(unit);
  }
  // What ran over takes along as much as makes both alike.
  for (let at = 1; at < groups.length; at += 1) {
    const [one, other] = [groups[at - 1], groups[at]];
    const begins = () => is(other[0][0], "head");
    while (one.length > 1 && !begins() && filled(one) - high(one.at(-1)) >= filled(other) + high(one.at(-1))) {
      other.unshift(one.pop());
    }
  }
  const sparse = (group) => filled(group) < SPARSE * ROOM;
  for (let at = 1; at + 1 < groups.length; ) {
    const [one, other] = [groups[at], groups[at + 1]];
    if ((sparse(one) || sparse(other)) && filled(one) + filled(other) <= ROOM) {
      groups.splice(at, 2, [...one, ...other]);
    } else at += 1;
  }
  return groups.map((group) => group.flat());
}

// Each part in its place; what waits, and what follows under a new heading, is a fragment.
function laidOut(group, heights) {
  const sheet = made("div", "sheet");
  let into = sheet;
  for (const part of group) {
    if (is(part, "head") && part !== group[0]) {
      into = made("div", "fragment");
      sheet.append(into);
    }
    if (is(part, "waits") && part !== group[0]) part.classList.add("fragment");
    into.append(part);
  }
  const player = group.find(frameOf);
  const rest = ROOM - sum(group.map((part) => heights.get(part)));
  if (player) frameOf(player).style.setProperty("--high", `${least(frameOf(player)) + rest}px`);
  return made("section", "", sheet);
}

// A slide with little on it has larger type, as long as its lines of code stay whole. In
// one with too much the lines are closer; then its question is beside the code; then its
// type is smaller.
function size(section) {
  const sheet = section.firstChild;
  if (sheet.querySelector("iframe")) return;
  section.classList.add("present");
  sheet.classList.add("unwrapped");
  const widest = Math.max(...[...sheet.querySelectorAll(".jp-InputArea pre")].map((one) => one.scrollWidth));
  sheet.classList.remove("unwrapped");
  const largest = () => SIZES.find((zoom) => {
    sheet.style.zoom = zoom;
    const fits = section.scrollHeight <= section.clientHeight && section.scrollWidth <= section.clientWidth;
    return fits && (zoom <= 1 || zoom * widest <= WIDE * (sheet.matches(".beside") ? 0.6 : 1));
  });
  if (!(largest() >= 1)) section.classList.add("tight");
  const below = largest();
  if (!(below >= 1) && putBeside(sheet) && !(largest() > (below ?? 0))) {
    sheet.classList.remove("beside");
    sheet.style.zoom = below;
  }
  section.classList.remove("present");
}

// The question goes into a second column.
function putBeside(sheet) {
  const question = sheet.querySelector(":scope > .asks");
  if (!question?.previousSibling) return false;
  const all = [...sheet.children];
  const at = all.indexOf(question);
  sheet.append(made("div", "", ...all.slice(0, at)), made("div", "", ...all.slice(at)));
  sheet.classList.add("beside");
  return true;
}

// The notes are with every slide, and say when it comes.
function addNotes(sections) {
  const weights = sections.map((one) => (one.querySelector("iframe, [data-vote]") ? 2 : 1));
  sections.forEach((section, at) => {
    const minute = Math.round((MINUTES * sum(weights.slice(0, at))) / sum(weights));
    const said = MINUTES ? `About minute ${minute} of ${MINUTES}.` : "";
    section.append(made("aside", "notes", made("p", "", said), ...notes.cloneNode(true).childNodes));
  });
}

// ---- keys

function playerHere() {
  const frame = Reveal.getCurrentSlide().querySelector("iframe");
  if (!frame || frame.closest(".fragment:not(.visible)")) return null;
  const shown = frame.contentDocument?.querySelector("#player")?.player;
  return shown?.players?.[0] ?? shown ?? null;
}

// A remote control has two keys: they step the player of a slide, then the slides.
function onward() {
  const player = playerHere();
  if (player && player.position < player.stops.at(-1)) player.presenter.forward();
  else Reveal.next();
}

function back() {
  const player = playerHere();
  if (player?.position > 0) player.presenter.back();
  else Reveal.prev();
}

// ---- votes and the clock

const line = document.querySelector("#aside");
const place = "minigrad room slides";
const given = location.hash.match(/^#([\w-]{20,})$/)?.[1];
if (given) {
  sessionStorage.setItem(place, given);
  history.replaceState(null, "", location.pathname);
}
const secret = location.protocol === "file:" ? null : sessionStorage.getItem(place);
let socket = null;
let seen = null;
let since = 0;
let late = null; // what was asked of a room that did not hear it yet

function connect() {
  socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/live`);
  socket.onopen = () => {
    socket.send(JSON.stringify({ secret }));
    if (late) socket.send(late);
    late = null;
  };
  socket.onmessage = ({ data }) => {
    const news = JSON.parse(data);
    if (news.seen) seen = news.seen;
    show();
  };
  socket.onclose = () => setTimeout(connect, 1000);
}

function questionHere() {
  const asked = [...Reveal.getCurrentSlide().querySelectorAll("[data-vote]")];
  return asked.findLast((part) => !part.closest(".fragment:not(.visible)"));
}

const choicesOf = (part) => [...part.querySelectorAll("p")].filter((one) => /^[a-h]\. /.test(one.textContent));

function order(name) {
  return () => {
    const part = questionHere();
    if (!part) return;
    since = name === "closed" ? 0 : Date.now();
    const more = name === "ask" ? { id: part.dataset.vote, choices: choicesOf(part).length } : {};
    const asked = JSON.stringify({ do: name, ...more });
    if (socket?.readyState === 1) socket.send(asked);
    else late = asked;
    show();
  };
}

function show() {
  const part = questionHere();
  const vote = part && seen?.vote?.id === part.dataset.vote ? seen.vote : null;
  if (vote) showBars(part, vote);
  const seconds = Math.floor((Date.now() - since) / 1000);
  const clock = since ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "";
  const round = vote?.round > 1 ? "Vote again" : "Vote now";
  const said = vote?.open ? `${round}: ${vote.answered} of ${seen.learners} have answered` : "";
  line.textContent = [said, clock].filter(Boolean).join(" · ");
}

function showBars(part, vote) {
  const rounds = vote.bars.length;
  const legend = [made("i", "first"), " before, ", made("i", "second"), " after"];
  const said = rounds > 1 ? ["Your votes: ", ...legend] : [rounds ? "Your votes" : "Predict now"];
  part.querySelector(".headline").replaceChildren(...said);
  choicesOf(part).forEach((choice, at) => {
    const counts = vote.bars.map((bars) => bars[at]);
    vote.bars.forEach((bars, round) => {
      choice.style.setProperty(`--bar-${round}`, `${(100 * counts[round]) / Math.max(1, sum(bars))}%`);
    });
    choice.classList.toggle("counted", rounds > 0);
    choice.classList.toggle("twice", rounds > 1);
    choice.dataset.said = counts.join(" → ");
  });
}

function toggleClock() {
  since = since ? 0 : Date.now();
  show();
}

// ---- begin

openCards();
for (const part of parts.filter((one) => is(one, "asks"))) {
  part.prepend(made("span", "headline", "Predict now"));
  for (const choice of choicesOf(part)) choice.classList.add("choice");
}
await document.fonts.ready;
// An image that can't be decoded has no size to wait for.
await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
const heights = measured();
const sections = grouped(heights).map((group) => laidOut(group, heights));
notes.remove();
deck.replaceChildren(...sections);
sections.forEach(size);
addNotes(sections);
await Reveal.initialize({
  width: 1280, height: 720, margin: 0, maxScale: 4, center: false, hash: true, controls: false,
  slideNumber: "c/t", transition: "none", pdfSeparateFragments: false,
  totalTime: 60 * MINUTES, plugins: [RevealNotes],
});
// Reveal's own list has keys that mean something else here.
const KEYS = [
  [32, "Space", "Step the player, then go on", onward],
  [34, "PageDown", "The same", onward],
  [33, "PageUp", "Step the player back, then go back", back],
  [86, "V", "Ask the room this question", order("ask")],
  [67, "C", "Close the vote: its bars appear", order("closed")],
  [65, "A", "Vote again, after the discussion", order("again")],
  [84, "T", "A clock, from 0:00", toggleClock],
];
const OTHERS = [
  ["← →", "A slide back or on; a player stays where it is"],
  ["S", "Your notes, in a window of their own"],
  ["F", "Full screen; Esc ends it"],
  ["O", "All slides"],
  ["B", "Black"],
  ["?", "These keys"],
];
Reveal.on("showhelp", () => {
  const all = [...KEYS.map(([, ...words]) => words), ...OTHERS];
  const rows = all.map(([key, does]) => made("tr", "", made("th", "", key), made("td", "", does)));
  document.querySelector(".r-overlay-help table").replaceChildren(...rows);
});
for (const [keyCode, key, description, action] of KEYS) {
  Reveal.addKeyBinding({ keyCode, key, description }, action);
}
const changed = () => {
  since = 0;
  show();
};
Reveal.on("slidechanged", changed);
Reveal.on("fragmentshown", show);
setInterval(() => since && show(), 1000);
if (secret) connect();
