// Python for the playground, beside the page: so a program that never ends can be stopped.

let python;

async function start({ base, wheel, source }) {
  importScripts(`${base}pyodide.js`);
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
