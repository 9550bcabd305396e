import flatpickr from "flatpickr";
import "flatpickr/dist/flatpickr.css";

const keep = (id, settings) => flatpickr(`#${id}`, { ...settings, onChange: (_, text) => tell(id, text) });
keep("day", { defaultDate: "2026-04-17" });
keep("stay", { mode: "range", defaultDate: ["2026-04-10", "2026-04-12"] });
keep("start", { enableTime: true, time_24hr: true, defaultDate: "2026-04-17 08:30" });
keep("time", { enableTime: true, noCalendar: true, time_24hr: true, dateFormat: "H:i", defaultDate: "13:45" });
keep("inline", { inline: true, defaultDate: "2026-06-01", altInput: true, altFormat: "F j, Y" });
