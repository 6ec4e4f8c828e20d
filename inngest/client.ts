import { type ClientOptions, Inngest } from "inngest";
import type { Job } from "#lib/session/jobs/jobs.ts";

/** The app's name in the engine. */
const APP_ID = "agent-session-service";

/** The client behind which every durable function lives; the engine is chosen by the options alone. */
export const createClient = (options: Partial<ClientOptions>): Inngest =>
  new Inngest({ ...options, id: APP_ID });

/** Hands a job to the engine; the id makes a second send a duplicate. */
export async function sendJob(client: Inngest, job: Job): Promise<void> {
  await client.send({ name: job.name, id: job.id, data: job.data });
}
