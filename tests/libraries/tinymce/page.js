import tinymce from "tinymce/tinymce";
import "tinymce/icons/default/icons";
import "tinymce/models/dom/model";
import "tinymce/plugins/code";
import "tinymce/plugins/link";
import "tinymce/plugins/lists";
import "tinymce/plugins/searchreplace";
import "tinymce/plugins/table";
import "tinymce/skins/content/default/content.js";
import "tinymce/skins/ui/oxide/content.js";
import "tinymce/skins/ui/oxide/skin.js";
import "tinymce/themes/silver/theme";

const setup = (editor) => editor.on("input change undo redo ExecCommand", () => tell("html", editor.getContent({ format: "html" }).replaceAll("\n", "")));
tinymce.init({ selector: "#editor", license_key: "gpl", promotion: false, plugins: "lists link table code searchreplace", toolbar: "undo redo | blocks | bold italic | bullist numlist | link table | code", setup });
