import { BlockQuote, Bold, ClassicEditor, Essentials, FindAndReplace, Heading, Italic, Link, List, Paragraph, SourceEditing, Table, TableToolbar, TodoList, Undo } from "ckeditor5";
import "ckeditor5/ckeditor5.css";

const plugins = [BlockQuote, Bold, Essentials, FindAndReplace, Heading, Italic, Link, List, Paragraph, SourceEditing, Table, TableToolbar, TodoList, Undo];
const toolbar = ["undo", "redo", "|", "heading", "|", "bold", "italic", "link", "insertTable", "blockQuote", "|", "bulletedList", "numberedList", "todoList", "|", "findAndReplace", "sourceEditing"];
ClassicEditor.create(document.getElementById("editor"), { licenseKey: "GPL", plugins, toolbar, initialData: "<p>Hello from CKEditor!</p>" }).then((editor) => editor.model.document.on("change:data", () => tell("html", editor.getData({ skipListItemIds: true }))));
