import { Editor } from "@tiptap/core";
import StarterKit from "@tiptap/starter-kit";

const root = document.getElementById("root");
root.innerHTML = "<h1>Newsletter</h1><div id=title></div><div id=editor></div><button>Send</button>";
const make = (id, label, content) =>
  new Editor({
    element: document.getElementById(id),
    extensions: [StarterKit],
    content,
    editorProps: { attributes: { "aria-label": label } },
  });
const title = make("title", "Subject", "<p>News of April</p>");
const editor = make(
  "editor",
  "Body",
  '<h2>Hello</h2><p>The shop opens on <strong>Monday</strong>. <a href="https://shop.example/visit">Come in</a>.</p><ul><li><p>Bread</p></li><li><p>Cheese</p></li></ul>',
);
root.querySelector("button").addEventListener("click", () => {
  window.done({ subject: title.getText(), body: editor.getText({ blockSeparator: "\n" }) });
});
