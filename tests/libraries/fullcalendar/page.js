import "temporal-polyfill/global";
import { Calendar } from "fullcalendar";
import classic from "fullcalendar/themes/classic";
import dayGrid from "fullcalendar/daygrid";
import interaction from "fullcalendar/interaction";
import list from "fullcalendar/list";
import timeGrid from "fullcalendar/timegrid";
import "fullcalendar/skeleton.css";
import "fullcalendar/themes/classic/theme.css";
import "fullcalendar/themes/classic/palette.css";

new Calendar(document.getElementById("calendar"), {
  plugins: [classic, dayGrid, interaction, list, timeGrid],
  initialDate: "2026-04-10",
  headerToolbar: { left: "prev,next today", center: "title", right: "dayGridMonth,timeGridWeek,listMonth" },
  editable: true,
  selectable: true,
  dayMaxEvents: 2,
  events: [
    { title: "All day event", start: "2026-04-01" },
    { title: "Long event", start: "2026-04-07", end: "2026-04-10" },
    { title: "Meeting", start: "2026-04-14T10:30:00", end: "2026-04-14T12:30:00" },
    { title: "Lunch", start: "2026-04-14T13:00:00" },
    { title: "Dinner", start: "2026-04-14T20:00:00" },
    { title: "Party", start: "2026-04-22" },
  ],
  dateClick: ({ dateStr }) => tell("day", dateStr.slice(0, 10)),
  eventClick: ({ event }) => tell("event", event.title),
  eventDrop: ({ event }) => tell("moved", [event.title, event.startStr.slice(0, 10)]),
  datesSet: ({ view }) => { tell("view", view.type); tell("month", view.title); },
}).render();
