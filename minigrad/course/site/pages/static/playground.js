
// The playground: a program goes to Python, which the first run loads, and comes back as
// a recording. The program is also the end of the page's address.

const playground = document.getElementById("try-it");

// Text as the end of an address, compressed.
async function addressOf(text) {
  const plain = new Blob([text]).stream();
  const stream = plain.pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const digits = btoa(String.fromCharCode(...bytes));
  return digits.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function textAt(address) {
  const digits = atob(address.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(digits, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

// What Python loads, from a script: a page from a file may load nothing else.
async function filesBeside() {
  const files = new Map();
  for (const [name, [type, digits]] of Object.entries(await shared("python"))) {
    const answer = await fetch(`data:${type};base64,${digits}`);
    files.set(name, await answer.blob());
  }
  return files;
}

class Playground {
  constructor(box) {
    this.box = box;
    for (const name of ["example", "program", "run", "stop", "link", "said", "printed", "shown"]) {
      this[name] = box.querySelector(`#${name}`);
    }
    this.run.addEventListener("click", () => this.start());
    this.stop.addEventListener("click", () => this.end("Stopped. The next run loads Python again."));
    this.link.addEventListener("click", () => this.share());
    this.example.addEventListener("change", () => this.take(this.example.value));
    this.program.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.start();
    });
    addEventListener("hashchange", () => this.take(location.hash.slice(1)));
    this.take(location.hash.slice(1));
  }

  // A program that came in a link is shown; it runs when the reader says so.
  async take(address) {
    if (!address) return;
    try {
      this.program.value = await textAt(address);
      this.say("");
    } catch {
      this.say("There's no program in this link: perhaps its end is missing.");
    }
  }

  async share() {
    history.replaceState(null, "", `#${await addressOf(this.program.value)}`);
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("Copied. The program is in the link itself.");
    } catch {
      this.say("The link is this page's address now: copy it from there.");
    }
  }

  say(text) { this.said.textContent = text; }

  async start() {
    if (!this.stop.hidden) return;
    this.stop.hidden = false;
    this.run.disabled = true;
    const { pyodide, wheel } = this.box.dataset;
    if (!this.worker) {
      this.say("Loading Python …");
      if (location.protocol === "file:" && !this.files) {
        const run = (this.waiting = {});
        try {
          this.files = await filesBeside();
        } catch {
          this.rest("Python isn't beside this file. Open the page from a web server, such "
            + "as: python -m http.server");
          return;
        }
        if (run !== this.waiting) return; // stopped meanwhile
      }
      const code = this.files && URL.createObjectURL(this.files.get("playground_worker.js"));
      this.worker = new Worker(code || `${ROOT}_static/playground_worker.js`);
      this.worker.onmessage = ({ data }) => this.heard(data);
    }
    this.worker.postMessage({
      files: this.files,
      base: new URL(pyodide, location).href,
      wheel,
      source: this.box.querySelector("#python").content.textContent,
      program: this.program.value,
    });
  }

  heard({ started, played, failed }) {
    if (started) this.say("Running …");
    else if (failed) this.end(`Python didn't start: ${failed}`);
    else this.show(JSON.parse(played));
  }

  end(said) {
    this.worker?.terminate();
    this.worker = this.waiting = null;
    this.rest(said);
  }

  rest(said) {
    this.stop.hidden = true;
    this.run.disabled = false;
    this.say(said);
  }

  async show({ program, trace, printed, error }) {
    this.program.value = program;
    this.printed.textContent = printed;
    this.printed.hidden = !printed;
    this.rest(error || (trace ? "" : "It ran. There's nothing to step through."));
    this.said.classList.toggle("minigrad-failed", Boolean(error));
    this.shown.replaceChildren();
    if (!trace) return;
    const { shell, code } = this.box.dataset;
    const data = JSON.stringify(trace).replaceAll("<", "\\u003c");
    const told = `<script type="application/json" id="trace">${data}</script>`;
    const frame = element("iframe", { title: "Step player" });
    const box = element("div", {}, frame);
    box.dataset.minigradPlayer = "";
    frame.srcdoc = shell.replace("TRACE", () => told) + await shared(code);
    this.shown.append(box);
  }
}

if (playground) new Playground(playground);
