import * as monaco from "monaco-editor/editor/editor.api.js";

globalThis.MonacoEnvironment = { getWorker: () => new Worker(URL.createObjectURL(new Blob([""]))) };
const root = document.getElementById("root");
root.innerHTML =
  "<h1>discount.js</h1><div id=code style='height:260px;width:700px'></div><button>Run</button>";
const lines = ["function discount(total) {", "  if (total > 100) return total * 0.9;", "  return totl;", "}"];
const editor = monaco.editor.create(document.getElementById("code"), {
  value: lines.join("\n"),
  language: "plaintext",
  ariaLabel: "Code",
});
root.querySelector("button").addEventListener("click", () => window.done(editor.getValue()));
