import { type ClientOptions, Inngest } from "inngest";
import type { Job } from "#lib/session/store/jobs.ts";

/** The app's name in the engine. */
const APP_ID = "agent-session-service";

/** Creates the client that all durable functions use. The options determine which engine runs the functions. */
export const createClient = (options: Partial<ClientOptions>): Inngest =>
  new Inngest({ ...options, id: APP_ID });

/** Sends a job to the engine, which drops a second job with the same id. */
export async function sendJob(client: Inngest, job: Job): Promise<void> {
  await client.send({ name: job.name, id: job.id, data: job.data });
}
