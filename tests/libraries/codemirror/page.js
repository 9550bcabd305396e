import { javascript } from "@codemirror/lang-javascript";
import { EditorView, basicSetup } from "codemirror";

const told = EditorView.updateListener.of((update) => update.docChanged && tell("text", update.state.doc.toString()));
const toldEnd = EditorView.updateListener.of(({ docChanged, state }) => docChanged && tell("end", state.doc.line(300).text));
const long = Array.from({ length: 300 }, (_, line) => `line ${line + 1}`).join("\n");
new EditorView({ doc: "let total = 1;\nconsole.log(total);\n", extensions: [basicSetup, javascript(), told], parent: document.getElementById("editor") });
new EditorView({ doc: long, extensions: [basicSetup, EditorView.theme({ "&": { height: "160px" } }), toldEnd], parent: document.getElementById("long") });
