import { Editor } from "@tiptap/core";
import TaskItem from "@tiptap/extension-task-item";
import TaskList from "@tiptap/extension-task-list";
import StarterKit from "@tiptap/starter-kit";

const content = '<p>Hello World!</p><ul data-type="taskList"><li data-type="taskItem" data-checked="false">Buy milk</li><li data-type="taskItem" data-checked="true">Walk the dog</li></ul>';
const editor = new Editor({ element: document.getElementById("editor"), extensions: [StarterKit, TaskList, TaskItem], content, onUpdate: ({ editor }) => { tell("first", editor.getJSON().content[0]); tell("ticks", editor.getJSON().content.flatMap((each) => each.type === "taskList" ? each.content.map((item) => item.attrs.checked) : [])); } });
const run = { bold: (chain) => chain.toggleBold(), heading: (chain) => chain.toggleHeading({ level: 2 }), undo: (chain) => chain.undo() };
document.querySelectorAll("#bar button").forEach((button) => button.addEventListener("click", () => run[button.id](editor.chain().focus()).run()));
