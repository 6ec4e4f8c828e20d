// The page around a frame: mounts a session with the client, sends commands, and lists what the frame reports.
import { mountSession } from "/demo/embed/mount-session.js";

const EVENTS_MAX = 100;
const TEXT_MAX = 400;

const find = (id) => document.getElementById(id);
const problem = find("problem");
const controls = [
  find("remove"),
  find("text"),
  find("take"),
  find("give"),
  ...document.querySelectorAll("#message [type=submit]"),
];
let session;

/** Adds a line to the list of events, newest first. Everything is text, because it comes from the session. */
function note(name, detail) {
  const line = document.createElement("li");
  line.textContent = `${name} ${JSON.stringify(detail ?? null).slice(0, TEXT_MAX)}`;
  find("events").prepend(line);
  if (find("events").childElementCount > EVENTS_MAX) find("events").lastElementChild.remove();
}

function showState() {
  const { status, endReason, role, session: state } = session.getState();
  const reason = endReason === null ? "" : ` (${endReason})`;
  const turn =
    state === null ? "" : `, turn ${state.turnState}, control ${state.control ?? "with the agent"}`;
  find("state").textContent = `${status}${reason}${role === null ? "" : `, role ${role}`}${turn}`;
}

function enable(isShown) {
  for (const control of controls) control.disabled = !isShown;
}

function remove() {
  session?.destroy();
  session = undefined;
  enable(false);
  find("state").textContent = "No session is shown.";
}

find("open").addEventListener("submit", (event) => {
  event.preventDefault();
  remove();
  problem.textContent = "";
  try {
    session = mountSession(find("session"), {
      baseUrl: location.origin,
      shareUrl: find("link").value.trim(),
      view: find("view").value,
    });
  } catch (error) {
    problem.textContent = error.message;
    return;
  }
  enable(true);
  session.subscribe(showState);
  for (const name of ["deliverable", "annotation", "height"])
    session.on(name, (detail) => note(name, detail));
  showState();
});

/** Runs a command, and shows why the frame has refused it. */
async function run(name, command) {
  problem.textContent = "";
  try {
    note(name, await command());
  } catch (error) {
    problem.textContent = error.message;
  }
}

find("message").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = find("text").value;
  find("text").value = "";
  void run("send", () => session.send(text));
});
find("take").addEventListener("click", () => void run("takeOver", () => session.takeOver()));
find("give").addEventListener("click", () => void run("giveBack", () => session.giveBack()));
find("remove").addEventListener("click", remove);
