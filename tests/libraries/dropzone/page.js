import Dropzone from "dropzone";
import "dropzone/dist/dropzone.css";

Dropzone.autoDiscover = false;
const zone = new Dropzone("#zone", { url: "told", autoProcessQueue: false, addRemoveLinks: true, acceptedFiles: ".txt", maxFiles: 2, clickable: true });
const names = () => tell("files", zone.getAcceptedFiles().map(({ name }) => name));
zone.on("addedfile", () => window.setTimeout(names));
zone.on("removedfile", names);
zone.on("error", (file, message) => tell("error", message));
