import "@shoelace-style/shoelace/dist/themes/light.css";
import "@shoelace-style/shoelace";

const on = (id, event, read) => document.getElementById(id).addEventListener(event, (told) => tell(id, read ? read(told.target, told) : told.target.value));
for (const id of ["fruit", "many", "name", "radio", "rating", "range", "colour", "notes"]) on(id, "sl-change");
for (const id of ["agree", "switch"]) on(id, "sl-change", (element) => element.checked);
on("menu", "sl-select", (_, event) => event.detail.item.value);
on("tags", "sl-remove", () => "removed");
on("tabs", "sl-tab-show", (_, event) => event.detail.name);
on("details", "sl-show", () => true);
on("tree", "sl-selection-change", (_, event) => event.detail.selection[0].textContent);
document.getElementById("open").onclick = () => document.getElementById("dialog").show();
document.getElementById("close").onclick = () => { document.getElementById("dialog").hide(); tell("dialog", document.getElementById("who").value); };
document.getElementById("drawing").onclick = () => document.getElementById("drawer").show();
on("drawer", "sl-request-close", (_, event) => event.detail.source);
document.getElementById("toaster").onclick = () => Object.assign(document.createElement("sl-alert"), { variant: "primary", closable: true, innerHTML: "This is a toast" }).toast();
on("copy", "sl-copy", () => true);
document.getElementById("icon").onclick = () => tell("icon", true);
