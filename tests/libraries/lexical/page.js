import { $createParagraphNode, $getRoot, createEditor, FORMAT_ELEMENT_COMMAND, FORMAT_TEXT_COMMAND, HISTORY_MERGE_TAG, UNDO_COMMAND } from "lexical";
import { createEmptyHistoryState, registerHistory } from "@lexical/history";
import { registerRichText } from "@lexical/rich-text";

const editor = createEditor({ namespace: "Page", nodes: [], onError: (error) => { throw error; } });
editor.setRootElement(document.getElementById("story"));
registerRichText(editor);
editor.update(() => { $getRoot().append($createParagraphNode()); }, { tag: HISTORY_MERGE_TAG });
registerHistory(editor, createEmptyHistoryState(), 300);
editor.registerUpdateListener(({ editorState, tags }) => editorState.read(() => {
  if (tags.has(HISTORY_MERGE_TAG)) return;
  const blocks = $getRoot().getChildren();
  tell("lines", blocks.map((each) => each.getTextContent()));
  tell("bold", blocks.flatMap((each) => each.getChildren()).some((each) => each.hasFormat("bold")));
  tell("align", blocks[0]?.getFormatType());
}));
for (const [id, command, value] of [["undo", UNDO_COMMAND], ["bold", FORMAT_TEXT_COMMAND, "bold"], ["right", FORMAT_ELEMENT_COMMAND, "right"]]) document.getElementById(id).onclick = () => editor.dispatchCommand(command, value);
