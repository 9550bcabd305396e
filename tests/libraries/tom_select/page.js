import TomSelect from "tom-select";
import "tom-select/dist/css/tom-select.default.css";

const keep = (id, settings = {}) => new TomSelect(`#${id}`, { ...settings, onChange: (value) => tell(id, value) });
keep("person", { create: true, sortField: { field: "text", direction: "asc" } });
keep("states", { maxItems: 3, plugins: ["remove_button", "clear_button"] });
keep("tags", { persist: false, createOnBlur: true, create: true });
keep("dial", { plugins: ["dropdown_input", "checkbox_options"] });
