import Quill from "quill";
import "quill/dist/quill.snow.css";

const toolbar = [[{ header: [1, 2, false] }], ["bold", "italic", "link"], [{ list: "ordered" }, { list: "bullet" }], [{ color: [] }]];
const quill = new Quill("#editor", { theme: "snow", placeholder: "Compose an epic...", modules: { toolbar } });
quill.on("text-change", () => tell("html", quill.root.innerHTML.replace(/<span class="ql-ui"[^>]*><\/span>/g, "")));
