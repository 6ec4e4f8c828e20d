import { Calendar } from "fullcalendar";

const root = document.getElementById("root");
root.style.maxWidth = "900px";
const calendar = new Calendar(root, {
  initialView: "dayGridMonth",
  initialDate: "2031-05-01",
  events: [
    { title: "Planning", start: "2031-05-06" },
    { title: "Retreat", start: "2031-05-13", end: "2031-05-16" },
    { title: "Launch", start: "2031-06-10T09:30:00" },
  ],
  eventClick: ({ event }) => window.done(event.title),
});
calendar.render();
