import { createEmptyHistoryState, registerHistory } from "@lexical/history";
import { HeadingNode, QuoteNode, $createHeadingNode, registerRichText } from "@lexical/rich-text";
import { $createParagraphNode, $createTextNode, $getRoot, $getSelection, createEditor, FORMAT_TEXT_COMMAND, UNDO_COMMAND } from "lexical";

const editor = createEditor({ namespace: "page", nodes: [HeadingNode, QuoteNode], onError: (error) => { throw error; } });
editor.setRootElement(document.getElementById("editor"));
registerRichText(editor);
registerHistory(editor, createEmptyHistoryState(), 300);
editor.update(() => $getRoot().append($createHeadingNode("h2").append($createTextNode("Welcome")), $createParagraphNode().append($createTextNode("Hello from Lexical"))), { tag: "history-merge" });
editor.registerUpdateListener(({ editorState }) => editorState.read(() => { tell("text", $getRoot().getTextContent()); tell("bold", $getRoot().getAllTextNodes().filter((node) => node.hasFormat("bold")).map((node) => node.getTextContent())); }));
document.getElementById("bold").addEventListener("click", () => editor.dispatchCommand(FORMAT_TEXT_COMMAND, "bold"));
document.getElementById("undo").addEventListener("click", () => editor.dispatchCommand(UNDO_COMMAND, undefined));
