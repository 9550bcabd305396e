import L from "leaflet";
import "leaflet/dist/leaflet.css";

const map = L.map("map").setView([51.505, -0.09], 13);
const tile = "data:image/svg+xml," + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="256" height="256" fill="#cde" stroke="#abc"/></svg>');
const streets = L.tileLayer(tile, { attribution: "&copy; OpenStreetMap" }).addTo(map), satellite = L.tileLayer(tile);
const icon = (colour) => L.icon({ iconUrl: "data:image/svg+xml," + encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="40"><path d="M12 40L0 12a12 12 0 0 1 24 0z" fill="${colour}"/></svg>`), iconSize: [24, 40], iconAnchor: [12, 40], popupAnchor: [0, -36] });
const pub = L.marker([51.5, -0.09], { icon: icon("blue"), title: "The pub", alt: "The pub" }).bindPopup("<b>Hello world!</b><br>I am a popup.");
const park = L.marker([51.51, -0.11], { icon: icon("green"), draggable: true, title: "The park", alt: "The park" }).addTo(map);
const pubs = L.layerGroup([pub]).addTo(map);
L.circle([51.508, -0.12], { radius: 400 }).addTo(map).bindTooltip("A circle", { permanent: true });
L.control.layers({ Streets: streets, Satellite: satellite }, { Pubs: pubs }).addTo(map);
map.on("zoomend", () => tell("zoom", map.getZoom()));
map.on("popupopen", () => tell("popup", "open"));
map.on("popupclose", () => tell("popup", "closed"));
map.on("baselayerchange", ({ name }) => tell("layer", name));
map.on("overlayremove", ({ name }) => tell("removed", name));
map.on("moveend", () => { tell("east", map.getCenter().lng > -0.09); });
park.on("dragend", () => tell("dragged", true));
