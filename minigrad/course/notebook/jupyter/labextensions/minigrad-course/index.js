// The course's style sheet, for notebooks that import it: about 70 characters a line of
// text; tables, code and players keep the whole width. What loads it is JupyterLab,
// Notebook 7 or JupyterLite, each as a container of webpack's module federation.
const SHEET = `
.minigrad-course .jp-RenderedMarkdown > :is(p, ul, ol, blockquote, details) {
  max-width: 37em;
}`;
const IMPORTS = /^(import|from) minigrad\b/m;

function createNew(panel, context) {
  void context.ready.then(() => {
    const sources = [...context.model.cells].map((cell) => cell.sharedModel.getSource());
    const ours = sources.some((source) => IMPORTS.test(source));
    panel.toggleClass("minigrad-course", ours);
  });
}

const plugin = {
  id: "minigrad-course:style",
  autoStart: true,
  activate(app) {
    document.head.append(Object.assign(document.createElement("style"), { textContent: SHEET }));
    app.docRegistry.addWidgetExtension("Notebook", { createNew });
  },
};

(window._JUPYTERLAB ??= {})["minigrad-course"] = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
