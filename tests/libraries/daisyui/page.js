import "daisyui/daisyui.css";

for (const each of document.querySelectorAll("[data-tell]")) {
  const [name, value] = each.dataset.tell.split("=");
  each.addEventListener(each.matches("input,select,textarea") ? "change" : "click", () => tell(name, value ?? (/checkbox/.test(each.type) ? each.checked : each.value)));
}
