// What brings a page to life: its players and predictions, in light and dark.
// Players and answers come from scripts in _static/shared, when they're needed.

const NEAR = "300px";
const ROOT = document.documentElement.dataset.content_root;

// The content of a shared script: a <script> also loads from a file, where fetch can't.
const loading = new Map();
function shared(name) {
  if (!loading.has(name)) {
    loading.set(name, new Promise((done, failed) => {
      const src = `${ROOT}_static/shared/${name}.js`;
      const script = element("script", { src });
      script.onload = () => done(window.minigrad[name]);
      script.onerror = () => {
        loading.delete(name);
        failed(new Error("This part of the page didn't load. Reload the page."));
      };
      document.head.append(script);
    }));
  }
  return loading.get(name);
}

async function unpacked(name) {
  const bytes = Uint8Array.from(atob(await shared(name)), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).json();
}

// Players: a page in a frame each, put together from its recording and the shared code.
const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    play(target);
  }
}, { rootMargin: NEAR });

async function play(frame) {
  const { page, code } = frame.dataset;
  try {
    frame.srcdoc = (await Promise.all([shared(page), shared(code)])).join("");
  } catch (error) {
    frame.replaceWith(element("p", { role: "alert" }, error.message));
  }
}

function awaken(part) {
  for (const frame of part.querySelectorAll("iframe[data-page]")) near.observe(frame);
}

// Predictions: the notebooks' own form, and in Python's place what its run said.
class Asked {
  constructor(box) {
    this.kept = `minigrad prediction ${box.dataset.answer}`;
    this.box = box;
    this.listening = {};
    const spec = JSON.parse(box.dataset.spec);
    this.said = recalled(this.kept);
    spec.kept = { "": this.said };
    this.values = { spec, outcome: "", locked: false };
  }

  get(name) { return this.values[name]; }
  on(event, heard) { this.listening[event] = heard; }
  off(event) { delete this.listening[event]; }
  set(name, value) {
    this.values[name] = value;
    this.listening[`change:${name}`]?.();
  }

  send({ ping, answer }) {
    if (ping) queueMicrotask(() => this.listening["msg:custom"]?.());
    else if (!this.get("locked")) this.commit(answer[""]);
  }

  async commit(said) {
    let answer;
    try {
      answer = await unpacked(this.box.dataset.answer);
    } catch (error) {
      this.set("outcome", error.message);
      return;
    }
    const { outcomes, shown } = answer;
    remember(this.kept, said);
    this.set("outcome", outcomes[said]);
    this.set("locked", true);
    const below = element("div", { className: "minigrad-shown", innerHTML: shown });
    this.box.after(below);
    awaken(below);
    for (const fold of foldedBelow(below)) fold.open = true;
  }
}

// What waits for this answer: all that is folded, up to the next question or heading.
function foldedBelow(box) {
  const found = [];
  for (let next = box.nextElementSibling; next; next = next.nextElementSibling) {
    if (next.matches("section, .minigrad-prediction")) break;
    if (next.matches("details")) found.push(next);
    else found.push(...next.querySelectorAll("details.hide"));
  }
  return found;
}

// Storage may be forbidden: then a reload asks again.
function recalled(key) {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function remember(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // not remembered
  }
}

for (const box of document.querySelectorAll(".minigrad-prediction")) {
  box.replaceChildren();
  const asked = new Asked(box);
  render({ model: asked, el: box });
  if (asked.said) asked.commit(asked.said);
}
awaken(document);

document.querySelector(".sidebar-drawer").setAttribute("aria-label", "Pages");

// Code that is wider than the page is scrolled by keys, too.
for (const code of document.querySelectorAll("pre")) {
  if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
}

// From a file nothing can be fetched: a search has the pages that it found in a script.
if (location.protocol === "file:" && document.querySelector("#search-results")) {
  window.fetch = async (address) => {
    const texts = await shared("texts");
    return new Response(texts[address.slice(ROOT.length)]);
  };
}
