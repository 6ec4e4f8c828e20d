import type { FaultCase } from "../../fault-case.ts";
import type { Evidence } from "../../world/evidence.ts";
import { LINGERING, signalHost } from "../browsing.ts";
import { expectDelay, expectKill } from "./arm-kill.ts";

const DELAY_MS = 1_500;
/** Saves take at most a tenth of the time, so the next one may come late on a busy machine. */
const SAVED_MAX_MS = 150_000;
/** With one place, the browser of another session ends that of the first one, which stores its site data then. */
const ONE_PLACE = { BROWSER_MAX_LIVE: "1" };

/**
 * `kill -9` of the service, of its browser host or of both while the site data of a browser is stored. Afterwards the
 * session's login is read, changed, and read again in another browser.
 */
const killStoring = (name: string, point: string, title: string): FaultCase => ({
  name,
  group: "kill",
  title,
  async play(world) {
    const { random } = world;
    const victim = random.pick(["service", "host", "both"] as const);
    const arrival = random.pick([1, 2]);
    const effect = victim === "service" ? "kill9" : `delay@${DELAY_MS}`;
    await world.start(`${name}:${arrival}:${effect}`, {
      ...ONE_PLACE,
      ...(random.next() < 0.5 && LINGERING),
    });
    const body = { targetUrl: `${world.recorder.receiverUrl}/page/target` };
    const created = await world.create("login", { body });
    if (!created) throw new Error("the session was not created");
    const { sessionId } = created;
    if (arrival === 2) await world.followUp(sessionId, "login");
    if (victim === "service") await expectKill(world, name, SAVED_MAX_MS);
    else await expectDelay(world, point, SAVED_MAX_MS);
    if (victim !== "service") signalHost(world, "SIGKILL");
    if (victim === "both") await world.kill();
    if (victim !== "host") await world.restart();
    await world.followUp(sessionId, "logged-in");
    await world.followUp(sessionId, "login");
    await world.waitUntilIdle();
    await world.create("visit", { body });
    await world.waitUntilIdle();
    await world.followUp(sessionId, "logged-in");
    await world.waitUntilIdle();
  },
  findViolations: (evidence) => findLostLogins(evidence, name === "K56"),
});

/**
 * Compares what the session has read with its logins. The first reading has an earlier login, or none if the kill came
 * before the commit. The last reading has the last login.
 */
function findLostLogins({ rows }: Evidence, isCommitted: boolean): string[] {
  const calls = rows.toolCalls
    .filter(({ name, state }) => name === "browser_execute" && state === "succeeded")
    .sort((one, other) => Number(one.startedAt) - Number(other.startedAt));
  const logins: string[] = [];
  const readings: { storage: string; cookie: string; before: string[] }[] = [];
  for (const { resultText } of calls) {
    const [, login] = /stored (\w+)/.exec(resultText ?? "") ?? [];
    if (login !== undefined) logins.push(login);
    const [, storage, cookie] = /read (\w+) (\w+)/.exec(resultText ?? "") ?? [];
    if (storage !== undefined && cookie !== undefined)
      readings.push({ storage, cookie, before: [...logins] });
  }
  const [first, last] = readings;
  if (!first || !last || readings.length !== 2) return [`there are ${readings.length} readings of the login`];
  const wrong: string[] = [];
  for (const value of [first.storage, first.cookie])
    if (value !== "none" && !first.before.includes(value))
      wrong.push(`a login was read that never was: ${value}`);
  if (isCommitted && first.cookie === "none") wrong.push("a stored cookie was lost");
  const expected = last.before.at(-1);
  if (last.storage !== expected || last.cookie !== expected)
    wrong.push(`the last login is ${expected}, and ${last.storage} and ${last.cookie} were read`);
  return wrong;
}

/** Kills while the site data of a browser is stored. Source: `faults.md`, Kill points. */
export const siteDataKills: FaultCase[] = [
  killStoring("K55", "site-data-written", "site data written, not committed"),
  killStoring("K56", "site-data-stored", "site data committed, not answered"),
];
