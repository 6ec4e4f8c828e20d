import type { Database } from "#db/client.ts";
import { openDatabase } from "#db/open-database.ts";
import {
  agents,
  browsers,
  deliverables,
  deliveries,
  deliveryAttempts,
  elicitations,
  engineEvents,
  engineRuns,
  engineSteps,
  events,
  evidence,
  importedMessages,
  imports,
  landingPageBlobs,
  landingPageFiles,
  landingPages,
  landingPageVersions,
  messages,
  outbox,
  plans,
  previews,
  publications,
  releases,
  reports,
  requests,
  requirements,
  runs,
  sealedSecrets,
  sessions,
  steps,
  toolCalls,
  variantRevisions,
  variants,
  waits,
} from "#db/schema/index.ts";

export type Rows = Awaited<ReturnType<typeof readAll>>;

/** Reads the rows that a stopped service has stored. */
export async function readRows(place: { dataDir: string; databaseUrl?: string | undefined }): Promise<Rows> {
  const database = await openDatabase(
    place.databaseUrl === undefined
      ? { driver: "embedded", dataDir: place.dataDir }
      : { driver: "pg", url: place.databaseUrl, onError: () => {} },
  );
  try {
    return await readAll(database.db);
  } finally {
    await database.close();
  }
}

async function readAll(db: Database) {
  return {
    sessions: await db.select().from(sessions),
    requests: await db.select().from(requests),
    runs: await db.select().from(runs),
    messages: await db.select().from(messages),
    steps: await db.select().from(steps),
    toolCalls: await db.select().from(toolCalls),
    deliverables: await db.select().from(deliverables),
    events: await db.select().from(events).orderBy(events.sessionId, events.seq),
    deliveries: await db.select().from(deliveries),
    deliveryAttempts: await db.select().from(deliveryAttempts),
    agents: await db.select().from(agents),
    elicitations: await db.select().from(elicitations),
    variants: await db.select().from(variants),
    variantRevisions: await db.select().from(variantRevisions),
    previews: await db.select().from(previews),
    publications: await db.select().from(publications),
    releases: await db.select().from(releases),
    plans: await db.select().from(plans),
    requirements: await db.select().from(requirements),
    evidence: await db.select().from(evidence),
    reports: await db.select().from(reports),
    landingPages: await db.select().from(landingPages),
    landingPageVersions: await db.select().from(landingPageVersions),
    landingPageFiles: await db.select().from(landingPageFiles),
    landingPageBlobs: await db.select({ hash: landingPageBlobs.hash }).from(landingPageBlobs),
    imports: await db.select().from(imports),
    importedMessages: await db.select().from(importedMessages),
    waits: await db.select().from(waits),
    browsers: await db.select().from(browsers),
    outbox: await db.select().from(outbox),
    sealedSecrets: await db.select().from(sealedSecrets),
    engineEvents: await db.select().from(engineEvents),
    engineRuns: await db.select().from(engineRuns),
    engineSteps: await db.select().from(engineSteps),
  };
}

/** Whether the engine has open function runs that play turns or deliver callbacks. Scheduled functions do not count. */
export const isEngineBusy = ({ engineRuns }: Pick<Rows, "engineRuns">): boolean =>
  engineRuns.some(
    ({ endedAt, functionId }) => endedAt === null && /run-turn|deliver-callback/.test(functionId),
  );
