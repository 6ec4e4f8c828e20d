import type { FaultCase } from "../../fault-case.ts";
import type { World } from "../../world/open-world.ts";
import { armKill, expectKill } from "./arm-kill.ts";

/** `kill -9` while the agent plans, meets a requirement, deploys or reports. A second task waits in the queue. */
const killWork = (name: string, title: string, arrivals: number[] = [1]): FaultCase => ({
  name,
  group: "kill",
  title,
  async play(world) {
    await world.start(armKill(world, name, world.random.pick(arrivals)));
    const created = await world.create("work");
    if (created) await world.followUp(created.sessionId, "work");
    await expectKill(world, name);
    await world.restart();
    await world.waitUntilIdle();
  },
  findViolations: ({ rows }) => {
    const counts = [
      rows.plans.reduce((sum, { revision }) => sum + revision, 0),
      rows.requirements.filter(({ status }) => status === "met").length,
      rows.landingPageVersions.length,
      rows.reports.length,
    ];
    return counts.every((count) => count === 2)
      ? []
      : [`two tasks produced ${counts.join(", ")}, not 2 each`];
  },
});

/** Creates a session and waits until its first task is done. */
async function createDone(world: World, kind: string): Promise<string> {
  const created = await world.create(kind);
  if (!created) throw new Error("the session was not created");
  await world.waitUntilIdle();
  return created.sessionId;
}

/** Sends a request to the service. @returns undefined if no complete answer arrived. */
async function ask(world: World, method: string, path: string, body?: unknown) {
  try {
    const answer = await world.service().call(method, path, body);
    return { status: answer.status, text: await answer.text() };
  } catch {
    return undefined;
  }
}

/**
 * Rolls a page back to `version`, or unpublishes it if `version` is null, and kills the service just before it answers.
 * After the restart, checks that the operation has taken effect and that the same request can be sent again.
 */
async function killDuringMove(world: World, slug: string, version: number | null): Promise<void> {
  const { problems } = world;
  const operation = version === null ? "unpublish" : "rollback";
  const move = () =>
    ask(world, "POST", `/api/pages/${slug}/${operation}`, version === null ? undefined : { version });
  await world.stop();
  await world.start(armKill(world, "K44"));
  await move();
  await expectKill(world, "K44");
  await world.restart();
  for (const when of ["after the restart", "after the repeat"]) {
    const served = await ask(world, "GET", `/p/${slug}/`);
    if (served?.status !== (version === null ? 410 : 200))
      problems.push(`${operation}, ${when}: ${slug} answers ${served?.status}`);
    const moved = await move();
    if (moved?.status !== 200) problems.push(`${operation}, ${when}: answered ${moved?.status}`);
  }
}

/** `kill -9` when a page was unpublished or rolled back, and the service is about to answer. */
const killMove: FaultCase = {
  name: "K44",
  group: "kill",
  title: "a landing page rolled back or unpublished, not answered",
  async play(world) {
    await world.start();
    const sessionId = await createDone(world, "work");
    const path = `/api/sessions/${sessionId}/pages`;
    const { data } = await world.service().read<{ data: { slug: string }[] }>(path);
    const slug = data[0]?.slug ?? "";
    await killDuringMove(world, slug, null);
    await killDuringMove(world, slug, 1);
  },
  findViolations: ({ rows }) => {
    const moves = rows.events.filter(({ kind }) => kind === "page.updated").length;
    return moves === 2 ? [] : [`two changes of a page were announced ${moves} times`];
  },
};

/**
 * `kill -9` during an import by the agent, and during an import over the API. The client repeats the import over the
 * API.
 */
const killImport: FaultCase = {
  name: "K46",
  group: "kill",
  title: "an import half stored",
  async play(world) {
    const { problems } = world;
    await world.start();
    const source = await createDone(world, "work");
    const file = await ask(world, "GET", `/api/sessions/${source}/export`);
    if (file?.status !== 200) throw new Error("the session was not exported");
    await world.stop();
    await world.start(armKill(world, "K46"));
    const created = await world.create("import");
    await expectKill(world, "K46");
    await world.restart();
    await world.waitUntilIdle();
    const sessionId = created?.sessionId ?? world.acknowledged.at(-1)?.sessionId ?? "";
    const imports = `/api/sessions/${sessionId}/imports`;
    const count = async () => (await world.service().read<{ data: unknown[] }>(imports)).data.length;
    if ((await count()) !== 1) problems.push("the agent's document was not imported once");

    const document = JSON.parse(file.text);
    const post = () => ask(world, "POST", `/api/sessions/${sessionId}/import`, document);
    await world.stop();
    await world.start(armKill(world, "K46"));
    const first = await post();
    await expectKill(world, "K46");
    await world.restart();
    const stored = (await count()) - 1;
    if (first && stored !== 1) problems.push("an import that was acknowledged is lost");
    const statuses = [(await post())?.status, (await post())?.status];
    const expected = stored === 1 ? [200, 200] : [201, 200];
    if (statuses.join() !== expected.join()) problems.push(`the import was answered ${statuses.join()}`);
    await world.waitUntilIdle();
  },
  findViolations: ({ rows }) => [
    ...(rows.imports.length === 2 ? [] : [`there are ${rows.imports.length} imports instead of two`]),
    ...(rows.plans.length === 2 && rows.requirements.length === 2
      ? []
      : ["the plan or the requirement was not imported once"]),
  ],
};

/**
 * `kill -9` during an export. An incomplete export must not look like a complete document, and the session must stay
 * unchanged.
 */
const killExport: FaultCase = {
  name: "K47",
  group: "kill",
  title: "an export half written",
  async play(world) {
    const { problems } = world;
    await world.start();
    const sessionId = await createDone(world, "work");
    const read = async () =>
      readDocument((await ask(world, "GET", `/api/sessions/${sessionId}/export?evidence=true`))?.text);
    const before = await read();
    if (before === undefined) throw new Error("the session was not exported");
    await world.stop();
    await world.start(armKill(world, "K47"));
    const cut = await read();
    await expectKill(world, "K47");
    // The service may be killed after it has sent the last byte, so a complete export is allowed too.
    if (cut !== undefined && cut !== before) problems.push("half an export was taken for a whole one");
    await world.restart();
    if ((await read()) !== before) problems.push("the export after the restart is another one");
  },
};

/**
 * Returns a complete export as text, without the parts that a restart changes: the port, the time of the export, and
 * its id, which contains the number of the last event. Returns undefined for an incomplete export.
 */
function readDocument(text: string | undefined): string | undefined {
  try {
    const { exportedAt: _at, id: _id, ...document } = JSON.parse(text ?? "");
    return JSON.stringify(document).replace(/127\.0\.0\.1:\d+/g, "");
  } catch {
    return undefined;
  }
}

/**
 * Kills while plans, requirements, landing pages, reports, imports and exports are stored or sent. Source: `faults.md`,
 * Kill points.
 */
export const work: FaultCase[] = [
  killWork("K40", "a plan stored, not recorded", [1, 2]),
  killWork("K41", "a requirement stored, not recorded", [1, 2, 3]),
  killWork("K42", "the files of a page stored, its version not", [1, 2]),
  killWork("K43", "a page deployed, not recorded", [1, 2]),
  killMove,
  killWork("K45", "a report stored, not recorded", [1, 2]),
  killImport,
  killExport,
];
