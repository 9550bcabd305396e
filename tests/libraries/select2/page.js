import "./globals.js";
import select2 from "select2/dist/js/select2.full.js";
import "select2/dist/css/select2.css";

if (!$.fn.select2) select2(window, $);
const told = (id) => $(`#${id}`).on("change", () => tell(id, $(`#${id}`).val()));
$("#state").select2();
$("#states").select2({ placeholder: "Select states" });
$("#search").select2({ minimumResultsForSearch: Infinity, placeholder: "Select a size", allowClear: true });
$("#tags").select2({ tags: true });
["state", "states", "search", "tags"].forEach(told);
