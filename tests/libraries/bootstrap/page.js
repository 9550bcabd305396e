import "bootstrap/dist/css/bootstrap.css";
import { Toast } from "bootstrap";

const tellClick = (id, value) => document.getElementById(id).addEventListener("click", () => tell(id, value ?? true));
for (const id of ["action", "saved", "page3", "sign", "group2"]) tellClick(id);
for (const id of ["floating", "range", "choice", "city"]) document.getElementById(id).addEventListener("change", (event) => tell(id, event.target.value));
for (const id of ["check", "switch", "toggle", "option2"]) document.getElementById(id).addEventListener("change", (event) => tell(id, event.target.checked));
document.getElementById("two").addEventListener("shown.bs.collapse", () => tell("accordion", "two"));
document.getElementById("profile-tab").addEventListener("shown.bs.tab", () => tell("tab", "profile"));
document.getElementById("notice").addEventListener("close.bs.alert", () => tell("alert", "closed"));
document.getElementById("slides").addEventListener("slid.bs.carousel", (event) => tell("slide", event.to));
document.getElementById("menu").addEventListener("hidden.bs.offcanvas", () => tell("offcanvas", "closed"));
document.getElementById("toaster").onclick = () => Toast.getOrCreateInstance(document.getElementById("live")).show();
const form = document.getElementById("form");
form.addEventListener("submit", (event) => { event.preventDefault(); form.classList.add("was-validated"); if (form.checkValidity()) tell("form", form.city.value); });
