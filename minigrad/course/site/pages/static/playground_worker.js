// Python for the playground, beside the page: so a program that never ends can be stopped.

let python;

// A page from a file may not read what's beside it: it brings the files along.
function serve(files) {
  const brought = (url) => files.get(String(url.url ?? url).split("/").at(-1));
  const { fetch, importScripts } = self;
  self.fetch = async (url, options) =>
    brought(url) ? new Response(brought(url)) : fetch(url, options);
  self.importScripts = (url) => importScripts(URL.createObjectURL(brought(url)));
}

async function start({ base, wheel, source, files }) {
  if (files) serve(files);
  self.importScripts(`${base}pyodide.js`);
  const pyodide = await loadPyodide({ indexURL: base });
  await pyodide.loadPackage(["numpy", `${base}${wheel}`]);
  pyodide.runPython(source);
  return pyodide.globals.get("play_as_json");
}

onmessage = async ({ data }) => {
  try {
    python ??= start(data);
    const play = await python;
    postMessage({ started: true });
    postMessage({ played: play(data.program) });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
