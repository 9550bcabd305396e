import Uppy from "@uppy/core";
import Dashboard from "@uppy/dashboard";
import DragDrop from "@uppy/drag-drop";
import "@uppy/core/css/style.min.css";
import "@uppy/dashboard/css/style.min.css";
import "@uppy/drag-drop/css/style.min.css";

const keep = (id, uppy) => {
  const told = () => tell(id, uppy.getFiles().map(({ meta }) => meta.name));
  uppy.on("file-added", told).on("file-removed", told).on("file-editing:complete", told);
  uppy.on("dashboard:file-edit-complete", told);
};
const inline = new Uppy({ id: "inline", restrictions: { maxNumberOfFiles: 2 } }).use(Dashboard, { inline: true, target: "#dashboard", height: 320, metaFields: [{ id: "name", name: "Name", placeholder: "file name" }] });
const modal = new Uppy({ id: "modal" }).use(Dashboard, { trigger: "#opener", closeModalOnClickOutside: true });
const drop = new Uppy({ id: "drop" }).use(DragDrop, { target: "#drop" });
keep("inline", inline);
keep("modal", modal);
keep("drop", drop);
modal.on("dashboard:modal-closed", () => tell("open", false));
