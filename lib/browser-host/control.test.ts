import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { takeControl } from "#lib/browser/overlay/overlay-testing.ts";
import { insertTestSession, startTestSite, waitFor } from "#lib/browser/testing.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import { openTestHosts, type TestHosts, type TestProcess } from "./testing.ts";

// People take control of a page at two processes of the service, which share one host.

/** How many letters the page with a log has. */
let logged = 0;
let site: Awaited<ReturnType<typeof startTestSite>>;
let hosts: TestHosts;
let first: TestProcess;

before(async () => {
  site = await startTestSite((request, response) => {
    if (request.url?.startsWith("/logged/")) logged = Number(request.url.slice("/logged/".length));
    response.writeHead(200, { "content-type": "text/html" });
    response.end(request.url === "/log" ? LOG_PAGE : "<title>Form</title><input id=name aria-label=Name>");
  });
  hosts = await openTestHosts(["127.0.0.1"]);
  first = await hosts.open();
});
after(async () => {
  await hosts?.close();
  await site?.close();
});

const readEvents = async (sessionId: string) =>
  (await hosts.log.read(sessionId, { after: 0, limit: 1_000 })).map(
    ({ body }) => JSON.parse(body) as DomainEvent,
  );
const at = (path: string) => `${site.origin}${path}`;

/** A page that logs what is typed into its field, letter by letter, and tells its server how much it has. */
const LOG_PAGE = `<title>Log</title><input id=name aria-label=Name>
  <script>let log = "";
    document.querySelector("#name").oninput = ({ data }) => { log += data; };
    setInterval(() => fetch("/logged/" + log.length), 50);</script>`;

/** The letters that begin a part of a text that one writer has written in a row. */
const partsOf = (text: string): string[] => [...text].filter((letter, at) => letter !== text[at - 1]);

test("of 1,000 inputs of two people at two processes and those of the agent, one writes at a time", async () => {
  const sessionId = await insertTestSession(hosts.db);
  const second = await hosts.open();
  await first.service.navigate(sessionId, at("/log"));
  await first.use(sessionId, "browser_execute", { script: "await page.focus('#name')" });

  // Both people type all the time, at different processes, and take control from each other and from the agent.
  const people = [
    { service: first.service, connectionId: "con_a", name: "Ada", letter: "a" },
    { service: second.service, connectionId: "con_b", name: "Bob", letter: "b" },
  ];
  const grants: string[] = ["g"];
  const stopNoting = first.control.onHolder(({ holder }) =>
    grants.push(holder ? (holder.connectionId.at(-1) ?? "") : "g"),
  );
  const script = "for (;;) { await page.keyboard.type('g'); await page.waitForTimeout(5); }";
  for (let round = 0; round < 5; round += 1) {
    const running = first.use(
      sessionId,
      "browser_execute",
      { script, timeoutMs: 60_000 },
      { callId: `call_${round}` },
    );
    const before = logged;
    await waitFor(() => logged > before, "the agent types");
    const takes = people.map(async ({ service, connectionId, name, letter }, at) => {
      for (let turn = 0; turn < 4; turn += 1) {
        await service.control(sessionId, { type: "take", connectionId, name });
        const letters = Array.from({ length: 25 }, () =>
          service.drive(sessionId, connectionId, { type: "text", text: letter }),
        );
        await Promise.all(letters);
        if (at === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await Promise.all(takes);
    // What people did in between may come first.
    assert.match(await running, /^The script was interrupted by "(Ada|Bob)"/m);
    for (const { service, connectionId } of people)
      await service.control(sessionId, { type: "give_back", connectionId, note: null });
  }
  const read = await first.use(sessionId, "browser_execute", { script: "return page.evaluate(() => log)" });
  const typed = /Result: (\w+)/.exec(read)?.[1] ?? "";
  const written = partsOf(typed);
  assert.ok(written.includes("a") && written.includes("b") && written.includes("g"));
  // Each part needs a grant of its own: nothing was written by one person while another had control.
  let from = 0;
  for (const letter of written) {
    const found = grants.indexOf(letter, from);
    assert.ok(found >= from, `${written.join("")} does not follow ${grants.join("")}`);
    from = found;
  }
  stopNoting();
  await second.close(false);
});

test("a person's control of any process ends the script, and the agent is told what the person did", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, at("/form"));
  const second = await hosts.open();
  const script =
    "await page.fill('#name', 'begun'); await page.press('#name', 'End'); await page.waitForTimeout(60_000)";
  const running = first.use(sessionId, "browser_execute", { script, timeoutMs: 90_000 });
  await waitFor(
    async () => /begun/.test(await second.use(sessionId, "dom_query", {})),
    "the script to begin",
  );
  const person = await takeControl(second.service, sessionId);
  assert.match(await running, /^The script was interrupted by "Ada", a person who took control/);
  const read = { script: "return page.inputValue('#name')" };
  const outside = { runId: null, signal: AbortSignal.timeout(1_000) };
  assert.match(await first.use(sessionId, "browser_execute", read, outside), /^A person has control/);
  await person.input(sessionId, { type: "text", text: " by Ada" });
  await person.giveBack("The rest is yours");
  const told = await first.use(sessionId, "browser_execute", read);
  const [deeds] = told.split("\n");
  assert.equal(
    deeds,
    `"Ada", a person, had control of the browser and gave it back: filled "Name"; the page was then at "${at("/form")}". Note from this person to you: "The rest is yours"`,
  );
  assert.match(told, /Result: begun by Ada/);
  assert.doesNotMatch(await first.use(sessionId, "browser_execute", read), /had control/, "told once");
  const events = await readEvents(sessionId);
  assert.deepEqual(
    events.filter(({ kind }) => kind.startsWith("control.")).map(({ kind }) => kind),
    ["control.taken", "control.ended"],
  );
  await second.close(false);
});

test("control stays when the process of its connection ends: the person's next connection resumes it at another", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, at("/form"));
  const second = await hosts.open();
  const { secret } = await second.service.control(sessionId, {
    type: "take",
    connectionId: "con_a",
    name: "Ada",
  });
  await second.close(false);
  await waitFor(
    () => first.control.stateOf(sessionId)?.holder?.expiry?.reason === "away",
    "the host knows that the connection has ended",
  );
  const resume = (given: string) =>
    first.service.control(sessionId, { type: "resume", connectionId: "con_b", name: "Ada", secret: given });
  assert.equal((await resume("con_a")).secret, null);
  assert.ok((await resume(secret ?? "")).secret);
  assert.deepEqual(
    [first.control.holderOf(sessionId), first.control.stateOf(sessionId)?.holder?.expiry],
    ["con_b", null],
  );
});

test("control ends with its host", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, at("/form"));
  await takeControl(first.service, sessionId);
  assert.ok((await first.service.readControl(sessionId))?.holder);
  const hostId = first.control.stateOf(sessionId)?.hostId ?? "";
  process.kill(await hosts.findHostProcess(hostId), "SIGKILL");
  await waitFor(() => first.control.holderOf(sessionId) === undefined, "control ends");
  assert.equal(first.control.stateOf(sessionId)?.ended, "host");
  await waitFor(async () => !(await first.service.readControl(sessionId))?.holder, "the host has ended");
});
