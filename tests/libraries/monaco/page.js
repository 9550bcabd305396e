import * as monaco from "monaco-editor";

window.MonacoEnvironment = { getWorker: () => new Worker(URL.createObjectURL(new Blob(["onmessage = () => {}"]))) };
const editor = monaco.editor.create(document.getElementById("editor"), { value: "function hello() {\n\treturn 'Hello world!';\n}\n", language: "plaintext", minimap: { enabled: false } });
editor.onDidChangeModelContent(() => tell("text", editor.getValue().replaceAll("\r", "")));
