import { EditorState } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { DOMParser, DOMSerializer, Schema } from "prosemirror-model";
import { schema } from "prosemirror-schema-basic";
import { addListNodes } from "prosemirror-schema-list";
import { exampleSetup } from "prosemirror-example-setup";
import "prosemirror-view/style/prosemirror.css";
import "prosemirror-menu/style/menu.css";
import "prosemirror-example-setup/style/style.css";

const own = new Schema({ nodes: addListNodes(schema.spec.nodes, "paragraph block*", "block"), marks: schema.spec.marks });
const doc = DOMParser.fromSchema(own).parse(document.getElementById("content"));
const view = new EditorView(document.getElementById("editor"), {
  state: EditorState.create({ doc, plugins: exampleSetup({ schema: own }) }),
  dispatchTransaction(transaction) {
    view.updateState(view.state.apply(transaction));
    const box = document.createElement("div");
    box.append(DOMSerializer.fromSchema(own).serializeFragment(view.state.doc.content));
    if (transaction.docChanged) tell("html", box.innerHTML);
  },
});
