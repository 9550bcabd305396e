import Choices from "choices.js";
import "choices.js/public/assets/styles/choices.css";

const keep = (id, settings = {}) => {
  const choices = new Choices(`#${id}`, { ...settings, shouldSort: false });
  document.getElementById(id).addEventListener("change", () => tell(id, choices.getValue(true)));
};
keep("city", { searchPlaceholderValue: "Search cities" });
keep("fruits", { removeItemButton: true });
keep("words", { delimiter: ",", removeItemButton: true, duplicateItemsAllowed: false });
keep("plain", { searchEnabled: false });
