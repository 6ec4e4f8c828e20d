import type { ClientOptions, Inngest, InngestFunction } from "inngest";
import type { JobIntake } from "#lib/session/jobs/job-sender.ts";

type EngineHandler = (request: Request, peer: string | undefined) => Promise<Response>;

/** The durable engine behind the Inngest client: the embedded engine, or a real Inngest server. */
export type Engine = {
  label: string;
  clientOptions: Partial<ClientOptions>;
  start: (client: Inngest, functions: InngestFunction.Any[]) => Promise<void>;
  /** Starts no new steps and waits up to `graceMs` for steps in progress. Not for a real server, which calls this process. */
  drain?: (options: { graceMs: number }) => Promise<void>;
  stop: () => Promise<void>;
  /**
   * Registers the functions again if the engine has forgotten them. Call it regularly. Never rejects.
   *
   * @param isDoubtful whether there is reason to believe that the engine has lost its state.
   */
  keepRegistered: (isDoubtful?: boolean) => Promise<void>;
  /** Whether the engine can be reached, as far as the last check showed. */
  isReachable: () => boolean;
  /** The engine's state for `/api/ready`. */
  readHealth: () => Promise<{ ok: boolean; detail: string }>;
  /**
   * Maximum number of callbacks that are attempted at the same time; undefined for a server, which has limits of its own
   * and may refuse functions with a higher one.
   */
  callbacksAtOnce?: number;
  /** Lets the engine accept jobs in the same database statement that stores them; undefined if the engine cannot do this. */
  intake?: JobIntake;
  /** Whether jobs may be lost that were sent a short time ago, as with a server that has no durable storage. */
  mayLoseJobs: () => boolean;
  /**
   * Creates the handler of `/api/inngest`; undefined if the engine needs no endpoint. Source: `security.md`, Engine
   * endpoint.
   */
  serve: (client: Inngest, functions: InngestFunction.Any[]) => EngineHandler | undefined;
};

/**
 * With two buffered steps, a function run that has one step reports the step and the end of the run in one request. If
 * a crash repeats the step, the step reads in the service's database that its work is done, and does not repeat the
 * work.
 */
export const BUFFERED_STEPS = 2;
